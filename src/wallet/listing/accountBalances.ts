/**
 * Computes the balances of the deprecated accounts, where each label counts as an account. Also records moves between
 * accounts. Source: lbrycrd wallet/wallet.cpp `GetLegacyBalance`, `AccountMove`, wallet/rpcwallet.cpp `listaccounts`.
 */
import type { Slices } from '../../util/slices.js';
import type { WalletBatch } from '../store/records.js';
import type { Wallet } from '../wallet.js';
import { destinationFlags } from './amounts.js';
import { compareText } from './received.js';
import { sumsOf } from './sumsOf.js';

/**
 * Received minus sent amounts in satoshis of one account, or of all accounts (null). Received amounts count only with
 * `minDepth` confirmations.
 */
export function* legacyBalanceSat(
  wallet: Wallet,
  account: string | null,
  filter: number,
  minDepth: number,
): Slices<bigint> {
  const sums = sumsOf(wallet).accounts(filter);
  yield* sums.refresh();
  const movedSat = account === null ? 0n : wallet.accounts.creditDebitSat(account);
  return movedSat + sums.balanceSat(account, minDepth);
}

/** Balances in satoshis of all deprecated accounts, by name. */
export function* accountBalances(
  wallet: Wallet,
  filter: number,
  minDepth: number,
): Slices<[account: string, balanceSat: bigint][]> {
  const { book, accounts } = wallet;
  const sums = sumsOf(wallet).accounts(filter);
  yield* sums.refresh();
  const balances = sums.balances(minDepth);
  for (const [account, sat] of accounts.balances())
    balances.set(account, (balances.get(account) ?? 0n) + sat);
  const isCounted = (destination: string): boolean => (destinationFlags(wallet, destination) & filter) !== 0;
  for (const label of book.labels())
    if (!balances.has(label) && book.someWithLabel(label, isCounted)) balances.set(label, 0n);
  return [...balances].sort(([a], [b]) => compareText(a, b));
}

/** Records a move of an amount between two deprecated accounts, without a transaction. */
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
