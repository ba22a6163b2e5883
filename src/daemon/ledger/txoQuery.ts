/**
 * Filters for the wallet's outputs, and the resulting rows. A list in a filter matches any of its values. Source: lbry-sdk
 * lbry/wallet/database.py `select_txos`, lbry/wallet/constants.py `TXO_TYPES`.
 */

export const TXO_TYPE = {
  other: 0,
  stream: 1,
  channel: 2,
  support: 3,
  purchase: 4,
  collection: 5,
  repost: 6,
} as const;

export type TxoType = (typeof TXO_TYPE)[keyof typeof TXO_TYPE];

/** Types that are claims. Source: `CLAIM_TYPES`. */
export const CLAIM_TXO_TYPES: readonly TxoType[] = [
  TXO_TYPE.stream,
  TXO_TYPE.channel,
  TXO_TYPE.collection,
  TXO_TYPE.repost,
];

/** Types that may be spent for a payment. Source: `constraint_spending_utxos`. */
export const SPENDABLE_TXO_TYPES: readonly TxoType[] = [TXO_TYPE.other, TXO_TYPE.purchase];

/** Reference to an output by txid and index. */
export interface OutPointRef {
  /** 32 bytes, wire order. */
  readonly txid: Uint8Array;
  readonly nout: number;
}

export interface TxoFilter {
  /** Accounts of the user; an output or input of these accounts counts as "mine". If empty, none counts. */
  readonly accountIds: readonly string[];
  readonly types?: readonly number[];
  readonly notTypes?: readonly number[];
  /** 32 bytes each, wire order. */
  readonly txids?: readonly Uint8Array[];
  readonly nout?: number;
  readonly outPoints?: readonly OutPointRef[];
  /** Claim ids as printed; for a purchase, the id of the bought claim. */
  readonly claimIds?: readonly string[];
  /** Claim names as in the claims, without normalization. */
  readonly names?: readonly string[];
  readonly channelIds?: readonly string[];
  /** Excluded channels. Outputs without a channel are included. */
  readonly notChannelIds?: readonly string[];
  readonly repostedClaimIds?: readonly string[];
  /** True for spent outputs, false for unspent outputs that are not reserved. */
  readonly isSpent?: boolean;
  readonly hasSource?: boolean;
  /** Whether the transaction's first input is mine. */
  readonly isMyInput?: boolean;
  /** Whether the output is mine. The default is true; null means no condition. */
  readonly isMyOutput?: boolean | null;
  /** Whether the input or the output is mine. Replaces `isMyInput` and `isMyOutput`. */
  readonly isMyInputOrOutput?: boolean;
  /** Excludes outputs of type other whose first input and address are both mine. */
  readonly excludeInternalTransfers?: boolean;
  readonly minHeight?: number;
  readonly maxHeight?: number;
  readonly addresses?: readonly string[];
}

/** `height`: mempool first, then descending by block and by position in it; outputs of a transaction in their order. */
export type TxoOrder = 'height' | 'name' | 'amount' | 'none';

export interface Page {
  readonly offset?: number;
  readonly limit?: number;
}

export interface TxoPage extends Page {
  /** Order of the rows; the default is `height`. */
  readonly order?: TxoOrder;
}

/** Options that add data to the rows. */
export interface TxoView {
  /** Accounts that `isMyOutput` and `isMyInput` of rows refer to. The default is the filter's accounts. */
  readonly walletAccountIds?: readonly string[];
  /** Fills `receivedTipsDewies`. */
  readonly withReceivedTips?: boolean;
}

export interface TxoRow {
  /** 32 bytes, wire order. */
  readonly txid: Buffer;
  readonly nout: number;
  /** Height of the transaction; a value of `TX_HEIGHT` if unconfirmed. */
  readonly height: number;
  /** Position of the transaction in its block; -1 if unconfirmed. */
  readonly position: number;
  readonly isVerified: boolean;
  readonly amountDewies: bigint;
  readonly script: Buffer;
  readonly address: string;
  /** Account that owns the address, preferably one of the view's accounts; null if none. */
  readonly accountId: string | null;
  readonly isSpent: boolean;
  readonly isReserved: boolean;
  readonly isMyOutput: boolean;
  readonly isMyInput: boolean;
  /** Whether input and output are both mine and the type is other. */
  readonly isInternalTransfer: boolean;
  readonly txoType: number;
  /** Id in the hex form that programs print. */
  readonly claimId: string | null;
  readonly claimName: string | null;
  readonly channelId: string | null;
  readonly repostedClaimId: string | null;
  readonly hasSource: boolean;
  /** First outpoint of the transaction (that of its first input), 36 bytes. */
  readonly firstOutPoint: Buffer;
  /** Unspent supports for the claim at my addresses; null unless requested by the view. */
  readonly receivedTipsDewies: bigint | null;
}

/** Range of days, as numbers of days since 1970-01-01; both ends are inclusive. */
export interface PlotRange {
  readonly fromDay: number;
  readonly toDay?: number;
}

export interface PlotDay {
  /** Number of days since 1970-01-01. */
  readonly day: number;
  readonly totalDewies: bigint;
}
