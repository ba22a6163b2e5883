/**
 * Types of those fields of the methods' results that pages read. The declarations in `src/rpc/methods` are authoritative.
 */
import type { Lbc } from '../page/format.js';

export interface NamePieces {
  readonly name: string;
  readonly namehex?: string | undefined;
  readonly normalized_name?: string;
}

/** Marks of `unmadeClaims.ts`, which the methods do not return. */
interface UnmadeMarks {
  /** Whether no claim has the id that the support names. */
  readonly isUnmade?: boolean | undefined;
  /** Whether no claim has the id of the channel. */
  readonly isChannelUnmade?: boolean | undefined;
}

export interface BlockHeaderAnswer {
  readonly hash: string;
  readonly confirmations: number;
  readonly height: number;
  readonly version: number;
  readonly versionHex: string;
  readonly merkleroot: string;
  readonly nameclaimroot: string;
  readonly time: number;
  readonly mediantime: number;
  readonly nonce: number;
  readonly bits: string;
  readonly difficulty: number;
  readonly chainwork: string;
  readonly nTx: number;
  readonly previousblockhash?: string;
  readonly nextblockhash?: string;
}

export interface BlockAnswer extends BlockHeaderAnswer {
  readonly size: number;
  readonly strippedsize: number;
  readonly weight: number;
  readonly tx: readonly string[];
}

export interface ClaimEvent extends NamePieces, UnmadeMarks {
  readonly event: string;
  readonly index: number;
  readonly claimId?: string;
  readonly formerClaimId?: string;
  readonly txid?: string;
  readonly n?: number;
  readonly amount?: Lbc;
  /** For a takeover: the effective amount of the new owner. */
  readonly effectiveAmount?: Lbc;
  readonly isSupport?: boolean;
  readonly validAtHeight?: number;
  readonly active?: boolean;
  /** For an abandon: the transaction that spends the output. */
  readonly spentBy?: string;
  readonly metadata?: { readonly value?: { readonly title?: string } };
}

export interface BlockEventsAnswer {
  readonly height: number;
  readonly blockhash: string;
  readonly total: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly events: readonly ClaimEvent[];
  readonly next?: number;
}

export interface OutputClaim extends NamePieces, UnmadeMarks {
  readonly op: string;
  readonly claimId: string;
  readonly kind?: string;
  readonly title?: string;
  readonly channelId?: string;
  readonly state?: string;
  readonly validAtHeight?: number;
  readonly expirationHeight?: number;
  readonly isControlling?: boolean;
  readonly endedHeight?: number;
}

export interface TxInput {
  readonly n: number;
  readonly coinbase?: string;
  readonly txid?: string;
  readonly vout?: number;
  readonly amount?: Lbc;
  readonly height?: number;
  readonly type?: string;
  readonly address?: string;
  readonly script?: string;
  readonly claim?: OutputClaim;
}

export interface TxOutput {
  readonly n: number;
  readonly amount: Lbc;
  readonly type: string;
  readonly address?: string;
  readonly script: string;
  readonly claim?: OutputClaim;
  readonly spent: boolean;
  readonly spentBy?: { readonly txid: string; readonly n: number; readonly height?: number };
}

export interface TxInfoAnswer {
  readonly txid: string;
  readonly hash: string;
  readonly version: number;
  readonly size: number;
  readonly vsize: number;
  readonly weight: number;
  readonly locktime: number;
  readonly state: 'mempool' | 'chain' | 'stale';
  readonly height?: number;
  readonly blockhash?: string;
  readonly position?: number;
  readonly confirmations: number;
  readonly time?: number;
  readonly coinbase: boolean;
  readonly fee?: Lbc;
  readonly feerate?: number;
  readonly amountin?: Lbc;
  readonly amountout: Lbc;
  readonly inputcount: number;
  readonly outputcount: number;
  readonly from: number;
  readonly inputs: readonly TxInput[];
  readonly outputs: readonly TxOutput[];
  readonly spendindex: boolean;
  readonly next?: number;
}

export interface UpcomingEvent extends NamePieces, UnmadeMarks {
  readonly event: string;
  readonly height: number;
  readonly claimId?: string;
  readonly formerClaimId?: string;
  readonly txid?: string;
  readonly n?: number;
  readonly amount?: Lbc;
  readonly effectiveAmount?: Lbc;
  readonly isSupport?: boolean;
}

export interface UpcomingAnswer {
  readonly height: number;
  readonly blockhash: string;
  readonly from: number;
  readonly to: number;
  readonly events: readonly UpcomingEvent[];
  readonly next?: number;
}

export interface Bid extends NamePieces, UnmadeMarks {
  readonly bid: number;
  readonly sequence: number;
  readonly claimId: string;
  readonly txid: string;
  readonly n: number;
  readonly height: number;
  readonly active: boolean;
  readonly validAtHeight: number;
  readonly expirationHeight: number;
  readonly amount: Lbc;
  readonly effectiveAmount: Lbc;
  readonly pendingAmount?: Lbc;
  readonly supports: number;
  readonly supportAmount: Lbc;
  readonly address?: string;
  readonly kind?: string;
  readonly title?: string;
  readonly channelId?: string;
}

export interface ListClaimsAnswer extends NamePieces {
  readonly normalized_name: string;
  readonly height: number;
  readonly blockhash: string;
  readonly claims: number;
  readonly active: number;
  readonly pending: number;
  readonly supportsWithoutClaim: number;
  /** The bid of the controlling claim. */
  readonly holder?: Bid;
  readonly lastTakeoverHeight?: number;
  readonly newBid: {
    readonly mustExceed: Lbc;
    readonly delay: number;
    readonly height: number;
    readonly validAtHeight: number;
  };
  readonly coming?: readonly UpcomingEvent[];
  readonly comingMore?: boolean;
  readonly bids: readonly Bid[];
  readonly next?: string;
}

export interface ClaimStatusAnswer extends NamePieces {
  readonly claimId: string;
  readonly state: 'active' | 'pending' | 'spent' | 'expired';
  readonly normalized_name: string;
  readonly height: number;
  readonly txid: string;
  readonly n: number;
  readonly amount: Lbc;
  readonly outputHeight: number;
  readonly validAtHeight: number;
  readonly expirationHeight: number;
  readonly isControlling?: boolean;
  readonly effectiveAmount?: Lbc;
  readonly endedHeight?: number;
  readonly spentBy?: string;
  readonly address?: string;
  readonly kind?: string;
  readonly title?: string;
  readonly channelId?: string;
  readonly value?: string;
}

export interface SupportsAnswer extends NamePieces {
  readonly total: number;
  readonly active: number;
  readonly amount: Lbc;
  readonly supports: readonly (UnmadeMarks & {
    readonly txid: string;
    readonly n: number;
    readonly amount: Lbc;
    readonly height: number;
    readonly active: boolean;
    readonly validAtHeight: number;
    readonly expirationHeight: number;
    readonly address?: string;
    readonly channelId?: string;
  })[];
  readonly next?: string;
}

/** Answer of `getclaim`; `resolve` and `searchclaims` return lists of it. */
export interface ClaimAnswer {
  readonly claim_id: string;
  readonly name: string;
  readonly namehex?: string;
  readonly normalized_name: string;
  readonly txid: string;
  readonly nout: number;
  readonly height: number;
  readonly timestamp: number;
  readonly amount: Lbc;
  readonly creation_height: number;
  readonly creation_timestamp: number;
  /** Whether the claim's latest output is in the mempool. In this case the heights of activation and expiration are 0. */
  readonly is_waiting?: boolean;
  readonly activation_height: number;
  readonly expiration_height: number;
  readonly takeover_height: number;
  readonly is_controlling: boolean;
  readonly effective_amount: Lbc;
  readonly support_amount: Lbc;
  readonly reposted: number;
  readonly claims_in_channel: number;
  readonly short_url: string;
  readonly canonical_url: string;
  readonly permanent_url: string;
  readonly channel_id?: string;
  /** Mark of `unmadeClaims.ts`: whether no claim has the id of the channel. */
  readonly isChannelUnmade?: boolean | undefined;
  readonly is_channel_signature_valid?: boolean;
  readonly reposted_claim_id?: string;
  readonly is_reposted_claim_gone?: boolean;
  readonly value_type?: string;
  readonly value?: unknown;
  readonly signing_channel?: ClaimAnswer;
  readonly reposted_claim?: ClaimAnswer;
}

/** An entry of `listnewclaims`. */
export interface NewClaim extends NamePieces {
  readonly claimId: string;
  readonly txid: string;
  readonly n: number;
  readonly amount: Lbc;
  /** Absent while the claim waits in the mempool. */
  readonly createdHeight?: number;
  readonly time: number;
  readonly kind?: string;
  readonly title?: string;
  /** Channel that the value names. The signature is not verified. */
  readonly channelId?: string;
}

export interface NamesAnswer {
  readonly names: readonly (NamePieces & {
    readonly claims?: number;
    readonly owner?: { readonly claimId: string; readonly amount: Lbc; readonly effectiveAmount?: Lbc };
  })[];
  readonly next?: string;
}

export interface MempoolSummary {
  readonly size: number;
  readonly bytes: number;
  readonly totalFee: Lbc;
  readonly minFeeRate: number;
  readonly operations: Readonly<Record<string, number>>;
  readonly histogram: readonly {
    readonly feerate: number;
    readonly count: number;
    readonly bytes: number;
    readonly fees: number;
  }[];
  readonly newest: readonly {
    readonly txid: string;
    readonly time: number;
    readonly vsize: number;
    readonly fee: Lbc;
    readonly feerate: number;
  }[];
}

export interface MempoolClaims {
  readonly total: number;
  readonly claims: readonly (NamePieces &
    UnmadeMarks & {
      readonly event: string;
      readonly claimId: string;
      readonly txid: string;
      readonly n: number;
      readonly amount: Lbc;
      readonly isSupport?: boolean;
      readonly transaction: string;
      readonly time: number;
    })[];
  readonly next?: string;
}

export interface ChainInfo {
  readonly chain: string;
  readonly blocks: number;
  readonly headers: number;
  readonly bestblockhash: string;
  readonly difficulty: number;
  readonly mediantime: number;
  readonly verificationprogress: number;
  readonly initialblockdownload: boolean;
  readonly chainwork: string;
  readonly size_on_disk: number;
  readonly pruned: boolean;
  readonly pruneheight?: number;
  readonly warnings: string;
}
