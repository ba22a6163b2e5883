/**
 * Reads the address index: sums, history and unspent outputs of several scripts together, in chain order and in pages. Each
 * entry has a mark, a key by which entries are sorted. A page starts after the mark of the last entry on the previous page,
 * so that new blocks do not shift the pages. Memory use depends on the size of a page, not on the length of the history.
 */
import { u32Key } from '../store/rows/keys.js';
import { prefixEnd, type RowReader } from '../store/rows/rows.js';
import { asBuffer, fromLatin1, toLatin1, type Bytes } from '../util/bytes.js';
import {
  historyPrefix,
  parseHistoryRow,
  parseTotals,
  totalsKey,
  unspentPrefix,
  type ScriptMove,
  type ScriptTotals,
} from './addressRows.js';

/**
 * Number of bytes of a mark. A history mark has height and index of the transaction in its block; an unspent mark has height
 * and outpoint.
 */
export const HISTORY_MARK_BYTES = 8;
export const UNSPENT_MARK_BYTES = 40;

export interface PageRequest {
  /** Maximum number of entries per page, at least 1. */
  limit: number;
  /** Mark of the last entry of the previous page; undefined for the first page. */
  after?: Bytes | undefined;
  /** Whether the order is descending. `after` is then the mark of the lowest entry of the previous page. */
  descending?: boolean;
  /** Lowest and highest height of the range, both inclusive. Absent: no limit. */
  startHeight?: number | undefined;
  endHeight?: number | undefined;
}

export interface AddressRowsPage<T> {
  entries: T[];
  /** Mark of the last entry of this page; null if no entries follow. */
  next: Buffer | null;
}

/** Effect of a transaction on all requested scripts together. */
export interface HistoryEntry extends ScriptMove {
  txid: Buffer;
  height: number;
  /** Index of the transaction in its block. */
  position: number;
}

export interface UnspentEntry {
  /** Outpoint of 36 bytes: txid in wire order, output number little-endian. */
  outPoint: Buffer;
  height: number;
  amountSat: bigint;
  /** Key of the script that the output pays to. */
  scriptKey: string;
}

interface MarkedRow {
  mark: string;
  scriptKey: string;
  value: Bytes;
}

export class AddressQueries {
  private readonly rows: RowReader;

  constructor(rows: RowReader) {
    this.rows = rows;
  }

  /** Returns the sums of the scripts, in the order of the keys. */
  async totals(scriptKeys: readonly string[]): Promise<ScriptTotals[]> {
    const rows = await this.rows.getMany(scriptKeys.map(totalsKey));
    // Rows that do not exist are holes in the array, which `rows.map` would skip.
    return scriptKeys.map((_, n) => parseTotals(rows[n]));
  }

  /** Transactions that pay to or spend from any of the scripts, each once, in chain order. `scriptKeys` must be distinct. */
  async history(scriptKeys: readonly string[], request: PageRequest): Promise<AddressRowsPage<HistoryEntry>> {
    const marked = new Map<string, HistoryEntry>();
    for (const { mark, value } of await this.collect(scriptKeys, historyPrefix, request)) {
      const move = parseHistoryRow(value);
      // A transaction has one row for each script that it affects. The rows are added up.
      const known = marked.get(mark);
      if (!known) marked.set(mark, { ...move, height: heightOf(mark), position: positionOf(mark) });
      else {
        known.receivedSat += move.receivedSat;
        known.spentSat += move.spentSat;
      }
    }
    return pageOf(marked, request.limit);
  }

  /** Unspent outputs of the scripts at the tip, sorted from the oldest. `scriptKeys` must be distinct. */
  async unspent(scriptKeys: readonly string[], request: PageRequest): Promise<AddressRowsPage<UnspentEntry>> {
    const marked = new Map<string, UnspentEntry>();
    for (const { mark, scriptKey, value } of await this.collect(scriptKeys, unspentPrefix, request)) {
      marked.set(mark, {
        outPoint: fromLatin1(mark.slice(4)),
        height: heightOf(mark),
        amountSat: asBuffer(value).readBigInt64LE(),
        scriptKey,
      });
    }
    return pageOf(marked, request.limit);
  }

  /**
   * Reads the rows of a page, and of one more entry, which shows whether another page follows. The rows are sorted by their
   * marks.
   */
  private async collect(
    scriptKeys: readonly string[],
    prefixOf: (scriptKey: string) => string,
    { limit, after, startHeight = 0, endHeight, descending = false }: PageRequest,
  ): Promise<MarkedRow[]> {
    let page: MarkedRow[] = [];
    const mark = after ? toLatin1(after) : null;
    const behind = mark !== null && !descending ? `${mark}\0` : '';
    for (const scriptKey of scriptKeys) {
      const prefix = prefixOf(scriptKey);
      const first = u32Key(startHeight);
      const gte = prefix + (behind > first ? behind : first);
      const end = endHeight === undefined ? prefixEnd(prefix) : prefix + u32Key(endHeight + 1);
      const lt = mark !== null && descending && prefix + mark < end ? prefix + mark : end;
      if (gte >= lt) continue;
      for await (const [key, value] of this.rows.range({ gte, lt, limit: limit + 1, reverse: descending })) {
        page.push({ mark: key.slice(prefix.length), scriptKey, value });
      }
      page = firstEntries(page, limit + 1, descending);
    }
    return page;
  }
}

function heightOf(mark: string): number {
  return fromLatin1(mark.slice(0, 4)).readUInt32BE();
}

function positionOf(mark: string): number {
  return fromLatin1(mark.slice(4)).readUInt32BE();
}

/** Returns the mark (sortable position in the chain) of a history entry. */
export function historyMark({ height, position }: Pick<HistoryEntry, 'height' | 'position'>): Buffer {
  const mark = Buffer.alloc(HISTORY_MARK_BYTES);
  mark.writeUInt32BE(height);
  mark.writeUInt32BE(position, 4);
  return mark;
}

/** Sorts the rows and returns those of the first `count` entries. Several rows with the same mark are one entry. */
function firstEntries(rows: MarkedRow[], count: number, descending: boolean): MarkedRow[] {
  const first = descending ? 1 : -1;
  rows.sort((a, b) => (a.mark < b.mark ? first : a.mark > b.mark ? -first : 0));
  let entries = 0;
  for (let i = 0; i < rows.length; i++) {
    if (i > 0 && rows[i]!.mark === rows[i - 1]!.mark) continue;
    if (++entries > count) return rows.slice(0, i);
  }
  return rows;
}

function pageOf<T>(marked: ReadonlyMap<string, T>, limit: number): AddressRowsPage<T> {
  const entries = [...marked.values()];
  if (entries.length <= limit) return { entries, next: null };
  return { entries: entries.slice(0, limit), next: fromLatin1([...marked.keys()][limit - 1]!) };
}
