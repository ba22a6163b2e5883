/**
 * One table file as it is read: no byte of it becomes a row, an index or a filter before its checksum was right. Reads are
 * generators, so that one code serves synchronous and asynchronous callers (`runNow`, `run`).
 */
import { closeSync, openSync, read, readSync, rmSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { promisify } from 'node:util';
import { crc32c, maskCrc } from '../../crypto/crc32c.js';
import { fromLatin1 } from '../../util/bytes.js';
import { DatabaseCorruptionError } from '../levelDb.js';
import {
  BLOCK_TAIL_BYTES,
  TABLE_FOOT_BYTES,
  TABLE_MAGIC,
  VarintReader,
  type BlockHandle,
} from '../levelDbFormat.js';
import { lowerBound } from '../../util/lowerBound.js';
import { isPut, parseBlock, TAG_BYTES, valueAt, type Block } from './block.js';
import type { BlockCache } from './blockCache.js';
import { FILTER_NAME, mayHave } from './bloom.js';
import { fileError } from './fileError.js';

const readAt = promisify(read);

/** Bytes of a table that are wanted. */
export interface ReadRequest {
  readonly table: TableFile;
  readonly offset: number;
  readonly size: number;
}

/** Goes on with each request's bytes; may be left before its end. */
export type Reading<T> = Generator<ReadRequest, T, Buffer>;

/** Reads on the thread of the caller. */
export function runNow<T>(reading: Reading<T>): T {
  for (let step = reading.next(); ;) {
    if (step.done === true) return step.value;
    step = reading.next(step.value.table.readNow(step.value));
  }
}

/** Reads on other threads. What was at hand is answered in the same turn. */
export async function run<T>(reading: Reading<T>): Promise<T> {
  for (let step = reading.next(); ;) {
    if (step.done === true) return step.value;
    step = reading.next(await step.value.table.read(step.value));
  }
}

/** What is kept of a table while it is open. */
interface Opened {
  /** The last key of each data block, or one between it and the next block's first; the values are handles. */
  readonly index: Block;
  /** Empty where there are none. */
  readonly filters: Buffer;
}

/** A row that was found: null if it was deleted. */
export type Found = Buffer | null | undefined;

export class TableFile {
  readonly number: number;
  readonly sizeBytes: number;
  /** Keys with their tags. */
  readonly firstKey: Buffer;
  readonly lastKey: Buffer;
  /** First key without tag. */
  readonly first: string;
  readonly last: string;
  /** How many versions of the database have it that a caller may read. */
  holders = 0;
  private readonly path: string;
  private readonly cache: BlockCache;
  private fd: number | null = null;
  private reading = 0;
  private opened: Opened | null = null;
  private isGone = false;

  constructor(
    path: string,
    entry: { number: number; sizeBytes: number; first: Buffer; last: Buffer },
    cache: BlockCache,
  ) {
    this.path = path;
    this.cache = cache;
    this.number = entry.number;
    this.sizeBytes = entry.sizeBytes;
    this.firstKey = entry.first;
    this.lastKey = entry.last;
    this.first = userKey(entry.first);
    this.last = userKey(entry.last);
  }

  private damaged(what: string): DatabaseCorruptionError {
    return new DatabaseCorruptionError(dirname(this.path), `${basename(this.path)} ${what}`);
  }

  private failed(error: unknown): unknown {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
      ? this.damaged('is missing')
      : fileError(error, this.path);
  }

  private file(): number {
    this.fd ??= openSync(this.path, 'r');
    this.cache.used(this);
    return this.fd;
  }

  readNow({ offset, size }: ReadRequest): Buffer {
    const bytes = Buffer.allocUnsafe(size);
    try {
      const length = readSync(this.file(), bytes, 0, size, offset);
      if (length === size) return bytes;
    } catch (error) {
      throw this.failed(error);
    }
    throw this.damaged('is shorter than it was');
  }

  async read({ offset, size }: ReadRequest): Promise<Buffer> {
    const bytes = Buffer.allocUnsafe(size);
    this.reading++;
    try {
      const { bytesRead } = await readAt(this.file(), bytes, 0, size, offset);
      if (bytesRead === size) return bytes;
    } catch (error) {
      throw this.failed(error);
    } finally {
      this.reading--;
      if (this.isGone) this.close();
    }
    throw this.damaged('is shorter than it was');
  }

  /** Closes the file and forgets what was kept of it, unless it is being read. */
  close(): void {
    if (this.reading > 0) return;
    if (this.fd !== null) closeSync(this.fd);
    this.fd = null;
    this.opened = null;
    if (this.isGone) rmSync(this.path, { force: true });
  }

  /** No one will read it any more, and nothing of it is needed. */
  remove(): void {
    this.isGone = true;
    this.cache.forget(this);
    this.close();
  }

  /** The bytes of a block, and the one behind them that tells how they are packed. */
  private *bytesOf({ offset, size }: BlockHandle): Reading<Buffer> {
    if (offset + size + BLOCK_TAIL_BYTES > this.sizeBytes)
      throw this.damaged(`has a block beyond its end at byte ${offset}`);
    const bytes = yield { table: this, offset, size: size + BLOCK_TAIL_BYTES };
    if (maskCrc(crc32c(bytes.subarray(0, size + 1))) !== bytes.readUInt32LE(size + 1))
      throw this.damaged(`has a checksum mismatch in the block at byte ${offset}`);
    return bytes.subarray(0, size + 1);
  }

  private parsed(bytes: Buffer, tagBytes?: 0): Block {
    const block = parseBlock(bytes, tagBytes);
    if (block === null) throw this.damaged('has a block that cannot be read');
    return block;
  }

  private *open(): Reading<Opened> {
    if (this.opened !== null) {
      this.cache.used(this);
      return this.opened;
    }
    const foot = yield { table: this, offset: this.sizeBytes - TABLE_FOOT_BYTES, size: TABLE_FOOT_BYTES };
    if (foot.readBigUInt64LE(TABLE_FOOT_BYTES - 8) !== TABLE_MAGIC) throw this.damaged('has no end');
    const reader = new VarintReader(foot);
    const [meta, directory] = [reader.handle(), reader.handle()];
    const names = this.parsed(yield* this.bytesOf(meta), 0);
    const at = names.keys.indexOf(FILTER_NAME);
    const filters = at < 0 ? Buffer.alloc(0) : (yield* this.bytesOf(handleAt(names, at))).subarray(0, -1);
    const index = this.parsed(yield* this.bytesOf(directory));
    this.opened = { index, filters };
    this.cache.used(this);
    return this.opened;
  }

  *index(): Reading<Block> {
    return (yield* this.open()).index;
  }

  /** The data block with this number. */
  *block(index: Block, i: number, fillCache: boolean): Reading<Block> {
    const handle = handleAt(index, i);
    const known = this.cache.get(this.number, handle.offset);
    if (known !== undefined) return known;
    const block = this.parsed(yield* this.bytesOf(handle));
    if (fillCache) this.cache.set(this.number, handle.offset, block);
    return block;
  }

  /** The newest change of a key. */
  *find(key: string, fillCache: boolean): Reading<Found> {
    const { index, filters } = yield* this.open();
    let bytes: Buffer | null = null;
    // A key that ends one block may continue in the next: but its newest change is where it begins.
    for (let i = lowerBound(index.keys, key); i < index.keys.length; i++) {
      if (filters.length > 0 && !mayHave(filters, handleAt(index, i).offset, (bytes ??= fromLatin1(key))))
        return undefined;
      const block = yield* this.block(index, i, fillCache);
      const at = lowerBound(block.keys, key);
      if (at === block.keys.length) continue;
      if (block.keys[at] !== key) return undefined;
      return isPut(block.tags[at]!) ? valueAt(block, at) : null;
    }
    return undefined;
  }

  /** About where in the file a key would be. */
  *offsetOf(key: string): Reading<number> {
    const index = yield* this.index();
    const at = lowerBound(index.keys, key);
    return at < index.keys.length ? handleAt(index, at).offset : this.sizeBytes;
  }
}

function handleAt(directory: Block, i: number): BlockHandle {
  return new VarintReader(valueAt(directory, i)).handle();
}

function userKey(key: Buffer): string {
  return key.toString('latin1', 0, key.length - TAG_BYTES);
}
