/**
 * Fee rates: satoshis per 1,000 virtual bytes, rounded as in the reference. Only arithmetic and formatting. Source: Core
 * policy/feerate.cpp `CFeeRate`.
 */
import { COIN } from '../consensus/limits.js';

/** The rate of a fee; 0 for size 0. Rounded towards zero. */
export function feeRateOf(feeSat: bigint, sizeBytes: number): bigint {
  return sizeBytes > 0 ? (feeSat * 1000n) / BigInt(sizeBytes) : 0n;
}

/** Fee for a size at a rate; at least one satoshi (or minus one) for a rate other than 0. */
export function feeAtRate(ratePerKb: bigint, sizeBytes: number): bigint {
  const feeSat = (ratePerKb * BigInt(sizeBytes)) / 1000n;
  if (feeSat !== 0n || sizeBytes === 0) return feeSat;
  return ratePerKb > 0n ? 1n : ratePerKb < 0n ? -1n : 0n;
}

/** Rate in the format of verdicts. QUIRK: a negative rate has its sign in both parts, as in `%d.%08d`. */
export function formatFeeRate(ratePerKb: bigint): string {
  const rest = ratePerKb % COIN;
  const digits = rest < 0n ? `-${String(-rest).padStart(7, '0')}` : String(rest).padStart(8, '0');
  return `${ratePerKb / COIN}.${digits} LBC/kB`;
}
