/**
 * Computes the received amounts of addresses and labels. Coinbases and non-final transactions do not count. Source: lbrycrd
 * wallet/rpcwallet.cpp `getreceivedbyaddress`, `getreceivedbylabel`, `ListReceived`.
 */
import { sortedInSlices, type Slices } from '../../util/slices.js';
import { MINE } from '../keys/isMine.js';
import type { BalanceOptions } from '../ledger/balances.js';
import type { Entry } from '../ledger/entry.js';
import type { Wallet } from '../wallet.js';
import { destinationFlags } from './amounts.js';
import type { DestinationSum } from './receivedSums.js';
import { byId } from './sinceBlock.js';
import { sumsOf } from './sumsOf.js';

/**
 * Maximum number of payments to a destination that are added up for each request. For destinations with more payments the
 * sums are cached. Arbitrary.
 */
const FEW_PAYMENTS = 32;
const NOTHING: DestinationSum = { sumSat: 0n, plainSat: 0n, depth: null };

/** Amount that one destination received. */
export interface Receipt {
  /** `destinationKey`. */
  readonly destination: string;
  readonly address: string;
  readonly label: string;
  readonly amountSat: bigint;
  /** Number of confirmations of the latest payment; 0 if there was no payment. */
  readonly confirmations: number;
  readonly isWatched: boolean;
  /** Transactions that paid to the destination, sorted by id. */
  readonly entries: readonly Entry[];
}

export interface LabelReceipt {
  readonly label: string;
  readonly amountSat: bigint;
  readonly confirmations: number;
  readonly isWatched: boolean;
}

export interface ReceiptOptions {
  readonly minDepth: number;
  /** Whether to list destinations that received no payment. */
  readonly includesEmpty: boolean;
  /** `MINE` flags of the addresses that are listed. */
  readonly filter: number;
}

function counts(wallet: Wallet, { isFinal }: BalanceOptions, entry: Entry, minDepth: number): boolean {
  return !entry.isCoinbase && wallet.ledger.depth(entry) >= minDepth && isFinal(entry);
}

/** Sums of the payments to a destination of the wallet. */
function* receivedOf(wallet: Wallet, destination: string, minDepth: number): Slices<DestinationSum> {
  const entries = wallet.ledger.payingTo(destination);
  if (entries.length > FEW_PAYMENTS) {
    const { destinations } = sumsOf(wallet);
    destinations.ask(destination);
    yield* destinations.refresh();
    return destinations.received(destination, minDepth);
  }
  const options = wallet.balanceOptions;
  let [sumSat, plainSat] = [0n, 0n];
  let depth: number | null = null;
  for (const entry of entries) {
    if (!counts(wallet, options, entry, minDepth)) continue;
    depth = Math.min(depth ?? Infinity, wallet.ledger.depth(entry));
    for (const { to, valueSat, isPlain } of entry.outputs) {
      if (to !== destination) continue;
      sumSat += valueSat;
      if (isPlain) plainSat += valueSat;
    }
  }
  return { sumSat, plainSat, depth };
}

/**
 * Amount in satoshis that a destination of the wallet received with its standard script. Claims, supports and bare public
 * keys do not count.
 */
export function* receivedSat(wallet: Wallet, destination: string, minDepth: number): Slices<bigint> {
  return (yield* receivedOf(wallet, destination, minDepth)).plainSat;
}

/** Amount in satoshis that all addresses with a label received, if the wallet owns or watches them. */
export function* receivedByLabelSat(wallet: Wallet, label: string, minDepth: number): Slices<bigint> {
  const { labels } = sumsOf(wallet);
  yield* labels.refresh();
  return labels.receivedSat(label, minDepth);
}

/** Returns the receipt of a destination. Null if it received no payment and the options do not list such destinations. */
export function receiptOf(wallet: Wallet, destination: string, options: ReceiptOptions): Receipt | null {
  const known = wallet.book.at(destination);
  const address = wallet.book.destinations().get(destination);
  if (known === undefined || address === undefined) return null;
  const mine = destinationFlags(wallet, destination);
  const isListed = (mine & options.filter) !== 0;
  const { balanceOptions } = wallet;
  const entries = isListed
    ? wallet.ledger
        .payingTo(destination)
        .filter((entry) => counts(wallet, balanceOptions, entry, options.minDepth))
    : [];
  if (entries.length === 0 && !options.includesEmpty) return null;
  let amountSat = 0n;
  let confirmations = Infinity;
  const listed: Entry[] = [];
  for (const entry of [...entries].sort(byId)) {
    confirmations = Math.min(confirmations, wallet.ledger.depth(entry));
    for (const { to, valueSat } of entry.outputs) {
      if (to !== destination) continue;
      amountSat += valueSat;
      listed.push(entry);
    }
  }
  return {
    destination,
    address,
    label: known.label,
    amountSat,
    confirmations: confirmations === Infinity ? 0 : confirmations,
    isWatched: listed.length > 0 && (mine & MINE.watchOnly) !== 0,
    entries: listed,
  };
}

/** All destinations in the address book, in the order of the reference. */
export function sortedDestinations({ book }: Wallet): Slices<string[]> {
  return sortedInSlices([...book.destinations().keys()], (a, b) => (a < b ? -1 : 1));
}

/** Receipts by label, in the byte order of the labels. */
export function* receiptsByLabel(wallet: Wallet, options: ReceiptOptions): Slices<LabelReceipt[]> {
  const byLabel = new Map<string, LabelReceipt>();
  for (const destination of yield* sortedDestinations(wallet)) {
    yield;
    const label = wallet.book.at(destination)?.label;
    if (label === undefined) continue;
    const mine = destinationFlags(wallet, destination);
    const isListed = (mine & options.filter) !== 0;
    const received = isListed ? yield* receivedOf(wallet, destination, options.minDepth) : NOTHING;
    if (received.depth === null && !options.includesEmpty) continue;
    const known = byLabel.get(label);
    byLabel.set(label, {
      label,
      amountSat: (known?.amountSat ?? 0n) + received.sumSat,
      confirmations: Math.min(known?.confirmations ?? Infinity, received.depth ?? Infinity),
      // QUIRK: only the last address of the label determines the value. Test: test/functional/walletListing.test.ts.
      isWatched: received.depth !== null && (mine & MINE.watchOnly) !== 0,
    });
  }
  return [...byLabel.values()]
    .sort((a, b) => compareText(a.label, b.label))
    .map((one) => ({ ...one, confirmations: one.confirmations === Infinity ? 0 : one.confirmations }));
}

/** Compares strings in the order of the reference: by their UTF-8 bytes. */
export function compareText(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a, 'utf8'), Buffer.from(b, 'utf8'));
}
