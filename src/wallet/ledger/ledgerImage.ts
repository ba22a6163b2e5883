/**
 * The part of the ledger in a wallet image (`store/walletImage.ts`): settled (confirmed) transactions as typed arrays, the
 * ids of the other transactions, and values that are expensive to recompute. No image is written while the node's chain
 * differs from the chain that the wallet has followed.
 */
import { fromLatin1, toHex, type Bytes } from '../../util/bytes.js';
import type { Slices } from '../../util/slices.js';
import type { Columns } from '../store/columnFile.js';
import type { Entry } from './entry.js';
import type { EntryIndex } from './entryIndex.js';
import type { LedgerPort } from './ledgerPort.js';
import type { OtherDestinations } from './otherDestinations.js';
import { packTxs } from './packTxs.js';

/**
 * Data of the ledger in the image besides the columns. The columns are those of `TxColumns`, `idWords` of `EntryIndex.ids`,
 * and `others` of `OtherDestinations`.
 */
export interface LedgerNotes {
  readonly nextOrderPos: number;
  readonly idCount: number;
  readonly otherCount: number;
  /**
   * Highest block that contains a settled transaction (one in a block of the active chain), in hex; null if no transaction
   * is settled.
   */
  readonly tip: { readonly hash: string; readonly height: number } | null;
  /** Ids of the transactions that are not settled, in hex. */
  readonly loose: readonly string[];
  /** Rows of the transactions that were sent from each named deprecated account. */
  readonly paidBy: readonly (readonly [account: string, rows: readonly number[]])[];
}

export interface LedgerSource {
  readonly index: EntryIndex;
  readonly port: LedgerPort;
  readonly nextOrderPos: number;
  readonly others: OtherDestinations;
  /** Whether a destination (`destinationKey`) belongs to a key in the pool. */
  paysToPool(to: string): boolean;
  /** The image with which the wallet was opened; null without one. */
  readonly before: { readonly columns: Columns; readonly notes: LedgerNotes } | null;
}

const ENTRIES_AT_ONCE = 256;

export function* ledgerImage(
  source: LedgerSource,
): Slices<{ readonly columns: Columns; readonly notes: LedgerNotes } | null> {
  const { index, before, others, nextOrderPos } = source;
  const held = [...index.awake()];
  const loose = held.filter(({ state }) => state !== 'confirmed').map(({ key }) => toHex(fromLatin1(key)));
  const asBefore = before !== null && index.isAsItBegan && loose.length === held.length;
  const settled = asBefore ? [] : yield* settledOf(source);
  if (settled === null) return null;
  const tip = asBefore ? before.notes.tip : tipOf(settled);
  // No image is written, because the node's chain may differ from the chain that the wallet follows.
  if (tip !== null && source.port.heightOf(Buffer.from(tip.hash, 'hex')) !== tip.height) return null;
  const columns = asBefore
    ? { ...before.columns, ownLeft: index.spent.leftInColumns }
    : yield* packTxs(settled, {
        isLeft: index.spent.leftNow(),
        isFinished: ({ isCoinbase, inputs, outputs }) =>
          (isCoinbase || inputs.every((input) => index.spent.isOnlySpender(input))) &&
          outputs.every(({ to }) => !source.paysToPool(to)),
      });
  const paidBy = asBefore ? before.notes.paidBy : paidByRows(index, settled);
  return {
    columns: { ...columns, idWords: index.ids.words, others: others.words },
    notes: { nextOrderPos, idCount: index.ids.count, otherCount: others.size, tip, loose, paidBy },
  };
}

/** All transactions in blocks of the active chain, in order; null if a transaction is not in the expected block. */
function* settledOf({ index, port }: LedgerSource): Slices<Entry[] | null> {
  const settled: Entry[] = [];
  let last: { hash: Bytes; height: number } | null = null;
  let count = 0;
  for (const entry of index.all()) {
    if (++count % ENTRIES_AT_ONCE === 0) yield;
    if (entry.state !== 'confirmed') continue;
    const { blockHash } = entry;
    if (last === null || Buffer.compare(last.hash, blockHash) !== 0)
      last = { hash: blockHash, height: port.heightOf(blockHash) };
    if (last.height !== entry.height || entry.orderPos < 0) return null;
    settled.push(entry);
  }
  return settled;
}

/** Positions in `settled` of the transactions that were sent from each named deprecated account. */
function paidByRows(index: EntryIndex, settled: readonly Entry[]): LedgerNotes['paidBy'] {
  const payers = new Map<Entry, string>();
  for (const account of index.payers()) for (const entry of index.paidBy(account)) payers.set(entry, account);
  const rows = new Map<string, number[]>();
  if (payers.size === 0) return [];
  for (const [row, entry] of settled.entries()) {
    const account = payers.get(entry);
    if (account === undefined) continue;
    const known = rows.get(account);
    if (known === undefined) rows.set(account, [row]);
    else known.push(row);
  }
  return [...rows];
}

function tipOf(settled: readonly Entry[]): LedgerNotes['tip'] {
  let tip: Entry | null = null;
  for (const entry of settled) if (tip === null || entry.height > tip.height) tip = entry;
  return tip === null ? null : { hash: toHex(tip.blockHash), height: tip.height };
}
