/**
 * Fee rates: satoshis per 1,000 virtual bytes, rounded as in the reference. Only arithmetic and formatting. Source: Core
 * policy/feerate.cpp `CFeeRate`.
 */
import { COIN } from '../consensus/limits.js';

/** Fee rate of a fee for a size, rounded towards zero; 0 for size 0. */
export function feeRateOf(feeSat: bigint, sizeBytes: number): bigint {
  return sizeBytes > 0 ? (feeSat * 1000n) / BigInt(sizeBytes) : 0n;
}

/** Fee for a size at a fee rate. Unless the rate is 0, the result is at least one satoshi (or at most minus one). */
export function feeAtRate(ratePerKb: bigint, sizeBytes: number): bigint {
  const feeSat = (ratePerKb * BigInt(sizeBytes)) / 1000n;
  if (feeSat !== 0n || sizeBytes === 0) return feeSat;
  return ratePerKb > 0n ? 1n : ratePerKb < 0n ? -1n : 0n;
}

/** Formats a fee rate as in rejection messages. QUIRK: a negative rate has its sign in both parts, as in `%d.%08d`. */
export function formatFeeRate(ratePerKb: bigint): string {
  const rest = ratePerKb % COIN;
  const digits = rest < 0n ? `-${String(-rest).padStart(7, '0')}` : String(rest).padStart(8, '0');
  return `${ratePerKb / COIN}.${digits} LBC/kB`;
}
