/** What the follower reads: the active chain, the claim index, and of claims what documents are made of. */
import { ClaimChangesGoneError } from '../index/claims/claimIndexQueries.js';
import type {
  BlockClaimChanges,
  ClaimIndexReader,
  ClaimRecord,
  TrendingChange,
} from '../index/claims/claimReader.js';
import { hashFromHex, hashToHex } from '../util/bytes.js';
import type { ChainPlaces } from './document.js';
import { compactSource, type ClaimSources, type DocumentSource } from './documentSource.js';
import type { BlockId, ScoreChange } from './indexChange.js';

/** The active chain as the follower needs it. */
export interface FollowedChain {
  /** Hash of a block of the active chain, hex as printed; null above the tip. */
  hashAt(height: number): string | null;
  /** Transactions in all blocks below `height`. */
  transactionsBelow(height: number): number;
  /** Time in the block's header. */
  timeSec(height: number): number;
}

/** Claims read in one go. */
export const READ_CLAIMS = 500;

export class FollowedClaims {
  readonly reader: ClaimIndexReader;
  private readonly chain: FollowedChain;

  constructor(reader: ClaimIndexReader, chain: FollowedChain) {
    this.reader = reader;
    this.chain = chain;
  }

  /** Of the claim index. */
  get height(): number {
    return this.reader.height;
  }

  hashAt(height: number): string | null {
    return this.chain.hashAt(height);
  }

  isActive({ height, hash }: BlockId): boolean {
    return height < 0 || this.chain.hashAt(height) === hash;
  }

  /** What a block did; null when it is not, or no more, that block of the active chain; `gone` when that is forgotten. */
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

  /** Claims as they are at the present tip. */
  async read(ids: readonly string[]): Promise<ClaimSources> {
    const sources: DocumentSource[] = [];
    const gone: string[] = [];
    for (let at = 0; at < ids.length; at += READ_CLAIMS) {
      const part = ids.slice(at, at + READ_CLAIMS);
      const records = await this.reader.claims(part.map((id) => hashFromHex(id)));
      const read = await this.sourcesOf(records.filter((record) => record !== null));
      const found = new Set(read.map(({ record }) => hashToHex(record.claimId)));
      for (const source of read) sources.push(source);
      for (const id of part) if (!found.has(id)) gone.push(id);
    }
    return { sources, gone };
  }

  /** What documents of these claims are made of; of a claim whose value is not to be had, nothing. */
  async sourcesOf(records: readonly ClaimRecord[]): Promise<DocumentSource[]> {
    const reposted = records.flatMap(({ repostedId }) => repostedId ?? []);
    const ids = [...records.map(({ claimId }) => claimId), ...reposted];
    const values = await this.reader.values(ids);
    const sources: DocumentSource[] = [];
    let nextReposted = records.length;
    for (const [i, record] of records.entries()) {
      const value = values[i]!;
      const repostedValue = record.repostedId === null ? null : values[nextReposted++]!;
      if (value === null) continue;
      sources.push(compactSource({ record, places: this.placesOf(record), value, repostedValue }));
    }
    return sources;
  }

  private placesOf(record: ClaimRecord): ChainPlaces {
    return {
      txNum: this.chain.transactionsBelow(record.height) + record.position,
      creationTxNum: this.chain.transactionsBelow(record.creationHeight) + record.creationPosition,
      timeSec: this.chain.timeSec(record.height),
      creationTimeSec: this.chain.timeSec(record.creationHeight),
    };
  }
}

/** A change of an effective amount as indexes take it. */
export function scoreOf({ claimId, formerSat, latterSat }: TrendingChange): ScoreChange {
  return { claimId: hashToHex(claimId), formerSat, latterSat };
}
