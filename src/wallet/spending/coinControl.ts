/** Options for spending coins: inputs, change, fee. Source: lbrycrd wallet/coincontrol.h. */
import type { OutputType } from '../../signing/outputType.js';
import type { Bytes } from '../../util/bytes.js';
import type { Wallet } from '../wallet.js';

export const FEE_MODES = ['UNSET', 'ECONOMICAL', 'CONSERVATIVE'] as const;
export type FeeMode = (typeof FEE_MODES)[number];

/** Spending options of one transaction. Null means the default of the wallet. */
export interface CoinControl {
  /** Output script for the change; null to use a new key of the wallet. */
  readonly changeScript: Bytes | null;
  /** Address type of the new key for the change. */
  readonly changeType: OutputType | null;
  /**
   * Output keys (`outputKey`) of the outputs that must be spent. If any is given, other outputs are used only if
   * `allowsOtherInputs` is set.
   */
  readonly selected: ReadonlySet<string>;
  readonly allowsOtherInputs: boolean;
  /** Whether watch-only outputs may be used, if their keys and scripts are known. */
  readonly allowsWatchOnly: boolean;
  /**
   * Fee rate in satoshis per 1,000 virtual bytes. It takes precedence over `confirmTarget`, which takes precedence over
   * `settxfee`.
   */
  readonly feeRatePerKb: bigint | null;
  /** Whether `feeRatePerKb` may be below the minimum fee rate. */
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
