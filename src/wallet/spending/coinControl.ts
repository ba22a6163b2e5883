/** Options for spending: coins, change, fee. Source: lbrycrd wallet/coincontrol.h. */
import type { OutputType } from '../../signing/outputType.js';
import type { Bytes } from '../../util/bytes.js';
import type { Wallet } from '../wallet.js';

export const FEE_MODES = ['UNSET', 'ECONOMICAL', 'CONSERVATIVE'] as const;
export type FeeMode = (typeof FEE_MODES)[number];

/** Options; null means the default of the wallet. */
export interface CoinControl {
  /** Script for change; by default that of a new key of the wallet. */
  readonly changeScript: Bytes | null;
  /** Kind of the new key's address. */
  readonly changeType: OutputType | null;
  /** Outputs to spend (`outputKey`). No others are used unless `allowsOtherInputs` is set. */
  readonly selected: ReadonlySet<string>;
  readonly allowsOtherInputs: boolean;
  /** Whether watch-only outputs with known keys and scripts may be used. */
  readonly allowsWatchOnly: boolean;
  /** Fee rate. It takes precedence over `confirmTarget`, which takes precedence over `settxfee`. */
  readonly feeRatePerKb: bigint | null;
  /** Whether `feeRatePerKb` may be below the minimum. */
  readonly overridesMinimum: boolean;
  readonly confirmTarget: number | null;
  readonly signalsReplacement: boolean | null;
  readonly avoidsPartialSpends: boolean;
  readonly feeMode: FeeMode;
}

const NONE: ReadonlySet<string> = new Set();

export function coinControl(wallet: Wallet, said: Partial<CoinControl> = {}): CoinControl {
  return {
    changeScript: null,
    changeType: null,
    selected: NONE,
    allowsOtherInputs: false,
    allowsWatchOnly: false,
    feeRatePerKb: null,
    overridesMinimum: false,
    confirmTarget: null,
    signalsReplacement: null,
    avoidsPartialSpends: wallet.options.avoidsPartialSpends,
    feeMode: 'UNSET',
    ...said,
  };
}
