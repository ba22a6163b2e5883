/**
 * The rows of the index while one block changes them, and the undo data: for each changed row its previous value. Owns the
 * undo rows. Disconnecting a block restores the previous rows.
 */
import { RowDecoder, RowEncoder } from '../../store/claims/rows/rowCodec.js';
import { PREFIX } from '../../store/rows/keys.js';
import { PackedValues, type RecordWriter } from '../../store/rows/rowRecords.js';
import { prefixEnd, type RowReader, type RowTransaction } from '../../store/rows/rows.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import { equalBytes, type Bytes } from '../../util/bytes.js';
import { heightOfKey, UNDO_PREFIX, undoKey } from './claimIndexKeys.js';

/** Rows written between two checks of time and memory. */
const ROWS_A_LOOK = 500;
/** Rows read between two checks of the time: some milliseconds, in one call to a thread. Arbitrary. */
const READ_AT_ONCE = 2000;
/** Number of rows from which they are read in packed form. Arbitrary. */
const MANY_ROWS = 100;
/** An undo row is closed when it reaches this size. */
const CHUNK_BYTES = 32 << 10;
const ABSENT = 0;

/** One row of the index while a block changes it. */
interface NotedRow {
  /** Value before the block; null for none, undefined while unknown. */
  former: Bytes | null | undefined;
  /** Value after the block; undefined if unchanged. */
  value: Bytes | null | undefined;
}

export class NotedRows {
  private readonly rows: RowTransaction;
  private readonly records: RecordWriter;
  private readonly noted = new Map<string, NotedRow>();

  /** `records` is a scratch writer. Blocks use it one after another, each until `finish`. */
  constructor(rows: RowTransaction, records: RecordWriter) {
    this.rows = rows;
    this.records = records;
  }

  /** Reads rows so that `get` returns them. */
  async load(keys: Iterable<string>): Promise<void> {
    const missing: string[] = [];
    for (const key of new Set(keys)) if (this.noted.get(key)?.former === undefined) missing.push(key);
    let since = performance.now();
    for (let at = 0; at < missing.length; at += READ_AT_ONCE) {
      const part = missing.slice(at, at + READ_AT_ONCE);
      const found = (await this.formerRows(part)) ?? (await this.rows.getMany(part));
      part.forEach((key, i) => {
        const former = found[i] ?? null;
        const row = this.noted.get(key);
        if (row === undefined) this.noted.set(key, { former, value: undefined });
        else row.former = former;
      });
      since = await yieldIfDue(since);
    }
  }

  /**
   * Reads many rows in one call. The transaction must not hold any of them, since rows are written in `finish`. Null for few
   * rows.
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

  /** The current value of the row; null for no row. It must have been loaded. */
  get(key: string): Bytes | null {
    const row = this.noted.get(key);
    return row?.value !== undefined ? row.value : formerOf(row);
  }

  /** The row as it was before the block. It must have been loaded. */
  former(key: string): Bytes | null {
    return formerOf(this.noted.get(key));
  }

  /** Writes a row, or deletes it. */
  set(key: string, value: Bytes | null): void {
    this.change(key, value, undefined);
  }

  /** Like `set`, for a row that did not exist before the block. */
  setNew(key: string, value: Bytes): void {
    this.change(key, value, null);
  }

  /** Deletes a row that was read before, or that the block created. */
  delKnown(key: string, former: Bytes): void {
    this.change(key, null, former);
  }

  private change(key: string, value: Bytes | null, former: Bytes | null | undefined): void {
    const row = this.noted.get(key);
    if (row === undefined) this.noted.set(key, { former, value });
    else {
      row.value = value;
      if (row.former === undefined) row.former = former;
    }
  }

  /**
   * Writes the changes to the transaction, and undo rows for this height unless it is null. Call it last: the rows are
   * passed as packed records, and reading one of them later would unpack all.
   */
  async finish(undoHeight: number | null): Promise<void> {
    const unread: string[] = [];
    for (const [key, { former }] of this.noted) if (former === undefined) unread.push(key);
    await this.load(unread);
    const { records } = this;
    const handOn = (): void => this.rows.putRecords(PREFIX.claimIndex, Buffer.from(records.take()));
    const encoder = new RowEncoder();
    let chunk = 0;
    const close = (): void => {
      if (undoHeight !== null) records.add(undoKey(undoHeight, chunk++), encoder.finish());
    };
    let count = 0;
    let since = performance.now();
    for (const [key, { former, value }] of this.noted) {
      if (value === undefined || former === undefined || former === value) continue;
      if (former !== null && value !== null && equalBytes(former, value)) continue;
      records.add(key, value);
      if (undoHeight !== null) {
        encoder.string(key).number(former === null ? ABSENT : former.length + 1);
        if (former !== null) encoder.bytes(former);
        if (encoder.size >= CHUNK_BYTES) close();
      }
      if (++count % ROWS_A_LOOK !== 0) continue;
      handOn();
      await this.rows.relieve();
      since = await yieldIfDue(since);
    }
    // A block without changes has an undo row too: a missing row means that the block cannot be disconnected.
    if (encoder.size > 0 || chunk === 0) close();
    handOn();
  }
}

function formerOf(row: NotedRow | undefined): Bytes | null {
  if (row?.former === undefined) throw new Error('a row of the claim index was used before it was loaded');
  return row.former;
}

/** Whether the block of this height can be disconnected. */
export async function canTakeBack(rows: RowReader, height: number): Promise<boolean> {
  return (await rows.get(undoKey(height, 0))) !== undefined;
}

/** Restores every row to its value before the block of this height, and drops the undo rows. */
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

/** The lowest height with undo rows, or null. Slow, since it skips deleted rows: not for every block. */
export async function firstUndoHeight(rows: RowReader): Promise<number | null> {
  const [first] = await rows.getRange({ gte: UNDO_PREFIX, lt: prefixEnd(UNDO_PREFIX), limit: 1 });
  return first === undefined ? null : heightOfKey(first[0]);
}

/** Deletes the rows `keyOf(0)`, `keyOf(1)` and so on. */
export async function dropChunks(rows: RowTransaction, keyOf: (chunk: number) => string): Promise<void> {
  for (let chunk = 0; ; chunk++) {
    const key = keyOf(chunk);
    if ((await rows.get(key)) === undefined) return;
    rows.del(key);
  }
}
