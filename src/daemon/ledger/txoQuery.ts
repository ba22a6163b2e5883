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

/** Output types that are claims. Source: `CLAIM_TYPES`. */
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
  /**
   * Accounts of the user; an output or input of these accounts counts as "mine". If the list is empty, no output counts as
   * "mine".
   */
  readonly accountIds: readonly string[];
  readonly types?: readonly number[];
  readonly notTypes?: readonly number[];
  /** Txids: 32 bytes each, wire order. */
  readonly txids?: readonly Uint8Array[];
  readonly nout?: number;
  readonly outPoints?: readonly OutPointRef[];
  /** Claim ids as printed; for a purchase, the id of the bought claim. */
  readonly claimIds?: readonly string[];
  /** Claim names as in the claims, without normalization. */
  readonly names?: readonly string[];
  readonly channelIds?: readonly string[];
  /** Channels whose outputs are excluded. Outputs without a channel are included. */
  readonly notChannelIds?: readonly string[];
  readonly repostedClaimIds?: readonly string[];
  /** True selects spent outputs; false selects unspent outputs that are not reserved. */
  readonly isSpent?: boolean;
  readonly hasSource?: boolean;
  /** Selects by whether the first input of the transaction is mine. */
  readonly isMyInput?: boolean;
  /** Selects by whether the output is mine. The default is true; null means no condition. */
  readonly isMyOutput?: boolean | null;
  /** Selects outputs with an own input or output. Replaces `isMyInput` and `isMyOutput`. */
  readonly isMyInputOrOutput?: boolean;
  /** Excludes outputs of type other whose first input and address are both mine. */
  readonly excludeInternalTransfers?: boolean;
  readonly minHeight?: number;
  readonly maxHeight?: number;
  readonly addresses?: readonly string[];
}

/**
 * Order of a list. `height`: mempool first, then descending by block and by position in the block; outputs of a transaction
 * in their order.
 */
export type TxoOrder = 'height' | 'name' | 'amount' | 'none';

export interface QueryPage {
  readonly offset?: number;
  readonly limit?: number;
}

export interface TxoPage extends QueryPage {
  /** Order of the rows; the default is `height`. */
  readonly order?: TxoOrder;
}

/** Options that add data to the rows. */
export interface TxoView {
  /**
   * Accounts whose outputs and inputs count as mine in the members `isMyOutput` and `isMyInput` of rows. The default is the
   * filter's accounts.
   */
  readonly walletAccountIds?: readonly string[];
  /** Fills `receivedTipsDewies`. */
  readonly withReceivedTips?: boolean;
}

export interface TxoRow {
  /** 32 bytes, wire order. */
  readonly txid: Buffer;
  readonly nout: number;
  /** Height of the block with the transaction; a value of `TX_HEIGHT` if unconfirmed. */
  readonly height: number;
  /** Position of the transaction in its block; -1 if unconfirmed. */
  readonly position: number;
  readonly isVerified: boolean;
  readonly amountDewies: bigint;
  readonly script: Buffer;
  readonly address: string;
  /** Account that owns the address, preferably one of the accounts whose list is shown; null if no account owns it. */
  readonly accountId: string | null;
  readonly isSpent: boolean;
  readonly isReserved: boolean;
  readonly isMyOutput: boolean;
  readonly isMyInput: boolean;
  /** Whether the output is of type other, its address is mine, and an input of the transaction is mine too. */
  readonly isInternalTransfer: boolean;
  readonly txoType: number;
  /** Claim id in the hex form that programs print. */
  readonly claimId: string | null;
  readonly claimName: string | null;
  readonly channelId: string | null;
  readonly repostedClaimId: string | null;
  readonly hasSource: boolean;
  /** Outpoint (36 bytes) that the first input of the transaction spends. */
  readonly firstOutPoint: Buffer;
  /** Sum of the unspent supports of the claim at addresses of the wallet; null unless the view requests it. */
  readonly receivedTipsDewies: bigint | null;
}

/** Range of days, as numbers of days since 1970-01-01; both ends are inclusive. */
export interface PlotRange {
  readonly fromDay: number;
  readonly toDay?: number;
}

export interface PlotDay {
  /** Day as number of days since 1970-01-01. */
  readonly day: number;
  readonly totalDewies: bigint;
}
