/** What the node's options say to wallets. */
import type { OutputType } from '../signing/outputType.js';

/** Rates in satoshis per 1,000 virtual bytes. */
export interface WalletOptions {
  /** Kind of new addresses, and of change; null for that of the payment or the addresses (`-addresstype`, `-changetype`). */
  readonly addressType: OutputType;
  readonly changeType: OutputType | null;
  readonly avoidsPartialSpends: boolean;
  readonly discardFeeRatePerKb: bigint;
  /** Fee rate without an estimate; 0 for none (`-fallbackfee`). */
  readonly fallbackFeeRatePerKb: bigint;
  readonly minTxFeeRatePerKb: bigint;
  readonly payTxFeeRatePerKb: bigint;
  readonly maxTxFeeSat: bigint;
  /** Keys to keep ready, in each pool. */
  readonly keypoolSize: number;
  readonly confirmTarget: number;
  readonly spendsUnconfirmedChange: boolean;
  readonly signalsReplacement: boolean;
  readonly broadcasts: boolean;
  readonly rejectsLongChains: boolean;
}
