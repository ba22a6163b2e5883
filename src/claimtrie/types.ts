/**
 * What the claim trie is given and what it reports: the operations of one block in, the events of one block out.
 * Plain data; the rules are in the neighbouring files. Names are raw bytes, ids and txids are in wire order.
 */
import type { Bytes } from '../util/bytes.js';

export type ClaimKind = 'claim' | 'support' | 'update';

/** The rules of one network. Heights are those of the block being connected. */
export interface ClaimRules {
  /** Blocks after which a claim or support expires, before and from the extension on. */
  readonly originalExpiration: number;
  readonly extendedExpiration: number;
  readonly extendedExpirationForkHeight: number;
  readonly normalizationForkHeight: number;
  /** Exclusive bounds of the takeover workaround; -1 and -1 switch it off. */
  readonly takeoverWorkaroundMin: number;
  readonly takeoverWorkaroundMax: number;
  readonly allClaimsForkHeight: number;
  /** `proportional` is the deployed network's rule; 100 the interface document's on regtest. */
  readonly supportDelay: 'proportional' | 100;
}

/** An input that spends an output with a claim prefix, whether that output ever counted or not. */
export interface ClaimSpend {
  txid: Bytes;
  n: number;
  /** Height of the spent output; the block's own for an output of the same block. */
  coinHeight: number;
  kind: ClaimKind;
  hasMetadata: boolean;
  name: Bytes;
  /** 20 bytes; computed from the outpoint for kind `claim`. */
  claimId: Bytes;
  amount: bigint;
}

/** An output with a claim prefix. */
export interface ClaimOutput {
  n: number;
  kind: ClaimKind;
  hasMetadata: boolean;
  name: Bytes;
  /** Absent for kind `claim`: it follows from the outpoint. */
  claimId?: Bytes;
  amount: bigint;
}

export interface ClaimTx {
  txid: Bytes;
  /** Byte offset of the transaction in the raw block. */
  txOffset: number;
  spends: ClaimSpend[];
  outputs: ClaimOutput[];
}

/** The claim operations of a block: transactions with any, in block order, the coinbase left out. */
export interface ClaimBlock {
  height: number;
  transactions: ClaimTx[];
}

/**
 * What happened to one claim, support or name in a block.
 * `claim`, `update`, `support`: an output was made (it may be pending still); `activation`: a pending one of an
 * earlier block entered; `abandon`: a claim or support was spent, and not for an update of the claim; `expiration`;
 * `takeover`: the name has another owner, or none any more (no claim id then).
 */
export interface ClaimEvent {
  type: 'claim' | 'update' | 'support' | 'activation' | 'abandon' | 'expiration' | 'takeover';
  /** Name under which it is filed (normalized if the rules say so). */
  name: Bytes;
  /** The name as its script has it; not of a `takeover`. */
  rawName?: Bytes;
  /** In a `takeover` these four fields are the new owner's. */
  claimId?: Bytes;
  txid?: Bytes;
  n?: number;
  amount?: bigint;
  /** The height at which a pending item is due. */
  validAtHeight?: number;
  isSupport?: boolean;
  /** Of `claim`, `update` and `support`: whether it entered in its own block, without an `activation`. */
  isActive?: boolean;
  /** For `abandon`: the transaction that spent it. */
  spentBy?: Bytes;
  /** For `takeover`: who owned the name before, if anyone did. */
  formerClaimId?: Bytes;
}
