/**
 * Types of the input and output of the claim trie: the operations and the events of one block. Plain data; the rules are in
 * the other files of this folder. Names are raw bytes, ids and txids are in wire order.
 */
import type { Bytes } from '../util/bytes.js';

export type ClaimEntryKind = 'claim' | 'support' | 'update';

/** The rules of one network. Heights are those of the block being connected. */
export interface ClaimRules {
  /** Lifetime of a claim or support in blocks, before (`originalExpiration`) and after the extension fork. */
  readonly originalExpiration: number;
  readonly extendedExpiration: number;
  readonly extendedExpirationForkHeight: number;
  readonly normalizationForkHeight: number;
  /** Range of heights (both ends excluded) in which the takeover workaround applies; -1 and -1 switch it off. */
  readonly takeoverWorkaroundMin: number;
  readonly takeoverWorkaroundMax: number;
  readonly allClaimsForkHeight: number;
  /**
   * Delay of supports: `proportional` as on the deployed network, or always 100 blocks, the default
   * on regtest.
   */
  readonly supportDelay: 'proportional' | 100;
}

/** An input that spends an output with a claim prefix. The output need not have become a claim or support. */
export interface ClaimSpend {
  txid: Bytes;
  n: number;
  /** Height of the block that created the spent output. For an output of the same block this is the block's own height. */
  coinHeight: number;
  kind: ClaimEntryKind;
  hasMetadata: boolean;
  name: Bytes;
  /** Claim id of 20 bytes. For kind `claim` it is computed from the outpoint. */
  claimId: Bytes;
  amount: bigint;
}

/** An output whose script begins with a claim operation. */
export interface ClaimOutput {
  n: number;
  kind: ClaimEntryKind;
  hasMetadata: boolean;
  name: Bytes;
  /** Id of the updated or supported claim. Absent for kind `claim`, whose id is computed from the outpoint. */
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

/**
 * The claim operations of a block, by transaction in block order. Transactions without claim operations, and the coinbase,
 * are left out.
 */
export interface ClaimBlock {
  height: number;
  transactions: ClaimTx[];
}

/**
 * An event of one claim, support or name in a block. `claim`, `update`, `support`: an output was created (it may still be
 * pending). `activation`: a pending output of an earlier block was activated. `abandon`: a claim or support was spent, and
 * not for an update of the claim. `expiration`: a claim or support expired. `takeover`: the name has a new owner
 * (controlling claim), or no owner (then without claim id).
 */
export interface ClaimEvent {
  type: 'claim' | 'update' | 'support' | 'activation' | 'abandon' | 'expiration' | 'takeover';
  /** Name under which the item (claim or support) is stored (normalized if the rules require it). */
  name: Bytes;
  /** The name as in the output script; absent for a `takeover`. */
  rawName?: Bytes;
  /** For a `takeover` these four fields describe the new owner's claim. */
  claimId?: Bytes;
  txid?: Bytes;
  n?: number;
  amount?: bigint;
  /** The height at which a pending item (claim or support) is due. */
  validAtHeight?: number;
  isSupport?: boolean;
  /**
   * For `claim`, `update` and `support`: whether the output was activated in the block that created it. If it was, there is
   * no `activation` event.
   */
  isActive?: boolean;
  /** For `abandon`: the spending transaction. */
  spentBy?: Bytes;
  /** For `takeover`: the previous owner (controlling claim) of the name, if any. */
  formerClaimId?: Bytes;
}
