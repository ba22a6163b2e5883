/** Writes one table file. Source: LevelDB table_builder, doc/table_format. */
import { open, type FileHandle } from 'node:fs/promises';
import { crc32c, maskCrc } from '../../crypto/crc32c.js';
import { TABLE_MAGIC, TABLE_FOOT_BYTES } from '../levelDbFormat.js';
import { BlockWriter, internalKey } from './block.js';
import { FILTER_NAME, FilterWriter } from './bloom.js';
import { VarintWriter } from './varintWriter.js';

/** A data block is full from here on; LevelDB's own. */
const BLOCK_BYTES = 4096;
/** What is written to the file at once. Arbitrary. */
const PIECE_BYTES = 256 << 10;

export interface WrittenTable {
  readonly sizeBytes: number;
  /** First key with tag. */
  readonly first: Buffer;
  readonly last: Buffer;
}

export class TableWriter {
  private readonly file: FileHandle;
  private readonly data = new BlockWriter();
  private readonly index = new BlockWriter(1);
  private readonly filters = new FilterWriter();
  private pending: Buffer[] = [];
  private pendingBytes = 0;
  private offset = 0;
  private first: Buffer | null = null;
  private last: Buffer = Buffer.alloc(0);

  private constructor(file: FileHandle) {
    this.file = file;
  }

  static async create(path: string): Promise<TableWriter> {
    return new TableWriter(await open(path, 'w'));
  }

  /** Size of the file as far as its blocks are ended. */
  get sizeBytes(): number {
    return this.offset;
  }

  /** Rows come in order. Now and then `drain` must be waited for. */
  add(key: Buffer, tag: number, value: Buffer): void {
    if (this.first === null) this.filters.startBlock(0);
    this.last = internalKey(key, tag);
    this.first ??= this.last;
    this.filters.add(key);
    this.data.add(this.last, value);
    if (this.data.sizeBytes >= BLOCK_BYTES) this.endBlock();
  }

  private endBlock(): void {
    if (this.data.isEmpty) return;
    this.index.add(this.last, this.put(this.data.finish()));
    this.filters.startBlock(this.offset);
  }

  /** Appends a block; its handle. */
  private put(block: Buffer): Buffer {
    const tail = Buffer.alloc(5);
    tail.writeUInt32LE(maskCrc(crc32c(Buffer.concat([block, tail.subarray(0, 1)]))), 1);
    const handle = new VarintWriter().varint(this.offset).varint(block.length).take();
    this.append(block);
    this.append(tail);
    return handle;
  }

  private append(bytes: Buffer): void {
    this.pending.push(bytes);
    this.pendingBytes += bytes.length;
    this.offset += bytes.length;
  }

  get isFull(): boolean {
    return this.pendingBytes >= PIECE_BYTES;
  }

  /** Writes what waits in memory. */
  async drain(): Promise<void> {
    const piece = Buffer.concat(this.pending);
    this.pending = [];
    this.pendingBytes = 0;
    for (let at = 0; at < piece.length;) at += (await this.file.write(piece, at)).bytesWritten;
  }

  /** Ends the table and brings it to disk. There must be a row. */
  async finish(): Promise<WrittenTable> {
    this.endBlock();
    const filters = this.put(this.filters.finish());
    const meta = new BlockWriter();
    meta.add(Buffer.from(FILTER_NAME, 'latin1'), filters);
    const foot = new VarintWriter().raw(this.put(meta.finish())).raw(this.put(this.index.finish()));
    const bytes = Buffer.alloc(TABLE_FOOT_BYTES);
    foot.take().copy(bytes);
    bytes.writeBigUInt64LE(TABLE_MAGIC, TABLE_FOOT_BYTES - 8);
    this.append(bytes);
    await this.drain();
    await this.file.sync();
    await this.file.close();
    return { sizeBytes: this.offset, first: this.first!, last: this.last };
  }

  /** Leaves the file as it is; the caller removes it. */
  async abandon(): Promise<void> {
    await this.file.close().catch(() => undefined);
  }
}
