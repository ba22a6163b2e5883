/** Input of the follower: the active chain, the claim index, and the source data of documents. */
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

/** The interface of the active chain for the follower. */
export interface FollowedChain {
  /** Hash of a block of the active chain, hex in printed order; null above the tip. */
  hashAt(height: number): string | null;
  /** Number of transactions in all blocks below `height`. */
  transactionsBelow(height: number): number;
  /** Time in the block's header. */
  timeSec(height: number): number;
  /** Number of blocks disconnected so far. */
  readonly disconnects: number;
  /** Loads data for the heights of claims, if it is not in memory. */
  prepare?(claims: readonly PlainClaim[]): Promise<void>;
}

/** Claims read in one call. */
const READ_CLAIMS = 500;

export class FollowedClaims {
  readonly reader: ClaimIndexReader;
  private readonly chain: FollowedChain;

  constructor(reader: ClaimIndexReader, chain: FollowedChain) {
    this.reader = reader;
    this.chain = chain;
  }

  /** The height of the claim index. */
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
   * The changes of a block; null if that block is not in the active chain any more; `gone` if its changes are not stored any
   * more.
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
   * Claims at the present tip. `note` notes the blocks up to it. If a block was disconnected meanwhile, possibly before it
   * was noted, everything is read again.
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

  /** Must be awaited before `sourceOf` is called for these claims. */
  async prepare(claims: readonly (ClaimWithValue | null)[]): Promise<void> {
    await this.chain.prepare?.(claims.flatMap((found) => found?.claim ?? []));
  }

  /** The source data of the claim's document; null if its value is not available. */
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
 * Claims that a block touched or ended. Claims that a later block has ended are not listed as touched. They are included by
 * their score changes, which are needed if that block is disconnected.
 */
export function claimIdsIn({ touched, deleted, trending }: BlockClaimChanges): string[] {
  const scored = trending.map(({ claimId }) => claimId);
  return [...new Set([...touched, ...deleted, ...scored].map(hashToHex))];
}

/** A score change in the form for indexes. */
export function scoreOf({ claimId, formerSat, latterSat }: TrendingChange): ScoreChange {
  return { claimId: hashToHex(claimId), formerSat, latterSat };
}
