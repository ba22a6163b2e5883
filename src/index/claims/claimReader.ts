/**
 * Interface of the claim index: claims at the tip, assembled from the rows of the index and of the claim trie, resolved
 * URLs, and the changes of blocks. Ids and hashes are in wire order, amounts in satoshis.
 */
import type { ClaimKind } from '../../metadata/claimFacts.js';
import type { Bytes } from '../../util/bytes.js';

/** Data of mempool claims only. */
export interface WaitingFacts {
  /** Arrival time of its transaction. */
  readonly timeSec: number;
  /** Arrival time of the transaction that created the claim; null for a confirmed claim. */
  readonly creationTimeSec: number | null;
  readonly value: Bytes;
}

/** A live claim: its latest output is unspent and has not expired. */
export interface ClaimRecord {
  readonly claimId: Bytes;
  /** Name as spelled in its output. */
  readonly name: Bytes;
  readonly normalizedName: Bytes;
  /** The latest output. */
  readonly txid: Bytes;
  readonly nout: number;
  readonly height: number;
  /** The position of its transaction in its block. */
  readonly position: number;
  readonly amountSat: bigint;
  /** The first output. */
  readonly creationHeight: number;
  readonly creationPosition: number;
  readonly creationNout: number;
  /** Height at which the latest output enters or entered the trie. */
  readonly activationHeight: number;
  readonly expirationHeight: number;
  /** The takeover height of the name, the same for all its claims; 0 without a controlling claim. */
  readonly takeoverHeight: number;
  readonly isControlling: boolean;
  /** 0 until it is active. */
  readonly effectiveAmountSat: bigint;
  /** Sum of all unspent supports, active or not. */
  readonly supportAmountSat: bigint;
  readonly kind: ClaimKind | null;
  /** Channel id from the value; its signature may be invalid. */
  readonly channelId: Bytes | null;
  /** Whether the channel is alive and its present key verifies the signature. */
  readonly isSignatureValid: boolean;
  /** Reposted claim id from the value; the claim may not exist. */
  readonly repostedId: Bytes | null;
  /** Whether it reposts a claim that is not alive. */
  readonly isRepostedGone: boolean;
  /** Number of live reposts of the claim. */
  readonly repostCount: number;
  /** Number of live claims with a valid signature of this channel. */
  readonly claimsInChannel: number;
  /** The record of a mempool claim. Its only height is the creation height, and it does not have a position. */
  readonly waiting?: WaitingFacts;
  /** URL without `lbry://`. */
  readonly shortUrl: string;
  readonly canonicalUrl: string;
}

/** A claim without its URLs, which also depend on other claims. */
export type PlainClaim = Omit<ClaimRecord, 'shortUrl' | 'canonicalUrl'>;

export interface ClaimWithValue {
  readonly claim: PlainClaim;
  /** See `value`. */
  readonly value: Bytes | null;
  /** The value of the reposted claim; null without a repost, or if the reposted claim is not alive. */
  readonly repostedValue: Bytes | null;
}

/** Reason why a URL is not resolved; `text` is the error message of the hub. */
export interface ResolveFailure {
  readonly kind: 'not-found-claim' | 'not-found-channel' | 'invalid' | 'blocked';
  readonly text: string;
}

export interface ResolvedUrl {
  /** Null together with a failure. */
  readonly claim: ClaimRecord | null;
  /** The channel, if it signed the claim validly. */
  readonly channel: ClaimRecord | null;
  readonly reposted: ClaimRecord | null;
  readonly repostedChannel: ClaimRecord | null;
  readonly failure: ResolveFailure | null;
}

/** The effective amount of a claim before and after a block. */
export interface TrendingChange {
  readonly claimId: Bytes;
  readonly formerSat: bigint;
  readonly latterSat: bigint;
}

export interface BlockClaimChanges {
  /**
   * Live claims whose record changed in the block, and live reposts of claims that the block created, updated or ended.
   * Claim ids.
   */
  readonly touched: readonly Bytes[];
  /** Ids of claims that the block ended. */
  readonly deleted: readonly Bytes[];
  readonly trending: readonly TrendingChange[];
}

export interface ClaimIndexReader {
  /** Height of the last block in the index; -1 before the first. */
  readonly height: number;
  /** Whether the index has reached the tip, and so follows it. Before that only `height` may be read. */
  readonly isSynced: boolean;
  claim(claimId: Bytes): Promise<ClaimRecord | null>;
  /** Records in the order of the ids. */
  claims(claimIds: readonly Bytes[]): Promise<(ClaimRecord | null)[]>;
  /** Value of the latest output, as in the script; null also when its block was pruned. */
  value(claimId: Bytes): Promise<Bytes | null>;
  /** Live claims with their values, in the order asked. */
  claimsWithValues(claimIds: readonly Bytes[]): Promise<(ClaimWithValue | null)[]>;
  /** One result for each URL, in order. */
  resolve(urls: readonly string[]): Promise<ResolvedUrl[]>;
  /** For each URL the live claim whose short or canonical URL it is; null without one. Other URL forms are not resolved. */
  claimsByUrl(urls: readonly string[]): Promise<(ClaimRecord | null)[]>;
  /**
   * The changes of a block of the active chain, as seen at the tip: `touched` are live claims. Throws
   * `ClaimChangesGoneError` for blocks too old to be disconnected.
   */
  changes(height: number): Promise<BlockClaimChanges>;
  /** The changes of effective amounts alone, which are kept for every block. */
  trending(height: number): Promise<readonly TrendingChange[]>;
  /** All live claims by id, after the id `after`. Each batch was read at one tip. */
  allClaims(after: Bytes | null): AsyncIterable<readonly ClaimWithValue[]>;
}
