/**
 * The latest of what is listed, without reading what is not: which transactions a page of a list is made of. Source: lbrycrd
 * wallet/rpcwallet.cpp `listtransactions`, `ListTransactions`.
 */
import type { AccountingEntry } from '../ledger/accounts.js';
import type { Entry } from '../ledger/entry.js';
import type { Wallet } from '../wallet.js';
import { labelOf, listedCounts } from './amounts.js';

/** What is listed. */
export interface Selection {
  /** `MINE` flags. */
  readonly filter: number;
  /** What came in at addresses with this label; null for everything. */
  readonly label: string | null;
  /** Whether labels are accounts: what was sent from one, or moved, is listed by it too. */
  readonly withAccounts: boolean;
  /** Of what came in; below 0 for conflicting ones too. */
  readonly minDepth: number;
}

/** A transaction, or a move between accounts, with the places of those of its items that belong to the page. */
export interface Piece {
  readonly of: { readonly entry: Entry } | { readonly move: AccountingEntry };
  readonly first: number;
  readonly end: number;
}

/** Whether what an entry sent is listed. */
export function listsSent({ label, withAccounts }: Selection, entry: Entry): boolean {
  return label === null || (withAccounts && entry.row.fromAccount === label);
}

/** Whether something that came in at a destination is listed. */
export function listsReceived(wallet: Wallet, { label }: Selection, to: string): boolean {
  return label === null || labelOf(wallet, to) === label;
}

/** How many items a transaction gives. */
function itemCount(wallet: Wallet, selection: Selection, entry: Entry): number {
  const { sent, received } = listedCounts(wallet, entry, selection.filter);
  let count = listsSent(selection, entry) ? sent : 0;
  if (received.length > 0 && wallet.ledger.depth(entry) >= selection.minDepth)
    for (const { to } of received) if (listsReceived(wallet, selection, to)) count++;
  return count;
}

/** The page of `count` items behind the `skip` latest, the latest first. */
export function recentPieces(wallet: Wallet, selection: Selection, skip: number, count: number): Piece[] {
  const pieces: Piece[] = [];
  const end = skip + count;
  let at = 0;
  for (const of of latestFirst(wallet, selection, end)) {
    const items = 'move' in of ? 1 : itemCount(wallet, selection, of.entry);
    const piece = { of, first: Math.max(skip - at, 0), end: Math.min(end - at, items) };
    if (piece.first < piece.end) pieces.push(piece);
    at += items;
    if (at >= end) break;
  }
  return pieces;
}

/** All that could have items, the latest first. */
function* latestFirst(wallet: Wallet, selection: Selection, wanted: number): Generator<Piece['of']> {
  const { label, withAccounts } = selection;
  const { accounts, ledger } = wallet;
  const moves = !withAccounts ? [] : label === null ? accounts.all() : accounts.of(label);
  let m = moves.length - 1;
  const entries =
    // An empty label is that of all addresses without one too.
    label !== null && label !== ''
      ? labelledFirst(wallet, label, withAccounts ? ledger.paidBy(label) : [], wanted)
      : backwards(ledger.inOrder());
  for (const entry of entries) {
    for (; m >= 0 && moves[m]!.orderPos > entry.row.orderPos; m--) yield { move: moves[m]! };
    yield { entry };
  }
  for (; m >= 0; m--) yield { move: moves[m]! };
}

function* backwards<T>(items: readonly T[]): Generator<T> {
  for (let i = items.length - 1; i >= 0; i--) yield items[i]!;
}

/**
 * At least some transactions and those that pay to addresses with a label, the latest first: those alone where they are few,
 * else all, since enough will be found among the latest.
 */
function labelledFirst(
  { book, ledger }: Wallet,
  label: string,
  paidBy: readonly Entry[],
  wanted: number,
): Iterable<Entry> {
  const lists = [paidBy, ...book.destinationsWithLabel(label).map((to) => ledger.payingTo(to))];
  const found = lists.reduce((sum, list) => sum + list.length, 0);
  // So many would have to be looked at, were they spread evenly.
  if (found * found > wanted * ledger.size) return backwards(ledger.inOrder());
  return [...new Set(lists.flat())].sort((a, b) => b.row.orderPos - a.row.orderPos);
}
