/**
 * Addresses that the chain shows to have one owner: spent from together, or given the change. Source: lbrycrd
 * wallet/wallet.cpp `GetAddressGroupings`, `GetAddressBalances`.
 */
import { sortedInSlices, type Slices } from '../../util/slices.js';
import { blocksToMaturity, isTrusted } from '../ledger/balances.js';
import { type Entry } from '../ledger/entry.js';
import type { Wallet } from '../wallet.js';
import { isChange } from './amounts.js';

/** Groups of destinations (`destinationKey`), in the reference's order. */
export function* addressGroupings(wallet: Wallet): Slices<string[][]> {
  const { ledger } = wallet;
  const groups = new Groups();
  let count = 0;
  for (const entry of ledger.all()) {
    if (++count % 64 === 0) yield;
    let first: string | null = null;
    for (const input of entry.inputs) {
      const to = ledger.output(input)?.to ?? '';
      if (to === '') continue;
      groups.join(first ?? to, to);
      first ??= to;
    }
    for (const output of entry.outputs) {
      if (output.to === '') continue;
      const isRelated = first !== null && isChange(wallet, output);
      groups.join(isRelated ? first! : output.to, output.to);
    }
  }
  const lists = yield* groups.lists();
  return yield* sortedInSlices(lists, compareLists);
}

/** Confirmed or trusted coins by destination; those that have none left are there too. */
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

function compareLists(a: readonly string[], b: readonly string[]): number {
  for (let i = 0; i < a.length && i < b.length; i++) if (a[i] !== b[i]) return a[i]! < b[i]! ? -1 : 1;
  return a.length - b.length;
}

/** Sets that are joined until none have a member in common. */
class Groups {
  private readonly numbers = new Map<string, number>();
  private readonly parents: number[] = [];

  join(a: string, b: string): void {
    const one = this.root(this.number(a));
    const other = this.root(this.number(b));
    if (one !== other) this.parents[Math.max(one, other)] = Math.min(one, other);
  }

  private number(name: string): number {
    let number = this.numbers.get(name);
    if (number === undefined) {
      number = this.parents.push(this.parents.length) - 1;
      this.numbers.set(name, number);
    }
    return number;
  }

  private root(number: number): number {
    let at = number;
    while (this.parents[at] !== at) {
      this.parents[at] = this.parents[this.parents[at]!]!;
      at = this.parents[at]!;
    }
    return at;
  }

  /** The members of each, sorted. */
  *lists(): Slices<string[][]> {
    const byRoot = new Map<number, string[]>();
    for (const name of yield* sortedInSlices([...this.numbers.keys()], (a, b) => (a < b ? -1 : 1))) {
      const root = this.root(this.numbers.get(name)!);
      const list = byRoot.get(root);
      if (list === undefined) byRoot.set(root, [name]);
      else list.push(name);
    }
    return [...byRoot.values()];
  }
}
