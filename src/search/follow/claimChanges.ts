/**
 * What a transaction does to the claims of an index, gathered in memory: each claim as it is stored, and as it will be.
 * Blocks, blocks disconnected and claims read again differ only in the calls. Pure; a backend that writes many rows at once
 * loads what is stored, and writes the differences.
 */
import type { ClaimDocument } from '../document/document.js';
import type { ClaimStates } from '../document/documentSource.js';
import type { ScoreChange } from './indexChange.js';
import { trendingAfter } from '../document/trending.js';

/** A claim that the index knows. Ids are hex as printed. */
export interface KnownClaim {
  readonly score: number | null;
  /** Null: live, but with nothing to be searched for. */
  readonly document: StoredDocument | ClaimDocument | null;
}

/** Data for removing a stored document. */
export interface StoredDocument {
  readonly id: number;
  readonly labels: readonly number[];
  readonly packed: string;
  readonly lengths: readonly number[];
}

/** A score as it was before a block; `existed` is false if the claim was not known. */
export interface FormerScore {
  readonly claimId: string;
  readonly existed: boolean;
  readonly score: number | null;
}

export class ClaimChanges {
  readonly stored: ReadonlyMap<string, KnownClaim>;
  /** Claims that are no longer as they were stored; null for those that are forgotten. */
  readonly changed = new Map<string, KnownClaim | null>();
  /** What each claim was before the block, once a claim. */
  readonly undo = new Map<string, FormerScore>();
  private readonly keepsUndo: boolean;

  /** `stored` has all claims that the calls name, as far as they are known. */
  constructor(stored: ReadonlyMap<string, KnownClaim>, keepsUndo: boolean) {
    this.stored = stored;
    this.keepsUndo = keepsUndo;
  }

  /** Claims as they are at the present tip; `ended` are those that ended in this block. */
  addStates(states: ClaimStates, ended: ReadonlySet<string>): void {
    for (const claimId of states.gone) {
      const known = this.known(claimId);
      if (ended.has(claimId)) {
        if (known === null) continue;
        this.note(claimId);
        this.changed.set(claimId, null);
        continue;
      }
      // A later block ends it, and its score is needed should that one be disconnected.
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

  /** Scores as they were, from the latest block to the earliest. */
  takeBack(former: readonly FormerScore[]): void {
    for (const { claimId, existed, score } of former) {
      if (!existed) this.changed.set(claimId, null);
      else this.changed.set(claimId, { document: null, ...this.known(claimId), score });
    }
  }

  /** Keeps the score of a claim alone. */
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
