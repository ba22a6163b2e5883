/**
 * Collects the changes of one index transaction in memory: the stored state and the new state of each claim. It is used for
 * new blocks, disconnected blocks and refreshed claims. Pure: the backend loads the stored claims, and writes the
 * differences.
 */
import type { ClaimDocument } from '../document/document.js';
import type { ClaimStates } from '../document/documentSource.js';
import type { ScoreChange } from './indexChange.js';
import { trendingAfter } from '../document/trending.js';

/** A claim in the index. Ids are hex in printed order. */
export interface KnownClaim {
  readonly score: number | null;
  /** Null for a live claim without searchable data. */
  readonly document: StoredDocument | ClaimDocument | null;
}

/** Data needed to remove a stored document. */
export interface StoredDocument {
  readonly id: number;
  readonly labels: readonly number[];
  readonly packed: string;
  readonly lengths: readonly number[];
}

/** A score before a block; `existed` is false if the claim was not in the index. */
export interface FormerScore {
  readonly claimId: string;
  readonly existed: boolean;
  readonly score: number | null;
}

export class ClaimChanges {
  readonly stored: ReadonlyMap<string, KnownClaim>;
  /** Changed claims; null for removed ones. */
  readonly changed = new Map<string, KnownClaim | null>();
  /** The state of each claim before the block. */
  readonly undo = new Map<string, FormerScore>();
  private readonly keepsUndo: boolean;

  /** `stored` has all claims of the index that the calls refer to. */
  constructor(stored: ReadonlyMap<string, KnownClaim>, keepsUndo: boolean) {
    this.stored = stored;
    this.keepsUndo = keepsUndo;
  }

  /** Sets claims to their state at the present tip; `ended` are those that ended in this block. */
  addStates(states: ClaimStates, ended: ReadonlySet<string>): void {
    for (const claimId of states.gone) {
      const known = this.known(claimId);
      if (ended.has(claimId)) {
        if (known === null) continue;
        this.note(claimId);
        this.changed.set(claimId, null);
        continue;
      }
      // A later block ends it. Its score is needed if that block is disconnected.
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

  /** Restores former scores; pass them from the latest block to the earliest. */
  takeBack(former: readonly FormerScore[]): void {
    for (const { claimId, existed, score } of former) {
      if (!existed) this.changed.set(claimId, null);
      else this.changed.set(claimId, { document: null, ...this.known(claimId), score });
    }
  }

  /** Removes the document of a claim, but keeps its score. */
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
