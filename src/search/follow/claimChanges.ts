/**
 * Collects the changes of one transaction of the search index in memory: the stored and the new state of each claim. Used
 * for new blocks, disconnected blocks and refreshed claims. The backend loads the stored claims and writes the differences.
 */
import type { ClaimDocument } from '../document/document.js';
import type { ClaimStates } from '../document/documentSource.js';
import type { ScoreChange } from './indexChange.js';
import { trendingAfter } from '../document/trending.js';

/** State of a claim in the search index. Ids are hex in display order. */
export interface KnownClaim {
  readonly score: number | null;
  /** Document of the claim; null for an existing claim that is not searchable. */
  readonly document: StoredDocument | ClaimDocument | null;
}

/** Data that is needed to remove a stored document. */
export interface StoredDocument {
  readonly id: number;
  readonly labels: readonly number[];
  readonly packed: string;
  readonly lengths: readonly number[];
}

/** Score of a claim before a block. `existed` is false if the claim was not in the index. */
export interface FormerScore {
  readonly claimId: string;
  readonly existed: boolean;
  readonly score: number | null;
}

export class ClaimChanges {
  readonly stored: ReadonlyMap<string, KnownClaim>;
  /** New states of changed claims by claim id; null for removed claims. */
  readonly changed = new Map<string, KnownClaim | null>();
  /** Score of each changed claim before the block. Restored if the block is disconnected. */
  readonly undo = new Map<string, FormerScore>();
  private readonly keepsUndo: boolean;

  /** Creates the collector. `stored` must contain all claims of the index to which later calls refer. */
  constructor(stored: ReadonlyMap<string, KnownClaim>, keepsUndo: boolean) {
    this.stored = stored;
    this.keepsUndo = keepsUndo;
  }

  /** Sets claims to their state at the current tip. `ended` are the claims that this block ended. */
  addStates(states: ClaimStates, ended: ReadonlySet<string>): void {
    for (const claimId of states.gone) {
      const known = this.known(claimId);
      if (ended.has(claimId)) {
        if (known === null) continue;
        this.note(claimId);
        this.changed.set(claimId, null);
        continue;
      }
      // A later block ended the claim. The score is kept, because that later block may be disconnected.
      if (known === null) this.note(claimId);
      if (known !== null || this.keepsUndo) this.hide(claimId);
    }
    for (const claimId of states.hidden) {
      if (this.known(claimId) === null) this.note(claimId);
      this.hide(claimId);
    }
    for (const document of states.documents) {
      const known = this.known(document.claimId);
      if (known === null) this.note(document.claimId);
      this.changed.set(document.claimId, { score: known?.score ?? null, document });
    }
  }

  addScores(height: number, scores: readonly ScoreChange[]): void {
    for (const { claimId, formerSat, latterSat } of scores) {
      const known = this.known(claimId);
      if (known === null) continue;
      this.note(claimId);
      const score = trendingAfter(known.score, height, formerSat, latterSat);
      this.changed.set(claimId, { ...known, score });
    }
  }

  /** Restores the scores before blocks. The caller must pass the latest block first. */
  takeBack(former: readonly FormerScore[]): void {
    for (const { claimId, existed, score } of former) {
      if (!existed) this.changed.set(claimId, null);
      else this.changed.set(claimId, { document: null, ...this.known(claimId), score });
    }
  }

  /** Removes the document of a claim but keeps its score. */
  hide(claimId: string): void {
    this.changed.set(claimId, { score: this.known(claimId)?.score ?? null, document: null });
  }

  private known(claimId: string): KnownClaim | null {
    const changed = this.changed.get(claimId);
    return changed === undefined ? (this.stored.get(claimId) ?? null) : changed;
  }

  private note(claimId: string): void {
    if (!this.keepsUndo || this.undo.has(claimId)) return;
    const known = this.known(claimId);
    this.undo.set(claimId, { claimId, existed: known !== null, score: known?.score ?? null });
  }
}
