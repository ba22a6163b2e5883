/**
 * The index rows that consecutive blocks change, in memory, and the undo data of each block: the previous value of each changed
 * row. Disconnecting a block restores the previous values from its undo rows.
 */
import { RowDecoder, RowEncoder } from '../../store/claims/rows/rowCodec.js';
import { PREFIX } from '../../store/rows/keys.js';
import { PackedValues, type RecordWriter } from '../../store/rows/rowRecords.js';
import { prefixEnd, type RowReader, type RowTransaction, type RowWriter } from '../../store/rows/rows.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import { equalBytes, type Bytes } from '../../util/bytes.js';
import type { MaybePromise } from '../../util/maybePromise.js';
import { heightOfKey, UNDO_PREFIX, undoKey } from './claimIndexKeys.js';

/** Number of rows that are written between two checks whether to yield to the event loop and to write pending rows to disk. */
const ROWS_A_LOOK = 500;
/** Number of rows that are read in one call to a thread, between two checks whether to yield: some milliseconds. Arbitrary. */
const READ_AT_ONCE = 2000;
/** Minimum number of rows that are read in packed form, as one buffer. Arbitrary. */
const MANY_ROWS = 100;
/** Size in bytes at which an undo row ends and the next one starts. */
const CHUNK_BYTES = 32 << 10;
const ABSENT = 0;

/**
 * Writes the rows of one block as packed records, without an entry of the row transaction for each row. Afterwards the block
 * must not read rows of the index, because that would unpack all records.
 */
export class PackedRows implements RowWriter {
  private readonly rows: RowTransaction;
  private readonly records: RecordWriter;

  /** `records` is a reusable writer. Several instances may share it, if each ends by `handOn` before the next one starts. */
  constructor(rows: RowTransaction, records: RecordWriter) {
    this.rows = rows;
    this.records = records;
  }

  put(key: string, value: Bytes): void {
    this.records.add(key, value);
  }

  del(key: string): void {
    this.records.add(key, null);
  }

  /** Adds the rows to the transaction. Must be called after the last row; may also be called earlier. */
  handOn(): void {
    this.rows.putRecords(PREFIX.claimIndex, Buffer.from(this.records.take()));
  }

  /** Must be awaited every few hundred rows, or tens of kilobytes. See `RowTransaction.relieve`. */
  relieve(): Promise<void> {
    this.handOn();
    return this.rows.relieve();
  }
}

/** One row of the index while blocks change it. */
interface NotedRow {
  readonly key: string;
  /** Value before the block; null if the row did not exist, undefined if it is not read yet. */
  former: Bytes | null | undefined;
  /** Value after the block; null if the row is deleted, undefined if it is unchanged. */
  value: Bytes | null | undefined;
  /** Value in the database if an earlier block of the same run changed the row; undefined if none did. */
  stored: Bytes | null | undefined;
}

/** Rows of the index that consecutive blocks change. The blocks are written together. */
export class NotedRows {
  private readonly rows: RowTransaction;
  private readonly records: RecordWriter;
  private readonly noted = new Map<string, NotedRow>();
  /** Rows that the current block changes. */
  private changed: NotedRow[] = [];
  /** Rows that `finish` writes: those that the earlier blocks changed. */
  private readonly unwritten: NotedRow[] = [];
  /** Whether rows may have been changed without being read. */
  private hasUnread = false;

  /** `records` is the reusable writer of the block's rows. It must be empty while rows are loaded. */
  constructor(rows: RowTransaction, records: RecordWriter) {
    this.rows = rows;
    this.records = records;
  }

  /** Reads rows, so that `get` and `former` can return them. */
  load(keys: Iterable<string>): MaybePromise<void> {
    const missing: string[] = [];
    for (const key of new Set(keys)) if (this.noted.get(key)?.former === undefined) missing.push(key);
    return missing.length > 0 ? this.read(missing) : undefined;
  }

  private read(missing: readonly string[]): MaybePromise<void> {
    if (missing.length < MANY_ROWS) {
      const found = this.rows.getManyNow?.(missing);
      if (found) return this.take(missing, found);
    }
    return this.readInParts(missing);
  }

  private async readInParts(missing: readonly string[]): Promise<void> {
    let since = performance.now();
    for (let at = 0; at < missing.length; at += READ_AT_ONCE) {
      const part = missing.slice(at, at + READ_AT_ONCE);
      this.take(part, (await this.formerRows(part)) ?? (await this.rows.getMany(part)));
      since = await yieldIfDue(since);
    }
  }

  private take(keys: readonly string[], found: readonly (Bytes | undefined)[]): void {
    for (let i = 0; i < keys.length; i++) {
      const former = found[i] ?? null;
      const row = this.noted.get(keys[i]!);
      if (row === undefined) this.add(keys[i]!, former, undefined);
      else row.former = former;
    }
  }

  private add(key: string, former: NotedRow['former'], value: NotedRow['value']): NotedRow {
    const row: NotedRow = { key, former, value, stored: undefined };
    this.noted.set(key, row);
    return row;
  }

  /**
   * Reads many rows in one call. The row transaction must not contain changes of these rows yet; they are written only in
   * `finish`. Returns null if the rows are so few that single reads are faster.
   */
  private async formerRows(keys: readonly string[]): Promise<(Bytes | undefined)[] | null> {
    if (keys.length < MANY_ROWS) return null;
    const { records } = this;
    for (const key of keys) records.add(key, null);
    const packed = await this.rows.formerValues?.(records.take());
    if (!packed) return null;
    const values = new PackedValues(packed);
    return keys.map(() => {
      values.next();
      return values.length < 0 ? undefined : packed.subarray(values.start, values.start + values.length);
    });
  }

  /** Current value of a row, including changes by the block; null if the row does not exist. The row must have been loaded. */
  get(key: string): Bytes | null {
    const row = this.noted.get(key);
    return row?.value !== undefined ? row.value : formerOf(row);
  }

  /** Value of a row before the block; null if it did not exist. The row must have been loaded. */
  former(key: string): Bytes | null {
    return formerOf(this.noted.get(key));
  }

  /** Notes that a row did not exist before the first block, so that it need not be loaded. */
  noteAbsent(key: string): void {
    const row = this.noted.get(key);
    if (row === undefined) this.add(key, null, undefined);
    else row.former ??= null;
  }

  /** Sets a row to a value, or deletes it (null). */
  set(key: string, value: Bytes | null): void {
    this.change(key, value, undefined);
  }

  /** Like `set`, for a row that did not exist before the block and therefore need not be loaded. */
  setNew(key: string, value: Bytes): void {
    this.change(key, value, null);
  }

  /** Deletes a row whose present value (`former`) the caller knows, so that it need not be loaded. */
  delKnown(key: string, former: Bytes): void {
    this.change(key, null, former);
  }

  private change(key: string, value: Bytes | null, former: Bytes | null | undefined): void {
    let row = this.noted.get(key);
    if (row === undefined) {
      row = this.add(key, former, value);
      this.changed.push(row);
    } else {
      if (row.value === undefined) this.changed.push(row);
      row.value = value;
      if (row.former === undefined) row.former = former;
    }
    this.hasUnread ||= row.former === undefined;
  }

  /** Loads the rows that were changed and not read. Must be called before `endBlock`. */
  complete(): MaybePromise<void> {
    if (!this.hasUnread) return;
    this.hasUnread = false;
    const unread = this.changed.filter(({ former }) => former === undefined);
    return unread.length > 0 ? this.read(unread.map(({ key }) => key)) : undefined;
  }

  /** Ends a block. Returns its undo rows; null if `keepsUndo` is false. */
  endBlock(keepsUndo: boolean): MaybePromise<Buffer[] | null> {
    const { changed } = this;
    this.changed = [];
    const undo = keepsUndo ? new UndoRows() : null;
    if (changed.length <= ROWS_A_LOOK) {
      for (const row of changed) this.settle(row, undo);
      return undo && undo.finish();
    }
    return this.endLargeBlock(changed, undo);
  }

  private async endLargeBlock(changed: readonly NotedRow[], undo: UndoRows | null): Promise<Buffer[] | null> {
    let since = performance.now();
    for (const [i, row] of changed.entries()) {
      this.settle(row, undo);
      if (i % ROWS_A_LOOK === 0) since = await yieldIfDue(since);
    }
    return undo && undo.finish();
  }

  /** Makes the value of a row after the block its value before the next block. */
  private settle(row: NotedRow, undo: UndoRows | null): void {
    const { key, former, value } = row;
    row.value = undefined;
    if (value === undefined || former === undefined || former === value) return;
    if (former !== null && value !== null && equalBytes(former, value)) return;
    undo?.add(key, former);
    row.former = value;
    if (row.stored !== undefined) return;
    row.stored = former;
    this.unwritten.push(row);
  }

  /** Writes the changes of all ended blocks to `out`. */
  async finish(out: PackedRows): Promise<void> {
    let since = performance.now();
    for (const [i, { key, former, stored }] of this.unwritten.entries()) {
      if (former === null || former === undefined) {
        if (stored !== null) out.del(key);
      } else out.put(key, former);
      if (i % ROWS_A_LOOK !== ROWS_A_LOOK - 1) continue;
      await out.relieve();
      since = await yieldIfDue(since);
    }
  }
}

/** The undo rows of one block: the previous values of the rows that it changed. */
class UndoRows {
  private readonly encoder = new RowEncoder();
  private readonly chunks: Buffer[] = [];

  add(key: string, former: Bytes | null): void {
    const { encoder } = this;
    encoder.string(key).number(former === null ? ABSENT : former.length + 1);
    if (former !== null) encoder.bytes(former);
    if (encoder.size >= CHUNK_BYTES) this.chunks.push(encoder.finish());
  }

  /**
   * Returns the rows. There is at least one, even for a block without changes, because a missing row means that the block cannot
   * be disconnected.
   */
  finish(): Buffer[] {
    const { encoder, chunks } = this;
    if (encoder.size > 0 || chunks.length === 0) chunks.push(encoder.finish());
    return chunks;
  }
}

function formerOf(row: NotedRow | undefined): Bytes | null {
  if (row?.former === undefined) throw new Error('a row of the claim index was used before it was loaded');
  return row.former;
}

/** Whether the undo rows of the block at this height are stored, so that it can be disconnected. */
export async function canTakeBack(rows: RowReader, height: number): Promise<boolean> {
  return (await rows.get(undoKey(height, 0))) !== undefined;
}

/** Disconnects the block at this height: restores the previous value of every changed row, and deletes the undo rows. */
export async function takeBack(rows: RowTransaction, height: number): Promise<void> {
  let since = performance.now();
  for (let chunk = 0; ; chunk++) {
    const key = undoKey(height, chunk);
    const row = await rows.get(key);
    if (row === undefined) return;
    rows.del(key);
    const input = new RowDecoder(row);
    while (!input.done) {
      const changed = input.string();
      const length = input.number();
      if (length === ABSENT) rows.del(changed);
      else rows.put(changed, Buffer.from(input.bytes(length - 1)));
    }
    await rows.relieve();
    since = await yieldIfDue(since);
  }
}

/**
 * Lowest height with undo rows; null without any. The search is slow, because it skips deleted rows, so it must not run for
 * every block.
 */
export async function firstUndoHeight(rows: RowReader): Promise<number | null> {
  const [first] = await rows.getRange({ gte: UNDO_PREFIX, lt: prefixEnd(UNDO_PREFIX), limit: 1 });
  return first === undefined ? null : heightOfKey(first[0]);
}

/** Deletes the rows with the keys `keyOf(0)`, `keyOf(1)` and so on, up to the first that does not exist. */
export async function dropChunks(rows: RowTransaction, keyOf: (chunk: number) => string): Promise<void> {
  for (let count = await countChunks(rows, keyOf); count > 0;) rows.del(keyOf(--count));
}

/** Number of rows with the keys `keyOf(0)`, `keyOf(1)` and so on, up to the first that does not exist. */
export async function countChunks(rows: RowReader, keyOf: (chunk: number) => string): Promise<number> {
  let count = 0;
  while ((await rows.get(keyOf(count))) !== undefined) count++;
  return count;
}
