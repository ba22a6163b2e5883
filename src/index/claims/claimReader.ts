/**
 * What others ask of the claim index: a claim as of the tip, assembled from the index's rows and the claim trie's,
 * the answer to URLs, and what a block changed. Ids and hashes are in wire order, amounts satoshis.
 */
import type { ClaimKind } from '../../metadata/claimFacts.js';
import type { Bytes } from '../../util/bytes.js';

/** Data of mempool claims only. */
export interface WaitingFacts {
  /** Time of arrival of its transaction. */
  readonly timeSec: number;
  /** Time of arrival of the transaction that makes the claim; null for a confirmed claim. */
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
  /** Height at which the latest output entered the trie, or will. */
  readonly activationHeight: number;
  readonly expirationHeight: number;
  /** The takeover height of the name, the same for all its claims; 0 when nothing controls it. */
  readonly takeoverHeight: number;
  readonly isControlling: boolean;
  /** 0 until it is active. */
  readonly effectiveAmountSat: bigint;
  /** All unspent supports, active or not. */
  readonly supportAmountSat: bigint;
  readonly kind: ClaimKind | null;
  /** Channel id from the value; its signature may be invalid. */
  readonly channelId: Bytes | null;
  /** Whether the channel lives, and the signature is right for the key that it has. */
  readonly isSignatureValid: boolean;
  /** Reposted claim id from the value; the claim may not exist. */
  readonly repostedId: Bytes | null;
  /** Whether it is a repost of a claim that does not live. */
  readonly isRepostedGone: boolean;
  /** Live reposts of it. */
  readonly repostCount: number;
  /** Live claims with a valid signature of it. */
  readonly claimsInChannel: number;
  /** The record of a mempool claim. Its only height is the creation height, and it does not have a position. */
  readonly waiting?: WaitingFacts;
  /** URL without `lbry://`. */
  readonly shortUrl: string;
  readonly canonicalUrl: string;
}

/** A claim without the URLs that lead to it, which follow from other claims too. */
export type PlainClaim = Omit<ClaimRecord, 'shortUrl' | 'canonicalUrl'>;

export interface ClaimWithValue {
  readonly claim: PlainClaim;
  /** See `value`. */
  readonly value: Bytes | null;
  /** The value of the claim that a repost names; null for others, and where that claim is gone. */
  readonly repostedValue: Bytes | null;
}

/** Reason why a URL is not resolved; `text` is the hub's answer. */
export interface ResolveFailure {
  readonly kind: 'not-found-claim' | 'not-found-channel' | 'invalid' | 'blocked';
  readonly text: string;
}

export interface ResolvedUrl {
  /** Null together with a failure. */
  readonly claim: ClaimRecord | null;
  /** Only when it signed the claim validly. */
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
  /** Live claims whose record a block changed, and those that repost one that it made, updated or ended, by claim id. */
  readonly touched: readonly Bytes[];
  /** Claims that it ended. */
  readonly deleted: readonly Bytes[];
  readonly trending: readonly TrendingChange[];
}

export interface ClaimIndexReader {
  /** Height of the last block in the index; -1 before the first. */
  readonly height: number;
  /** Whether it is at the tip, where it stays. Before that only `height` may be asked. */
  readonly isSynced: boolean;
  claim(claimId: Bytes): Promise<ClaimRecord | null>;
  /** In the order asked. */
  claims(claimIds: readonly Bytes[]): Promise<(ClaimRecord | null)[]>;
  /** Value of the latest output, as it is in the script; null also when its block was pruned. */
  value(claimId: Bytes): Promise<Bytes | null>;
  /** Live claims with their values, in the order asked. */
  claimsWithValues(claimIds: readonly Bytes[]): Promise<(ClaimWithValue | null)[]>;
  /** One answer for each URL, in order. */
  resolve(urls: readonly string[]): Promise<ResolvedUrl[]>;
  /** For each URL the live claim whose short or canonical one it is, null for none; what else is in it is not looked at. */
  claimsByUrl(urls: readonly string[]): Promise<(ClaimRecord | null)[]>;
  /**
   * What a block of the active chain did, as seen at the tip: `touched` are live claims. Kept for as many blocks as the index
   * can be disconnected; of older ones it throws `ClaimChangesGoneError`.
   */
  changes(height: number): Promise<BlockClaimChanges>;
  /** The changes of effective amounts alone, which are kept for every block. */
  trending(height: number): Promise<readonly TrendingChange[]>;
  /** All live claims by id, from behind `after` on, as many together as were read at one tip. */
  allClaims(after: Bytes | null): AsyncIterable<readonly ClaimWithValue[]>;
}
