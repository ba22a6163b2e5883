/** Computes the fee rates of the wallet. Source: lbrycrd wallet/fees.cpp; nameclaim.cpp `CalcMinClaimTrieFee`. */
import { feeAtRate } from '../../mempool/feeRate.js';
import type { TxOutput } from '../../primitives/transaction.js';
import { decodeClaimScript } from '../../script/claimScript.js';
import type { Wallet } from '../wallet.js';
import type { CoinControl } from './coinControl.js';

/** Fee in satoshis for each byte of the name of a new claim. Source: `MIN_FEE_PER_NAMECLAIM_CHAR`. */
const FEE_PER_NAME_BYTE_SAT = 200_000n;

export interface WalletRate {
  readonly ratePerKb: bigint;
  /** Whether the rate is unknown: the node has no estimate, and the fallback fee is disabled (`-fallbackfee=0`). */
  readonly isUnknown: boolean;
}

const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);
const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);

/** Minimum fee rate of transactions that the wallet creates. Source: `GetRequiredFeeRate`. */
export function requiredRate({ options, node }: Wallet): bigint {
  return max(options.minTxFeeRatePerKb, node.fees.relayMinRatePerKb);
}

/** Source: `GetMinimumFeeRate`. */
export function minimumRate(wallet: Wallet, control: CoinControl): WalletRate {
  const { options } = wallet;
  const { fees } = wallet.node;
  const known = (ratePerKb: bigint): WalletRate => ({
    ratePerKb: max(ratePerKb, requiredRate(wallet)),
    isUnknown: false,
  });
  if (control.feeRatePerKb !== null) {
    return control.overridesMinimum
      ? { ratePerKb: control.feeRatePerKb, isUnknown: false }
      : known(control.feeRatePerKb);
  }
  if (control.confirmTarget === null && wallet.payTxFeeRatePerKb !== 0n)
    return known(wallet.payTxFeeRatePerKb);
  const target = control.confirmTarget ?? options.confirmTarget;
  // A replaceable transaction can start with a low fee, so its estimate is not conservative by default.
  const isConservative =
    control.feeMode === 'UNSET'
      ? !(control.signalsReplacement ?? options.signalsReplacement)
      : control.feeMode === 'CONSERVATIVE';
  let { ratePerKb } = fees.estimateSmart(target, isConservative);
  if (ratePerKb === 0n) {
    ratePerKb = options.fallbackFeeRatePerKb;
    if (ratePerKb === 0n) return { ratePerKb, isUnknown: true };
  }
  return known(max(ratePerKb, fees.mempoolMinRatePerKb));
}

/** Fee for a size at a rate, at most `-maxtxfee`. Source: `GetMinimumFee`. */
export function minimumFee(wallet: Wallet, sizeBytes: number, { ratePerKb }: WalletRate): bigint {
  return min(feeAtRate(ratePerKb, sizeBytes), wallet.options.maxTxFeeSat);
}

/**
 * The discard rate: change that would cost more to spend at this rate than it is worth is added to the fee. Source:
 * `GetDiscardRate`.
 */
export function discardRate({ options, node: { fees } }: Wallet): bigint {
  const { ratePerKb } = fees.estimateSmart(fees.highestTarget, false);
  const most = options.discardFeeRatePerKb;
  return max(ratePerKb === 0n ? most : min(ratePerKb, most), fees.dustRatePerKb);
}

/** Minimum fee in satoshis for the new claims in the outputs. It depends on the lengths of their names. */
export function claimNameFee(outputs: readonly TxOutput[]): bigint {
  let fee = 0n;
  for (const { script } of outputs) {
    const claim = decodeClaimScript(script);
    if (claim?.kind === 'claim') fee += BigInt(claim.name.length) * FEE_PER_NAME_BYTE_SAT;
  }
  return fee;
}
