/**
 * The index's rows while one block changes them, and what is kept to take the block back: of each row that it changed what
 * was there before. Owns the undo rows. Whoever gives up a block writes the rows before back, whatever made them.
 */
import { RowDecoder, RowEncoder } from '../../store/claims/rowCodec.js';
import { prefixEnd, type RowReader, type RowTransaction } from '../../store/rows.js';
import { breathe } from '../../util/breathe.js';
import { equalBytes, type Bytes } from '../../util/bytes.js';
import { heightOfKey, UNDO_PREFIX, undoKey } from './claimIndexKeys.js';

/** Rows written or read between two looks at clock and memory. */
const ROWS_A_LOOK = 500;
/** An undo row is closed when it has grown to this size. */
const CHUNK_BYTES = 32 << 10;
const ABSENT = 0;

export class NotedRows {
  private readonly rows: RowTransaction;
  /** What was there before the block, of every row that was looked at. */
  private readonly before = new Map<string, Bytes | null>();
  private readonly changes = new Map<string, Bytes | null>();

  constructor(rows: RowTransaction) {
    this.rows = rows;
  }

  /** Reads rows, in order, so that `get` knows them. */
  async load(keys: Iterable<string>): Promise<void> {
    const missing = [...new Set(keys)].filter((key) => !this.before.has(key));
    let since = performance.now();
    for (let at = 0; at < missing.length; at += ROWS_A_LOOK) {
      const part = missing.slice(at, at + ROWS_A_LOOK);
      const found = await this.rows.getMany(part);
      part.forEach((key, i) => this.before.set(key, found[i] ?? null));
      since = await breathe(since);
    }
  }

  /** The row as the block leaves it so far, null for none. It must have been loaded. */
  get(key: string): Bytes | null {
    const changed = this.changes.get(key);
    if (changed !== undefined) return changed;
    return this.former(key);
  }

  /** The row as it was before the block. It must have been loaded. */
  former(key: string): Bytes | null {
    const row = this.before.get(key);
    if (row === undefined) throw new Error('a row of the claim index was used before it was loaded');
    return row;
  }

  /** Writes a row, or deletes it. */
  set(key: string, value: Bytes | null): void {
    this.changes.set(key, value);
  }

  /** As `set`, of a row of which it is known that the block finds none. */
  setNew(key: string, value: Bytes): void {
    if (!this.before.has(key)) this.before.set(key, null);
    this.changes.set(key, value);
  }

  /** As `set` to nothing, of a row that the block finds so or made itself. */
  delKnown(key: string, former: Bytes): void {
    if (!this.before.has(key)) this.before.set(key, former);
    this.changes.set(key, null);
  }

  /** Hands the changes on, with undo rows for a block of this height unless it is null. */
  async finish(undoHeight: number | null): Promise<void> {
    await this.load(this.changes.keys());
    const encoder = new RowEncoder();
    let chunk = 0;
    const close = (): void => {
      if (undoHeight !== null) this.rows.put(undoKey(undoHeight, chunk++), encoder.finish());
    };
    let count = 0;
    let since = performance.now();
    for (const [key, value] of this.changes) {
      const former = this.before.get(key) ?? null;
      if (former === value || (former !== null && value !== null && equalBytes(former, value))) continue;
      if (value === null) this.rows.del(key);
      else this.rows.put(key, value);
      if (undoHeight !== null) {
        encoder.string(key).number(former === null ? ABSENT : former.length + 1);
        if (former !== null) encoder.bytes(former);
        if (encoder.size >= CHUNK_BYTES) close();
      }
      if (++count % ROWS_A_LOOK !== 0) continue;
      await this.rows.relieve();
      since = await breathe(since);
    }
    // A block without changes has one too: where there is none the way back ends.
    if (encoder.size > 0 || chunk === 0) close();
  }
}

/** Whether the block of this height can be taken back. */
export async function canTakeBack(rows: RowReader, height: number): Promise<boolean> {
  return (await rows.get(undoKey(height, 0))) !== undefined;
}

/** Brings every row back to what it was before the block of this height, and drops its undo rows. */
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
    since = await breathe(since);
  }
}

/** The lowest height with undo rows, or null. A walk over what was dropped: not for every block. */
export async function firstUndoHeight(rows: RowReader): Promise<number | null> {
  const [first] = await rows.getRange({ gte: UNDO_PREFIX, lt: prefixEnd(UNDO_PREFIX), limit: 1 });
  return first === undefined ? null : heightOfKey(first[0]);
}

/** Deletes the chunks of rows that `keyOf` numbers from 0 on. */
export async function dropChunks(rows: RowTransaction, keyOf: (chunk: number) => string): Promise<void> {
  for (let chunk = 0; ; chunk++) {
    const key = keyOf(chunk);
    if ((await rows.get(key)) === undefined) return;
    rows.del(key);
  }
}
