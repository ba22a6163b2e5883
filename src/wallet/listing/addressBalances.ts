/**
 * Computes the balances of destinations, for address groups. Source: lbrycrd wallet/wallet.cpp `GetAddressBalances`.
 */
import type { Slices } from '../../util/slices.js';
import { blocksToMaturity, isTrusted } from '../ledger/balances.js';
import { type Entry } from '../ledger/entry.js';
import type { Wallet } from '../wallet.js';

/** Sum in satoshis of the confirmed or trusted coins of each destination. Includes destinations with balance 0. */
export function* addressBalances(wallet: Wallet): Slices<Map<string, bigint>> {
  const { ledger, balanceOptions } = wallet;
  const balances = new Map<string, bigint>();
  const isFromMe = (entry: Entry): boolean =>
    entry.inputs.some((input) => ledger.output(input) !== undefined);
  let count = 0;
  for (const [key, { to, valueSat }] of ledger.unspentOutputs()) {
    if (++count % 64 === 0) yield;
    const entry = ledger.entry(key.slice(0, 32))!;
    if (to === '' || !isTrusted(ledger, entry, balanceOptions)) continue;
    if (blocksToMaturity(ledger, entry) > 0) continue;
    if (ledger.depth(entry) < (isFromMe(entry) ? 0 : 1)) continue;
    balances.set(to, (balances.get(to) ?? 0n) + valueSat);
  }
  return balances;
}
