/**
 * Finds the transactions of one page of a list, from the latest backwards, without reading other transactions. Source:
 * lbrycrd wallet/rpcwallet.cpp `listtransactions`, `ListTransactions`.
 */
import { atOnce, type Slices } from '../../util/slices.js';
import type { AccountingEntry } from '../ledger/accounts.js';
import type { Entry, EntrySequence } from '../ledger/entry.js';
import type { Wallet } from '../wallet.js';
import { listedCounts } from './amounts.js';
import { listedEntriesOf } from './listedEntries.js';
import { listsReceived, listsSent, type ListSelection } from './selection.js';

/** A transaction, or a move between accounts, with the range of its list items that are on the page. */
export interface Piece {
  readonly of: { readonly entry: Entry } | { readonly move: AccountingEntry };
  readonly first: number;
  readonly end: number;
}

/** Number of list items of a transaction. */
function itemCount(wallet: Wallet, selection: ListSelection, entry: Entry): number {
  const { sent, received } = listedCounts(wallet, entry, selection.filter);
  let count = listsSent(selection, entry) ? sent : 0;
  if (received.length > 0 && wallet.ledger.depth(entry) >= selection.minDepth)
    for (const { to } of received) if (listsReceived(wallet, selection, to)) count++;
  return count;
}

/**
 * Number of the latest transactions that are searched for a page before a list of all matching transactions is built and
 * cached. Arbitrary: takes a fraction of a millisecond.
 */
const LATEST_LOOKED_AT = 64;
/** Number of transactions that are processed between two yields to the event loop. */
const STEP = 256;

/**
 * Page with the `count` items after the `skip` latest items, sorted from the latest. The cost depends on the page, not on
 * the history, except for the first request of a list (`listedEntries.ts`).
 */
export function* recentPieces(
  wallet: Wallet,
  selection: ListSelection,
  skip: number,
  count: number,
): Slices<Piece[]> {
  const { ledger } = wallet;
  const few = fewLabelled(wallet, selection);
  if (few !== null) return atOnce(pageOf(wallet, selection, few, skip, count))!;
  const all = ledger.inOrder();
  const some = Math.max(0, all.length - LATEST_LOOKED_AT - 2 * (skip + count));
  const page = yield* pageOf(wallet, selection, all, skip, count, some);
  if (page !== null) return page;
  const listed = yield* listedEntriesOf(wallet).of(selection);
  if (skip + count <= STEP) return atOnce(pageOf(wallet, selection, listed, skip, count))!;
  // The list is copied, because it may change during a yield.
  return (yield* pageOf(wallet, selection, listed.slice(), skip, count))!;
}

/**
 * The page from these transactions, which are in order of arrival. Only transactions from position `from` on are searched.
 * Null if they do not fill the page and earlier transactions exist.
 */
function* pageOf(
  wallet: Wallet,
  selection: ListSelection,
  entries: EntrySequence,
  skip: number,
  count: number,
  from = 0,
): Slices<Piece[] | null> {
  const pieces: Piece[] = [];
  const end = skip + count;
  let at = 0;
  let looked = 0;
  for (const of of latestFirst(wallet, selection, entries, from)) {
    if (of === null) return null;
    const items = 'move' in of ? 1 : itemCount(wallet, selection, of.entry);
    const piece = { of, first: Math.max(skip - at, 0), end: Math.min(end - at, items) };
    if (piece.first < piece.end) pieces.push(piece);
    at += items;
    if (at >= end) break;
    if (++looked % STEP === 0) yield;
  }
  return pieces;
}

/** Iterates over transactions and moves, sorted from the latest. Yields null for each entry before position `from`. */
function* latestFirst(
  { accounts }: Wallet,
  { label, withAccounts }: ListSelection,
  entries: EntrySequence,
  from: number,
): Generator<Piece['of'] | null> {
  const moves = !withAccounts ? [] : label === null ? accounts.all() : accounts.of(label);
  let m = moves.length - 1;
  for (let i = entries.length - 1; i >= 0; i--) {
    if (i < from) yield null;
    const entry = entries.at(i)!;
    for (; m >= 0 && moves[m]!.orderPos > entry.orderPos; m--) yield { move: moves[m]! };
    yield { entry };
  }
  for (; m >= 0; m--) yield { move: moves[m]! };
}

/**
 * Transactions that pay to addresses with the label, or were sent from the account with this name, the earliest first. Null
 * if there are many such transactions, and for the empty label, because all addresses without a label have it.
 */
function fewLabelled({ book, ledger }: Wallet, { label, withAccounts }: ListSelection): Entry[] | null {
  if (label === null || label === '') return null;
  const lists = withAccounts ? [ledger.paidBy(label)] : [];
  if (book.countWithLabel(label) > LATEST_LOOKED_AT) return null;
  for (const destination of book.destinationsWithLabel(label)) lists.push(ledger.payingTo(destination));
  if (lists.reduce((sum, list) => sum + list.length, 0) > LATEST_LOOKED_AT) return null;
  return [...new Set(lists.flat())].sort((a, b) => a.orderPos - b.orderPos);
}
