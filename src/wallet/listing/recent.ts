/**
 * The latest of what is listed, without reading what is not: which transactions a page of a list is made of. Source: lbrycrd
 * wallet/rpcwallet.cpp `listtransactions`, `ListTransactions`.
 */
import { atOnce, type Slices } from '../../util/slices.js';
import type { AccountingEntry } from '../ledger/accounts.js';
import type { Entry, EntrySequence } from '../ledger/entry.js';
import type { Wallet } from '../wallet.js';
import { listedCounts } from './amounts.js';
import { listedEntriesOf } from './listedEntries.js';
import { listsReceived, listsSent, type Selection } from './selection.js';

/** A transaction, or a move between accounts, with the places of those of its items that belong to the page. */
export interface Piece {
  readonly of: { readonly entry: Entry } | { readonly move: AccountingEntry };
  readonly first: number;
  readonly end: number;
}

/** How many items a transaction gives. */
function itemCount(wallet: Wallet, selection: Selection, entry: Entry): number {
  const { sent, received } = listedCounts(wallet, entry, selection.filter);
  let count = listsSent(selection, entry) ? sent : 0;
  if (received.length > 0 && wallet.ledger.depth(entry) >= selection.minDepth)
    for (const { to } of received) if (listsReceived(wallet, selection, to)) count++;
  return count;
}

/**
 * The number of latest entries that are searched before a list is kept for the query. Arbitrary: a fraction of a
 * millisecond.
 */
const LATEST_LOOKED_AT = 64;
/** Entries looked at between two pauses. */
const STEP = 256;

/**
 * The page of `count` items behind the `skip` latest, the latest first. Costs what the page has, and not what has ever been,
 * except for the first question about a label or about what is the wallet's (`listedEntries.ts`).
 */
export function* recentPieces(
  wallet: Wallet,
  selection: Selection,
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
  // It may change during a pause.
  return (yield* pageOf(wallet, selection, listed.slice(), skip, count))!;
}

/** The page among these, the first that came first; null when it is not full at the place `from` and there are more. */
function* pageOf(
  wallet: Wallet,
  selection: Selection,
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

/** What could have items, the latest first; null if entries before the place `from` would come. */
function* latestFirst(
  { accounts }: Wallet,
  { label, withAccounts }: Selection,
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
 * What pays to addresses with a label, or was sent from it as an account, where that is little: the first that came first.
 * Null if it is not, and for the empty label, which is that of all addresses without one too.
 */
function fewLabelled({ book, ledger }: Wallet, { label, withAccounts }: Selection): Entry[] | null {
  if (label === null || label === '') return null;
  const lists = withAccounts ? [ledger.paidBy(label)] : [];
  if (book.countWithLabel(label) > LATEST_LOOKED_AT) return null;
  for (const destination of book.destinationsWithLabel(label)) lists.push(ledger.payingTo(destination));
  if (lists.reduce((sum, list) => sum + list.length, 0) > LATEST_LOOKED_AT) return null;
  return [...new Set(lists.flat())].sort((a, b) => a.orderPos - b.orderPos);
}
