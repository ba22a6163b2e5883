/** Options of the node that concern wallets. */
import type { OutputType } from '../signing/outputType.js';

/** Options of all wallets. Fee rates are in satoshis per 1,000 virtual bytes. */
export interface WalletOptions {
  /**
   * Address types (`-addresstype`, `-changetype`). `changeType`: null for the type of a payment, or else of new addresses.
   */
  readonly addressType: OutputType;
  readonly changeType: OutputType | null;
  readonly avoidsPartialSpends: boolean;
  readonly discardFeeRatePerKb: bigint;
  /** Fee rate that is used if the node has no estimate (`-fallbackfee`); 0 if disabled. */
  readonly fallbackFeeRatePerKb: bigint;
  readonly minTxFeeRatePerKb: bigint;
  readonly payTxFeeRatePerKb: bigint;
  readonly maxTxFeeSat: bigint;
  /** Number of unused keys that each pool should contain. */
  readonly keypoolSize: number;
  readonly confirmTarget: number;
  readonly spendsUnconfirmedChange: boolean;
  readonly signalsReplacement: boolean;
  readonly broadcasts: boolean;
  readonly rejectsLongChains: boolean;
}
