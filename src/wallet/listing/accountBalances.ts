/**
 * The deprecated accounts: what labels would have, were each an account, and moves between them. Source: lbrycrd
 * wallet/wallet.cpp `GetLegacyBalance`, `AccountMove`, wallet/rpcwallet.cpp `listaccounts`.
 */
import type { Slices } from '../../util/slices.js';
import { blocksToMaturity } from '../ledger/balances.js';
import type { WalletBatch } from '../store/records.js';
import type { Wallet } from '../wallet.js';
import { destinationFlags, isChange, labelOf } from './amounts.js';
import { compareText } from './received.js';

/** Entries looked at between two pauses. */
const STEP = 256;

/** What came in and went out, of one account or (null) of all. `minDepth` is asked of what came in. */
export function* legacyBalanceSat(
  wallet: Wallet,
  account: string | null,
  filter: number,
  minDepth: number,
): Slices<bigint> {
  const { ledger, balanceOptions } = wallet;
  let sum = account === null ? 0n : wallet.accounts.creditDebitSat(account);
  let count = 0;
  for (const entry of ledger.all()) {
    if (++count % STEP === 0) yield;
    const depth = ledger.depth(entry);
    if (depth < 0 || !balanceOptions.isFinal(entry) || blocksToMaturity(ledger, entry) > 0) continue;
    let debitSat = ledger.debit(entry, filter);
    const isSent = debitSat > 0n;
    for (const output of entry.outputs) {
      if (isSent && isChange(wallet, output)) debitSat -= output.valueSat;
      else if ((output.mine & filter) !== 0 && depth >= minDepth) {
        if (account === null || account === labelOf(wallet, output.to)) sum += output.valueSat;
      }
    }
    if (isSent && (account === null || account === entry.row.fromAccount)) sum -= debitSat;
  }
  return sum;
}

/** All accounts with what they have, by name. */
export function* accountBalances(
  wallet: Wallet,
  filter: number,
  minDepth: number,
): Slices<[account: string, balanceSat: bigint][]> {
  const { ledger, book, accounts } = wallet;
  const balances = new Map<string, bigint>();
  const add = (account: string, sat: bigint): unknown =>
    balances.set(account, (balances.get(account) ?? 0n) + sat);
  let count = 0;
  for (const destination of book.destinations().keys()) {
    if (++count % STEP === 0) yield;
    if ((destinationFlags(wallet, destination) & filter) !== 0) add(labelOf(wallet, destination), 0n);
  }
  for (const entry of ledger.all()) {
    if (++count % STEP === 0) yield;
    const depth = ledger.depth(entry);
    if (depth < 0 || blocksToMaturity(ledger, entry) > 0) continue;
    const debitSat = ledger.debit(entry, filter);
    const isSent = debitSat > 0n;
    // The fee and what went to others are what the inputs took, less the change.
    let takenSat = debitSat;
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

/** Books an amount from one account to another, which moves no coin. */
export function moveBetweenAccounts(
  wallet: Wallet,
  batch: WalletBatch,
  from: string,
  to: string,
  amountSat: bigint,
  comment: string,
): void {
  const { ledger, accounts } = wallet;
  const timeSec = wallet.node.nowSec();
  const book = (account: string, otherAccount: string, creditDebitSat: bigint): void => {
    const orderPos = ledger.takeOrderPos(batch);
    accounts.add(batch, { account, otherAccount, creditDebitSat, timeSec, comment, orderPos });
  };
  book(from, to, -amountSat);
  book(to, from, amountSat);
}
