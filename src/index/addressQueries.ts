/**
 * Reading the address index: sums, history and unspent outputs of some scripts together, in the order of the chain and
 * in pages. A page starts after the last mark of the previous page, so new blocks do not shift the pages. Memory is bounded
 * by the page, not by the history.
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

/** Marks of history are height and transaction number, those of unspent outputs height and outpoint. */
export const HISTORY_MARK_BYTES = 8;
export const UNSPENT_MARK_BYTES = 40;

export interface PageRequest {
  /** Maximum number of entries, at least 1. */
  limit: number;
  /** Mark of the last entry that the caller has. */
  after?: Bytes | undefined;
  /** Descending order: `after` is then the mark of the lowest entry that the caller has. */
  descending?: boolean;
  /** Heights, both included. */
  startHeight?: number | undefined;
  endHeight?: number | undefined;
}

export interface Page<T> {
  entries: T[];
  /** Mark of the last entry; null when nothing follows. */
  next: Buffer | null;
}

/** The combined effect of a transaction on the requested scripts. */
export interface HistoryEntry extends ScriptMove {
  txid: Buffer;
  height: number;
  /** The number of the transaction in its block. */
  position: number;
}

export interface UnspentEntry {
  /** 36 bytes: txid in wire order, output number little endian. */
  outPoint: Buffer;
  height: number;
  amountSat: bigint;
  /** The key of the script that it pays to. */
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

  /** The sums of each script, in order. */
  async totals(scriptKeys: readonly string[]): Promise<ScriptTotals[]> {
    const rows = await this.rows.getMany(scriptKeys.map(totalsKey));
    // Absent rows are holes in the array, which `map` would skip.
    return scriptKeys.map((_, n) => parseTotals(rows[n]));
  }

  /** The transactions that touched one of the scripts, each once, in chain order. `scriptKeys` are distinct. */
  async history(scriptKeys: readonly string[], request: PageRequest): Promise<Page<HistoryEntry>> {
    const marked = new Map<string, HistoryEntry>();
    for (const { mark, value } of await this.collect(scriptKeys, historyPrefix, request)) {
      const move = parseHistoryRow(value);
      // A transaction has one row for each script that it touches.
      const known = marked.get(mark);
      if (!known) marked.set(mark, { ...move, height: heightOf(mark), position: positionOf(mark) });
      else {
        known.receivedSat += move.receivedSat;
        known.spentSat += move.spentSat;
      }
    }
    return pageOf(marked, request.limit);
  }

  /** The outputs of the scripts that are unspent at the tip, the oldest first. `scriptKeys` are distinct. */
  async unspent(scriptKeys: readonly string[], request: PageRequest): Promise<Page<UnspentEntry>> {
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

  /** The rows of the page and of one more entry, in the order of their marks. */
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

/** The mark of an entry of a history. */
export function historyMark({ height, position }: Pick<HistoryEntry, 'height' | 'position'>): Buffer {
  const mark = Buffer.alloc(HISTORY_MARK_BYTES);
  mark.writeUInt32BE(height);
  mark.writeUInt32BE(position, 4);
  return mark;
}

/** The rows of the first `count` entries, sorted. */
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

function pageOf<T>(marked: ReadonlyMap<string, T>, limit: number): Page<T> {
  const entries = [...marked.values()];
  if (entries.length <= limit) return { entries, next: null };
  return { entries: entries.slice(0, limit), next: fromLatin1([...marked.keys()][limit - 1]!) };
}
