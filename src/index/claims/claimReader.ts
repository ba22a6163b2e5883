/**
 * Interface of the claim index: claims at the tip, assembled from the rows of the index and of the claim trie, resolved
 * URLs, and the changes of blocks. Ids and hashes are in wire order, amounts in satoshis.
 */
import type { MetadataKind } from '../../metadata/claimFacts.js';
import type { Bytes } from '../../util/bytes.js';

/** Additional data of a claim whose latest output is in the mempool, for formatting. */
export interface WaitingFacts {
  /** Time at which the claim's latest transaction arrived in the mempool. */
  readonly timeSec: number;
  /** Time at which the transaction that created the claim arrived in the mempool; null if that transaction is confirmed. */
  readonly creationTimeSec: number | null;
  readonly value: Bytes;
}

/** A live claim: its latest output is unspent and has not expired. */
export interface ClaimRecord {
  readonly claimId: Bytes;
  /** Name with the spelling of the latest output. */
  readonly name: Bytes;
  readonly normalizedName: Bytes;
  /** Outpoint of the latest output. */
  readonly txid: Bytes;
  readonly nout: number;
  readonly height: number;
  /** Index of the latest output's transaction in its block. */
  readonly position: number;
  readonly amountSat: bigint;
  /** Block height and position of the transaction that created the claim. */
  readonly creationHeight: number;
  readonly creationPosition: number;
  readonly creationNout: number;
  /** Height at which the latest output becomes active or became active in the claim trie. */
  readonly activationHeight: number;
  readonly expirationHeight: number;
  /** Takeover height of the name, equal for all its claims; 0 if the name has no controlling claim. */
  readonly takeoverHeight: number;
  readonly isControlling: boolean;
  /** Effective amount; 0 until the claim is active. */
  readonly effectiveAmountSat: bigint;
  /** Sum of all unspent supports, including those that are not active yet. */
  readonly supportAmountSat: bigint;
  readonly kind: MetadataKind | null;
  /** Channel id in the claim's value. Its signature may be invalid. */
  readonly channelId: Bytes | null;
  /** Whether the channel is unspent and not expired, and its current key verifies the signature. */
  readonly isSignatureValid: boolean;
  /** Id of the reposted claim in the claim's value. That claim may not exist. */
  readonly repostedId: Bytes | null;
  /** Whether the claim reposts a claim that is spent, expired or unknown. */
  readonly isRepostedGone: boolean;
  /** Number of unspent and unexpired reposts of the claim. */
  readonly repostCount: number;
  /** Number of unspent and unexpired claims that this channel has signed validly. */
  readonly claimsInChannel: number;
  /**
   * Present only if the latest output is in the mempool. Of the heights and positions, only the creation height of a
   * confirmed claim is set then.
   */
  readonly waiting?: WaitingFacts;
  /** URL without the scheme `lbry://`. */
  readonly shortUrl: string;
  readonly canonicalUrl: string;
}

/** A claim without its URLs, which also depend on other claims. */
export type PlainClaim = Omit<ClaimRecord, 'shortUrl' | 'canonicalUrl'>;

export interface ClaimWithValue {
  readonly claim: PlainClaim;
  /** See `value`. */
  readonly value: Bytes | null;
  /** Value of the reposted claim; null if the claim is not a repost or the reposted claim does not exist any more. */
  readonly repostedValue: Bytes | null;
}

/** Reason why a URL is not resolved; `text` is the error message of the hub. */
export interface ResolveFailure {
  readonly kind: 'not-found-claim' | 'not-found-channel' | 'invalid' | 'blocked';
  readonly text: string;
}

export interface ResolvedUrl {
  /** The claim that the URL resolves to; null if there is a failure. */
  readonly claim: ClaimRecord | null;
  /** Channel of the claim, if its signature is valid; otherwise null. */
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
   * Ids of live claims that a client must read again: their record changed in the block, or they repost a claim that the
   * block created, updated or ended.
   */
  readonly touched: readonly Bytes[];
  /** Ids of claims that the block ended. */
  readonly deleted: readonly Bytes[];
  readonly trending: readonly TrendingChange[];
}

export interface ClaimIndexReader {
  /** Height of the last block in the index; -1 before the first. */
  readonly height: number;
  /** Whether the index has reached the tip and is updated with every block. Until then only `height` may be read. */
  readonly isSynced: boolean;
  claim(claimId: Bytes): Promise<ClaimRecord | null>;
  /** Finds claims. The result has the order of the ids, with null for a claim that is spent, expired or unknown. */
  claims(claimIds: readonly Bytes[]): Promise<(ClaimRecord | null)[]>;
  /** Value in the claim's latest output, as in the script. Null if the claim is spent or expired. */
  value(claimId: Bytes): Promise<Bytes | null>;
  /** Returns the claims with their values, in the order of the ids; null for a claim that is spent or expired. */
  claimsWithValues(claimIds: readonly Bytes[]): Promise<(ClaimWithValue | null)[]>;
  /** Resolves URLs. The results are in the order of the URLs. */
  resolve(urls: readonly string[]): Promise<ResolvedUrl[]>;
  /**
   * For each URL, the live claim (unspent and not expired) whose short or canonical URL is identical to it; null without
   * such a claim. Other forms of URLs give null.
   */
  claimsByUrl(urls: readonly string[]): Promise<(ClaimRecord | null)[]>;
  /**
   * Changes of a block of the active chain, from the point of view of the tip: `touched` contains only claims that are still
   * unspent and unexpired. Throws `ClaimChangesGoneError` for a block that is too old to be disconnected.
   */
  changes(height: number): Promise<BlockClaimChanges>;
  /**
   * The changes of effective amounts in blocks `from` to `to` (inclusive), by height. They are stored for every block. Blocks
   * without changes are omitted.
   */
  trending(from: number, to: number): Promise<ReadonlyMap<number, readonly TrendingChange[]>>;
  /**
   * Lists all live claims (unspent and not expired) in the order of their ids, starting after the id `after`. The claims of
   * each batch belong to the same tip.
   */
  allClaims(after: Bytes | null): AsyncIterable<readonly ClaimWithValue[]>;
}
