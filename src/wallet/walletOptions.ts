/** Options of the node that wallets use. */
import type { OutputType } from '../signing/outputType.js';

/** Rates in satoshis per 1,000 virtual bytes. */
export interface WalletOptions {
  /**
   * Type of new addresses, and of change; null for the type of the payment or of the addresses (`-addresstype`,
   * `-changetype`).
   */
  readonly addressType: OutputType;
  readonly changeType: OutputType | null;
  readonly avoidsPartialSpends: boolean;
  readonly discardFeeRatePerKb: bigint;
  /** Fee rate without an estimate; 0 for none (`-fallbackfee`). */
  readonly fallbackFeeRatePerKb: bigint;
  readonly minTxFeeRatePerKb: bigint;
  readonly payTxFeeRatePerKb: bigint;
  readonly maxTxFeeSat: bigint;
  /** Number of keys to keep in each pool. */
  readonly keypoolSize: number;
  readonly confirmTarget: number;
  readonly spendsUnconfirmedChange: boolean;
  readonly signalsReplacement: boolean;
  readonly broadcasts: boolean;
  readonly rejectsLongChains: boolean;
}
