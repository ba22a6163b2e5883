/**
 * What may be asked of the wallet's outputs, and the rows that answer. All lists mean any of.
 * Source: lbry-sdk lbry/wallet/database.py `select_txos`, lbry/wallet/constants.py `TXO_TYPES`.
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

/** Types that may be spent to pay for something. Source: `constraint_spending_utxos`. */
export const SPENDABLE_TXO_TYPES: readonly TxoType[] = [TXO_TYPE.other, TXO_TYPE.purchase];

/** A transaction's output by its place. */
export interface OutPointRef {
  /** 32 bytes, wire order. */
  readonly txid: Uint8Array;
  readonly nout: number;
}

export interface TxoFilter {
  /** Whose outputs and inputs are "mine"; with none of them nothing is. */
  readonly accountIds: readonly string[];
  readonly types?: readonly number[];
  readonly notTypes?: readonly number[];
  /** 32 bytes each, wire order. */
  readonly txids?: readonly Uint8Array[];
  readonly nout?: number;
  readonly outPoints?: readonly OutPointRef[];
  /** Claim ids as printed; of a purchase that of the claim that was bought. */
  readonly claimIds?: readonly string[];
  /** Names as their claims have them. */
  readonly names?: readonly string[];
  readonly channelIds?: readonly string[];
  /** Outputs without a channel pass. */
  readonly notChannelIds?: readonly string[];
  readonly repostedClaimIds?: readonly string[];
  /** False: neither spent nor reserved. */
  readonly isSpent?: boolean;
  readonly hasSource?: boolean;
  /** Whether the transaction's first input is mine. */
  readonly isMyInput?: boolean;
  /** True unless given; null asks nothing. */
  readonly isMyOutput?: boolean | null;
  /** Takes the place of `isMyInput` and `isMyOutput`. */
  readonly isMyInputOrOutput?: boolean;
  /** Leaves out outputs of type other whose first input and address are both mine. */
  readonly excludeInternalTransfers?: boolean;
  readonly minHeight?: number;
  readonly maxHeight?: number;
  readonly addresses?: readonly string[];
}

/** `height`: mempool first, then the highest block, in it the last transaction, and its outputs in their order. */
export type TxoOrder = 'height' | 'name' | 'amount' | 'none';

export interface Page {
  readonly offset?: number;
  readonly limit?: number;
}

export interface TxoPage extends Page {
  /** `height` unless given. */
  readonly order?: TxoOrder;
}

/** How rows are shown. */
export interface TxoView {
  /** Whose `isMyOutput` and `isMyInput` say; the filter's accounts unless given. */
  readonly walletAccountIds?: readonly string[];
  /** Fills `receivedTipsDewies`. */
  readonly withReceivedTips?: boolean;
}

export interface TxoRow {
  /** 32 bytes, wire order. */
  readonly txid: Buffer;
  readonly nout: number;
  /** For the transaction: above 0 in a block, else one of `TX_HEIGHT`. */
  readonly height: number;
  /** The position of the transaction in its block; -1 where it is in none. */
  readonly position: number;
  readonly isVerified: boolean;
  readonly amountDewies: bigint;
  readonly script: Buffer;
  readonly address: string;
  /** An account that has the address, one of the view's accounts if any of them has; null if none has. */
  readonly accountId: string | null;
  readonly isSpent: boolean;
  readonly isReserved: boolean;
  readonly isMyOutput: boolean;
  readonly isMyInput: boolean;
  /** Both mine, and of type other. */
  readonly isInternalTransfer: boolean;
  readonly txoType: number;
  /** Id in the hex form that programs print. */
  readonly claimId: string | null;
  readonly claimName: string | null;
  readonly channelId: string | null;
  readonly repostedClaimId: string | null;
  readonly hasSource: boolean;
  /** The first out point of the transaction's first input, 36 bytes. */
  readonly firstOutPoint: Buffer;
  /** Unspent supports for the claim at my addresses; null unless the view asks. */
  readonly receivedTipsDewies: bigint | null;
}

/** Days as whole days since 1970-01-01, both inclusive. */
export interface PlotRange {
  readonly fromDay: number;
  readonly toDay?: number;
}

export interface PlotDay {
  /** Days since 1970-01-01. */
  readonly day: number;
  readonly totalDewies: bigint;
}
