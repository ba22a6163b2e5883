/**
 * Table of all known headers. It uses typed arrays as columns instead of objects, so each of 1.6 million headers takes about
 * 110 bytes. Stores the ids (a header's row number, in the order of arrival, never reused), the index by hash, parents,
 * heights, work, status and file positions. Merkle roots and nonces stay on disk, because they are needed only when a header
 * is printed or sent. The table does not select the active chain.
 */
import { assert } from '../../util/assert.js';
import { equalBytes, type Bytes } from '../../util/bytes.js';
import type { MaybePromise } from '../../util/maybePromise.js';
import type { BlockHeader } from '../../primitives/header.js';
import type { FilePosition } from './blockFiles.js';
import { PREFIX, u32Key } from '../rows/keys.js';
import type { RowReader, RowWriter } from '../rows/rows.js';

export const CHUNK_ROWS = 512;
const COLD_BYTES = 68;
/**
 * Maximum number of clean cold chunks in memory, 34 KiB each. A cold chunk contains the merkle roots and nonces of a range
 * of headers. Arbitrary.
 */
const COLD_CHUNKS = 64;

/** Bits of a header's status. They have the meaning of Core's `BlockStatus`, with different values. */
export const STATUS = {
  /** The block data passed all checks that do not need the UTXO set. */
  validTransactions: 1,
  /** The block was connected once, so coins, scripts and claims were valid. */
  validScripts: 2,
  haveData: 4,
  haveUndo: 8,
  failed: 16,
  failedChild: 32,
  /** Set together with `failed`: the block failed when it was connected, so the failure depends on coins and claims. */
  failedConnecting: 64,
} as const;
export const STATUS_FAILED_MASK = STATUS.failed | STATUS.failedChild;

export const NO_HEADER = -1;

/** Consecutive blocks whose data is in one file. */
export interface HeaderRun {
  /** Number of the file; -1 if the run is empty. */
  readonly file: number;
  /** Offset of each block's data in the file, in ascending order. */
  readonly starts: Uint32Array;
  /** Block hashes, 32 bytes each, in wire order. */
  readonly hashes: Buffer;
}

interface Columns {
  hash: Uint8Array;
  prev: Int32Array;
  height: Int32Array;
  version: Int32Array;
  timeSec: Uint32Array;
  bits: Uint32Array;
  /** Total work of each header: 128 bits as four words, beginning with the least significant word. */
  work: Uint32Array;
  status: Uint8Array;
  file: Int32Array;
  dataOffset: Uint32Array;
  undoOffset: Uint32Array;
  txCount: Uint32Array;
  chainTxCount: Float64Array;
}

/**
 * Column names, and the number of bytes for each row. Wide columns come first, so that every column of a packed chunk is
 * aligned.
 */
const LAYOUT: readonly [keyof Columns, number][] = [
  ['chainTxCount', 8],
  ['work', 16],
  ['hash', 32],
  ['prev', 4],
  ['height', 4],
  ['version', 4],
  ['timeSec', 4],
  ['bits', 4],
  ['file', 4],
  ['dataOffset', 4],
  ['undoOffset', 4],
  ['txCount', 4],
  ['status', 1],
];
const HOT_BYTES = LAYOUT.reduce((sum, [, width]) => sum + width, 0);

function makeColumns(rows: number): Columns {
  return {
    hash: new Uint8Array(rows * 32),
    prev: new Int32Array(rows),
    height: new Int32Array(rows),
    version: new Int32Array(rows),
    timeSec: new Uint32Array(rows),
    bits: new Uint32Array(rows),
    work: new Uint32Array(rows * 4),
    status: new Uint8Array(rows),
    file: new Int32Array(rows),
    dataOffset: new Uint32Array(rows),
    undoOffset: new Uint32Array(rows),
    txCount: new Uint32Array(rows),
    chainTxCount: new Float64Array(rows),
  };
}

const hotKey = (chunk: number): string => PREFIX.headerChunk + '\x00' + u32Key(chunk);
const coldKey = (chunk: number): string => PREFIX.headerChunk + '\x01' + u32Key(chunk);

export class HeaderTable {
  private columns: Columns = makeColumns(CHUNK_ROWS);
  private capacity = CHUNK_ROWS;
  private rows = 0;
  private changeCount = 0;
  /**
   * Hash table with open addressing: id + 1 of a header, by the bytes of its hash that proof of work does not make zero (the
   * first bytes in wire order).
   */
  private index = new Int32Array(2048);
  private readonly dirty = new Set<number>();
  /** Cold chunks (merkle roots and nonces) in memory: those with unflushed rows, and those that were read last. */
  private readonly cold = new Map<number, Buffer>();
  private readonly rowsReader: RowReader;

  constructor(rowsReader: RowReader) {
    this.rowsReader = rowsReader;
  }

  get count(): number {
    return this.rows;
  }

  /** Number of bytes of memory that the columns and the index by hash use. */
  get usageBytes(): number {
    const columns = Object.values(this.columns).reduce((sum, { byteLength }) => sum + byteLength, 0);
    return columns + this.index.byteLength;
  }

  /** Counter that increases with every added header and every change of a header. */
  get changes(): number {
    return this.changeCount;
  }

  /** Loads all hot columns: one read for each chunk, without creating objects. */
  async load(count: number): Promise<void> {
    this.grow(count);
    const batch = 64;
    const chunks = Math.ceil(count / CHUNK_ROWS);
    for (let first = 0; first < chunks; first += batch) {
      const numbers = Array.from({ length: Math.min(batch, chunks - first) }, (_, i) => first + i);
      const values = await this.rowsReader.getMany(numbers.map(hotKey), { once: true });
      numbers.forEach((chunk, i) => {
        const value = values[i];
        assert(value, `header chunk ${chunk} is missing`);
        this.unpack(chunk, value);
      });
    }
    this.rows = count;
    this.rehash();
  }

  private unpack(chunk: number, value: Bytes): void {
    const count = value.length / HOT_BYTES;
    let at = 0;
    const first = chunk * CHUNK_ROWS;
    for (const [name, width] of LAYOUT) {
      const column = this.columns[name];
      const bytes = new Uint8Array(column.buffer, first * width, count * width);
      bytes.set(value.subarray(at, at + count * width));
      at += count * width;
    }
  }

  private grow(rows: number): void {
    if (rows <= this.capacity) return;
    // The capacity grows by a quarter. Doubling would need 80 MB of zeros for the current chain.
    const capacity = Math.max(Math.ceil((rows * 1.25) / CHUNK_ROWS) * CHUNK_ROWS, CHUNK_ROWS * 4);
    const larger = makeColumns(capacity);
    for (const [name] of LAYOUT) (larger[name] as Uint8Array).set(this.columns[name] as Uint8Array);
    this.columns = larger;
    this.capacity = capacity;
  }

  private rehash(): void {
    let size = 2048;
    while (size < this.rows * 2) size *= 2;
    this.index = new Int32Array(size);
    for (let id = 0; id < this.rows; id++) this.indexInsert(id);
  }

  private slotOf(hash: Bytes, at: number): number {
    return (
      (hash[at]! | (hash[at + 1]! << 8) | (hash[at + 2]! << 16) | (hash[at + 3]! << 24)) &
      (this.index.length - 1)
    );
  }

  private indexInsert(id: number): void {
    const mask = this.index.length - 1;
    let slot = this.slotOf(this.columns.hash, id * 32);
    while (this.index[slot] !== 0) slot = (slot + 1) & mask;
    this.index[slot] = id + 1;
  }

  /** Id of the header with this hash (wire order), or `NO_HEADER`. */
  find(hash: Bytes): number {
    const mask = this.index.length - 1;
    const column = this.columns.hash;
    for (let slot = this.slotOf(hash, 0); ; slot = (slot + 1) & mask) {
      const id = this.index[slot]! - 1;
      if (id < 0) return NO_HEADER;
      const at = id * 32;
      if (equalBytes(column.subarray(at, at + 32), hash)) return id;
    }
  }

  /**
   * Adds a header whose parent is known (`NO_HEADER` for the genesis block). `work` is the total work of the chain up to
   * this header.
   */
  add(header: BlockHeader, hash: Bytes, prev: number, work: bigint): number {
    const id = this.rows;
    this.grow(id + 1);
    this.rows++;
    const c = this.columns;
    c.hash.set(hash, id * 32);
    c.prev[id] = prev;
    c.height[id] = prev === NO_HEADER ? 0 : c.height[prev]! + 1;
    c.version[id] = header.version;
    c.timeSec[id] = header.timeSec;
    c.bits[id] = header.bits;
    for (let word = 0; word < 4; word++)
      c.work[id * 4 + word] = Number((work >> BigInt(32 * word)) & 0xffffffffn);
    c.file[id] = -1;
    if (this.rows * 2 > this.index.length) this.rehash();
    else this.indexInsert(id);
    const chunk = Math.floor(id / CHUNK_ROWS);
    let cold = this.cold.get(chunk);
    if (!cold) {
      cold = Buffer.alloc(CHUNK_ROWS * COLD_BYTES);
      this.cold.set(chunk, cold);
    }
    const at = (id % CHUNK_ROWS) * COLD_BYTES;
    cold.set(header.merkleRoot, at);
    cold.set(header.claimRoot, at + 32);
    cold.writeUInt32LE(header.nonce, at + 64);
    this.touch(id);
    return id;
  }

  private touch(id: number): void {
    this.changeCount++;
    this.dirty.add(Math.floor(id / CHUNK_ROWS));
  }

  /** Hash in wire order, as a view that stays valid until the table grows. */
  hash(id: number): Buffer {
    return Buffer.from(this.columns.hash.buffer, id * 32, 32);
  }
  prev(id: number): number {
    return this.columns.prev[id]!;
  }
  height(id: number): number {
    return this.columns.height[id]!;
  }
  version(id: number): number {
    return this.columns.version[id]!;
  }
  timeSec(id: number): number {
    return this.columns.timeSec[id]!;
  }
  bits(id: number): number {
    return this.columns.bits[id]!;
  }
  /** Total work of the chain up to this header. */
  work(id: number): bigint {
    const { work } = this.columns;
    let total = 0n;
    for (let word = 3; word >= 0; word--) total = (total << 32n) | BigInt(work[id * 4 + word]!);
    return total;
  }
  /** Total work of the chain up to this header, as 64 hex digits. */
  workHex(id: number): string {
    const { work } = this.columns;
    let digits = '';
    for (let word = 3; word >= 0; word--) digits += work[id * 4 + word]!.toString(16).padStart(8, '0');
    return digits.padStart(64, '0');
  }
  /** Compares the total work of the chains up to two headers. The result is negative, zero or positive. */
  compareWork(a: number, b: number): number {
    const { work } = this.columns;
    for (let word = 3; word >= 0; word--) {
      const difference = work[a * 4 + word]! - work[b * 4 + word]!;
      if (difference !== 0) return difference < 0 ? -1 : 1;
    }
    return 0;
  }
  status(id: number): number {
    return this.columns.status[id]!;
  }
  hasStatus(id: number, bits: number): boolean {
    return (this.columns.status[id]! & bits) === bits;
  }
  isFailed(id: number): boolean {
    return (this.columns.status[id]! & STATUS_FAILED_MASK) !== 0;
  }
  addStatus(id: number, bits: number): void {
    this.columns.status[id]! |= bits;
    this.touch(id);
  }
  clearStatus(id: number, bits: number): void {
    this.columns.status[id]! &= ~bits;
    this.touch(id);
  }
  /** Number of transactions in the block; 0 until the block's data was received. */
  txCount(id: number): number {
    return this.columns.txCount[id]!;
  }
  /**
   * Number of transactions of the chain up to this block; 0 if the data of a block in the chain is missing (Core's
   * `nChainTx`).
   */
  chainTxCount(id: number): number {
    return this.columns.chainTxCount[id]!;
  }
  setTxCount(id: number, count: number): void {
    this.columns.txCount[id] = count;
    this.touch(id);
  }
  setChainTxCount(id: number, count: number): void {
    this.columns.chainTxCount[id] = count;
    this.touch(id);
  }
  dataPosition(id: number): FilePosition {
    return { file: this.columns.file[id]!, offset: this.columns.dataOffset[id]! };
  }
  /**
   * The first blocks of `ids` that are stored one after the other in the same file, within `room` bytes from the start of
   * the first block. Empty if the data of the first block is missing.
   */
  runOf(ids: ArrayLike<number>, room: number): HeaderRun {
    const { status, file, dataOffset, hash } = this.columns;
    const starts = new Uint32Array(ids.length);
    const hashes = Buffer.allocUnsafe(32 * ids.length);
    const first = file[ids[0]!] ?? -1;
    const end = (dataOffset[ids[0]!] ?? 0) + room;
    let [count, behind] = [0, -1];
    // Hashes of consecutive ids are copied in one call.
    let [copied, next] = [0, ids[0]];
    for (; count < ids.length; count++, next!++) {
      const id = ids[count]!;
      if ((status[id]! & STATUS.haveData) === 0 || file[id] !== first) break;
      const start = dataOffset[id]!;
      if (start <= behind || start >= end) break;
      starts[count] = behind = start;
      if (id === next) continue;
      hashes.set(hash.subarray(32 * ids[copied]!, 32 * (ids[copied]! + count - copied)), 32 * copied);
      [copied, next] = [count, id];
    }
    if (count > 0)
      hashes.set(hash.subarray(32 * ids[copied]!, 32 * (ids[copied]! + count - copied)), 32 * copied);
    return { file: first, starts: starts.subarray(0, count), hashes: hashes.subarray(0, 32 * count) };
  }
  undoPosition(id: number): FilePosition {
    return { file: this.columns.file[id]!, offset: this.columns.undoOffset[id]! };
  }
  setDataPosition(id: number, position: FilePosition): void {
    this.columns.file[id] = position.file;
    this.columns.dataOffset[id] = position.offset;
    this.touch(id);
  }
  setUndoOffset(id: number, offset: number): void {
    this.columns.undoOffset[id] = offset;
    this.touch(id);
  }
  /** Number of the file that contains the block's data; −1 if there is none. */
  file(id: number): number {
    return this.columns.file[id]!;
  }

  /** For each file, the highest offset at which the data of a block (or its undo data) starts. */
  furthestOffsets(kind: 'blk' | 'rev'): Map<number, number> {
    const furthest = new Map<number, number>();
    const offsets = kind === 'blk' ? this.columns.dataOffset : this.columns.undoOffset;
    const wanted = kind === 'blk' ? STATUS.haveData : STATUS.haveUndo;
    let file = -1;
    let offset = 0;
    for (let id = 0; id < this.rows; id++) {
      if (!this.hasStatus(id, wanted)) continue;
      if (this.file(id) !== file) {
        if (file >= 0) furthest.set(file, offset);
        file = this.file(id);
        offset = furthest.get(file) ?? 0;
      }
      offset = Math.max(offset, offsets[id]!);
    }
    if (file >= 0) furthest.set(file, offset);
    return furthest;
  }

  /** Returns the whole header. Reads its cold fields (merkle root, nonce) from disk if they are not in memory. */
  readHeader(id: number): MaybePromise<BlockHeader> {
    const cold = this.coldOf(id);
    return cold === undefined
      ? this.readCold(id).then((read) => this.headerOf(id, read))
      : this.headerOf(id, cold);
  }

  private headerOf(id: number, cold: Buffer): BlockHeader {
    const at = (id % CHUNK_ROWS) * COLD_BYTES;
    const prev = this.prev(id);
    return {
      version: this.version(id),
      prevHash: prev === NO_HEADER ? new Uint8Array(32) : Buffer.from(this.hash(prev)),
      merkleRoot: Buffer.from(cold.subarray(at, at + 32)),
      claimRoot: Buffer.from(cold.subarray(at + 32, at + 64)),
      timeSec: this.timeSec(id),
      bits: this.bits(id),
      nonce: cold.readUInt32LE(at + 64),
    };
  }

  /** The cold chunk that contains a header's cold fields, if it is in memory. */
  private coldOf(id: number): Buffer | undefined {
    return this.cold.get(Math.floor(id / CHUNK_ROWS));
  }

  private async readCold(id: number): Promise<Buffer> {
    const chunk = Math.floor(id / CHUNK_ROWS);
    const value = await this.rowsReader.get(coldKey(chunk));
    assert(value, `cold header chunk ${chunk} is missing`);
    const cold = Buffer.alloc(CHUNK_ROWS * COLD_BYTES);
    cold.set(value);
    // Another call may have read the chunk during the await, and added a row to the chunk.
    const known = this.coldOf(id);
    if (known !== undefined) return known;
    this.rememberCold(chunk, cold);
    return cold;
  }

  private rememberCold(chunk: number, cold: Buffer): void {
    this.cold.set(chunk, cold);
    for (const old of this.cold.keys()) {
      if (this.cold.size <= COLD_CHUNKS) break;
      if (old !== chunk && !this.dirty.has(old) && old !== Math.floor((this.rows - 1) / CHUNK_ROWS))
        this.cold.delete(old);
    }
  }

  /**
   * Writes the changed chunks. If a row was added to a chunk, the cold fields of the chunk must be in memory. For the last
   * stored chunk, call `prepareTail` after `load`.
   */
  writeDirty(writer: RowWriter): void {
    for (const chunk of this.dirty) {
      const first = chunk * CHUNK_ROWS;
      const count = Math.min(CHUNK_ROWS, this.rows - first);
      const packed = new Uint8Array(count * HOT_BYTES);
      let at = 0;
      for (const [name, width] of LAYOUT) {
        packed.set(new Uint8Array(this.columns[name].buffer, first * width, count * width), at);
        at += count * width;
      }
      writer.put(hotKey(chunk), packed);
      const cold = this.cold.get(chunk);
      if (cold) writer.put(coldKey(chunk), Buffer.from(cold.subarray(0, count * COLD_BYTES)));
    }
    this.dirty.clear();
    const tail = Math.floor((this.rows - 1) / CHUNK_ROWS);
    for (const chunk of this.cold.keys()) if (chunk < tail - 2) this.cold.delete(chunk);
  }

  /** Loads the cold fields of the last, partly filled chunk, so that rows can be added to the chunk. */
  async prepareTail(): Promise<void> {
    if (this.rows % CHUNK_ROWS !== 0) await this.readHeader(this.rows - 1);
  }
}
