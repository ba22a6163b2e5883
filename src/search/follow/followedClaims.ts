/** Data that the search index is built from: the active chain, the claim index, and the sources of documents. */
import { ClaimChangesGoneError } from '../../index/claims/claimIndexQueries.js';
import type {
  BlockClaimChanges,
  ClaimIndexReader,
  ClaimWithValue,
  PlainClaim,
  TrendingChange,
} from '../../index/claims/claimReader.js';
import { hashFromHex, hashToHex } from '../../util/bytes.js';
import type { ChainPlaces } from '../document/document.js';
import type { ClaimSources, DocumentSource } from '../document/documentSource.js';
import type { BlockId, ScoreChange } from './indexChange.js';

/** Active chain as the follower needs it. */
export interface FollowedChain {
  /** Returns the hash of a block of the active chain, hex in display order; null above the tip. */
  hashAt(height: number): string | null;
  /** Returns the number of transactions in all blocks below `height`. */
  transactionsBelow(height: number): number;
  /** Returns the time in the header of the block at `height`. */
  timeSec(height: number): number;
  /** Number of blocks disconnected since the start of the node. */
  readonly disconnects: number;
  /** Loads the block data that the claims need, if it is not in memory. */
  prepare?(claims: readonly PlainClaim[]): Promise<void>;
}

/** Number of claims read in one call. */
const READ_CLAIMS = 500;

export class FollowedClaims {
  readonly reader: ClaimIndexReader;
  private readonly chain: FollowedChain;

  constructor(reader: ClaimIndexReader, chain: FollowedChain) {
    this.reader = reader;
    this.chain = chain;
  }

  /** Height that the claim index has reached. */
  get height(): number {
    return this.reader.height;
  }

  get disconnects(): number {
    return this.chain.disconnects;
  }

  hashAt(height: number): string | null {
    return this.chain.hashAt(height);
  }

  isActive({ height, hash }: BlockId): boolean {
    return height < 0 || this.chain.hashAt(height) === hash;
  }

  /**
   * Returns the changes of claims in a block. Null if the block is not on the active chain any more; `gone` if its changes
   * are not stored any more.
   */
  async changesAt(height: number, hash: string | null): Promise<BlockClaimChanges | 'gone' | null> {
    if (hash === null || height > this.height) return null;
    try {
      const changes = await this.reader.changes(height);
      return this.chain.hashAt(height) === hash ? changes : null;
    } catch (error) {
      if (this.chain.hashAt(height) !== hash || height > this.height) return null;
      if (error instanceof ClaimChangesGoneError) return 'gone';
      throw error;
    }
  }

  /**
   * Reads claims as of the current tip. `note` must record all blocks up to the tip with their claims. If a block was
   * disconnected during the read, possibly before it was recorded, all claims are read again.
   */
  async read(ids: readonly string[], note: () => Promise<void>): Promise<ClaimSources> {
    const sources: DocumentSource[] = [];
    const gone: string[] = [];
    for (let at = 0; at < ids.length; at += READ_CLAIMS) {
      const part = ids.slice(at, at + READ_CLAIMS);
      const claims = await this.readNoted(part, note);
      part.forEach((id, n) => {
        const source = claims[n] && this.sourceOf(claims[n], id);
        if (source) sources.push(source);
        else gone.push(id);
      });
    }
    return { sources, gone };
  }

  private async readNoted(
    ids: readonly string[],
    note: () => Promise<void>,
  ): Promise<readonly (ClaimWithValue | null)[]> {
    for (;;) {
      const { disconnects } = this.chain;
      const claims = await this.reader.claimsWithValues(ids.map((id) => hashFromHex(id)));
      await this.prepare(claims);
      await note();
      if (this.chain.disconnects === disconnects) return claims;
    }
  }

  /** Loads the block data that `sourceOf` needs for these claims. Must be awaited before `sourceOf` is called. */
  async prepare(claims: readonly (ClaimWithValue | null)[]): Promise<void> {
    await this.chain.prepare?.(claims.flatMap((found) => found?.claim ?? []));
  }

  /** Returns the source data of a claim's document; null if the claim's value is not available. */
  sourceOf({ claim, value, repostedValue }: ClaimWithValue, claimId: string): DocumentSource | null {
    return value && { claimId, claim, places: this.placesOf(claim), value, repostedValue };
  }

  private placesOf(record: PlainClaim): ChainPlaces {
    return {
      txNum: this.chain.transactionsBelow(record.height) + record.position,
      creationTxNum: this.chain.transactionsBelow(record.creationHeight) + record.creationPosition,
      timeSec: this.chain.timeSec(record.height),
      creationTimeSec: this.chain.timeSec(record.creationHeight),
    };
  }
}

/**
 * Returns the claims that a block changed or ended. A claim that a later block has ended is not in `touched`. It is included
 * because of its score changes, since it must be read again if the later block is disconnected.
 */
export function claimIdsIn({ touched, deleted, trending }: BlockClaimChanges): string[] {
  const scored = trending.map(({ claimId }) => claimId);
  return [...new Set([...touched, ...deleted, ...scored].map(hashToHex))];
}

/** Converts a score change of the claim index to the form that the search index uses. */
export function scoreOf({ claimId, formerSat, latterSat }: TrendingChange): ScoreChange {
  return { claimId: hashToHex(claimId), formerSat, latterSat };
}
