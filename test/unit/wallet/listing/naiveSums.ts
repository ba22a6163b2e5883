/** Naive sums over all transactions of a wallet, for comparison with the running sums. */
import { blocksToMaturity } from '../../../../src/wallet/ledger/balances.js';
import { isAlive } from '../../../../src/wallet/lbcd/coins.js';
import { LbcdAccounts } from '../../../../src/wallet/lbcd/accounts.js';
import { MINE } from '../../../../src/wallet/keys/isMine.js';
import type { Entry } from '../../../../src/wallet/ledger/entry.js';
import { amountsOf, destinationFlags, isChange, labelOf } from '../../../../src/wallet/listing/amounts.js';
import { compareText } from '../../../../src/wallet/listing/received.js';
import type { Wallet } from '../../../../src/wallet/wallet.js';

/** Source: lbrycrd wallet/wallet.cpp `GetLegacyBalance`. */
export function legacyBalance(
  wallet: Wallet,
  account: string | null,
  filter: number,
  minDepth: number,
): bigint {
  const { ledger, balanceOptions } = wallet;
  let sum = account === null ? 0n : wallet.accounts.creditDebitSat(account);
  for (const entry of ledger.all()) {
    const depth = ledger.depth(entry);
    if (depth < 0 || !balanceOptions.isFinal(entry) || blocksToMaturity(ledger, entry) > 0) continue;
    let debitSat = ledger.debit(entry, filter);
    const isSent = debitSat > 0n;
    for (const output of entry.outputs) {
      if (isSent && isChange(wallet, output)) debitSat -= output.valueSat;
      else if ((output.mine & filter) !== 0 && depth >= minDepth)
        if (account === null || account === labelOf(wallet, output.to)) sum += output.valueSat;
    }
    if (isSent && (account === null || account === entry.row.fromAccount)) sum -= debitSat;
  }
  return sum;
}

/** Source: lbrycrd wallet/rpcwallet.cpp `listaccounts`. */
export function listedAccounts(wallet: Wallet, filter: number, minDepth: number): [string, bigint][] {
  const { ledger, book, accounts } = wallet;
  const balances = new Map<string, bigint>();
  const add = (account: string, sat: bigint): unknown =>
    balances.set(account, (balances.get(account) ?? 0n) + sat);
  for (const destination of book.destinations().keys())
    if ((destinationFlags(wallet, destination) & filter) !== 0) add(labelOf(wallet, destination), 0n);
  for (const entry of ledger.all()) {
    const depth = ledger.depth(entry);
    if (depth < 0 || blocksToMaturity(ledger, entry) > 0) continue;
    let takenSat = ledger.debit(entry, filter);
    const isSent = takenSat > 0n;
    for (const output of entry.outputs) {
      if (isSent && isChange(wallet, output)) takenSat -= output.valueSat;
      else if ((output.mine & filter) !== 0 && depth >= minDepth)
        add(labelOf(wallet, output.to), output.valueSat);
    }
    add(entry.row.fromAccount, -takenSat);
  }
  for (const { account, creditDebitSat } of accounts.all()) add(account, creditDebitSat);
  return [...balances].sort(([a], [b]) => compareText(a, b));
}

/** The amount that a destination received, and the part by its own script. Source: `getreceivedbyaddress`. */
export function received(
  wallet: Wallet,
  destination: string,
  minDepth: number,
): { all: bigint; plain: bigint } {
  const { ledger, balanceOptions } = wallet;
  let [all, plain] = [0n, 0n];
  for (const entry of ledger.all()) {
    if (entry.isCoinbase || ledger.depth(entry) < minDepth || !balanceOptions.isFinal(entry)) continue;
    for (const { to, valueSat, isPlain } of entry.outputs) {
      if (to !== destination) continue;
      all += valueSat;
      if (isPlain) plain += valueSat;
    }
  }
  return { all, plain };
}

/** Source: `getreceivedbylabel`. */
export function receivedByLabel(wallet: Wallet, label: string, minDepth: number): bigint {
  let sum = 0n;
  for (const destination of wallet.book.destinationsWithLabel(label))
    if (destinationFlags(wallet, destination) !== MINE.no) sum += received(wallet, destination, minDepth).all;
  return sum;
}

/** Sets of destinations that were spent together or received change of each other. */
export function groups(wallet: Wallet): string[][] {
  const { ledger } = wallet;
  let sets: Set<string>[] = [];
  const join = (members: readonly string[]): void => {
    const joined = new Set(members);
    for (const set of sets) if (members.some((one) => set.has(one))) for (const one of set) joined.add(one);
    sets = [...sets.filter((set) => !members.some((one) => set.has(one))), joined];
  };
  for (const entry of ledger.all()) {
    const spent = entry.inputs.map((input) => ledger.output(input)?.to ?? '').filter((to) => to !== '');
    if (spent.length > 0) join(spent);
    for (const output of entry.outputs) {
      if (output.to === '') continue;
      join(spent.length > 0 && isChange(wallet, output) ? [spent[0]!, output.to] : [output.to]);
    }
  }
  return sets.map((set) => [...set].sort()).sort((a, b) => (a[0]! < b[0]! ? -1 : 1));
}

/** The amount that an account of lbcwallet received, and the confirmations of the latest transaction. */
export function lbcdReceived(
  wallet: Wallet,
  account: number,
  minDepth: number,
): { sumSat: bigint; depth: number } {
  const accounts = new LbcdAccounts(wallet);
  let sumSat = 0n;
  let latest = Infinity;
  for (const entry of wallet.ledger.all()) {
    const depth = wallet.ledger.depth(entry);
    if (!isAlive(entry) || depth < minDepth) continue;
    for (const { to, mine, valueSat } of entry.outputs) {
      if ((mine & MINE.spendable) === 0 || accounts.ofDestination(to) !== account) continue;
      sumSat += valueSat;
      latest = Math.min(latest, depth);
    }
  }
  return { sumSat, depth: latest === Infinity ? 0 : latest };
}

/** Transactions that a list may contain, found by reading all of them, the earliest first. */
export function listed(
  wallet: Wallet,
  { filter, label, withAccounts }: { filter: number; label: string | null; withAccounts: boolean },
): Entry[] {
  return [...wallet.ledger.inOrder()].filter((entry) => {
    const { sent, received } = amountsOf(wallet, entry, wallet.ledger.record(entry), filter);
    const isPayer = label === null || (withAccounts && entry.row.fromAccount === label);
    const fits = (to: string): boolean => label === null || (wallet.book.at(to)?.label ?? '') === label;
    return (isPayer && sent.length > 0) || received.some(({ to }) => fits(to));
  });
}
