/**
 * The redo journal of a flush that is too large for one atomic batch: a file of checksummed pieces that counts only
 * once its commit record is on disk. Knows nothing of what it carries but puts and deletes.
 *
 * Layout: pieces `u32 length ‖ sha256 of the payload (first 8 bytes) ‖ payload`; the commit record is a piece of
 * length 0xffffffff with one byte: whether the staging area belongs to the flush. A payload is records `u32 length of the
 * key ‖ u32 length of the value, or 0xffffffff for a deletion ‖ key ‖ value`; all numbers are little endian.
 */
import { open, rm, type FileHandle } from 'node:fs/promises';
import { sha256 } from '../crypto/hash.js';
import { assert } from '../util/assert.js';
import type { Bytes } from '../util/bytes.js';

export type JournalOp = { type: 'put'; key: Buffer; value: Buffer } | { type: 'del'; key: Buffer };

/** A put, or a delete where there is no value. A key is its bytes, or a string of one code unit a byte. */
export type RowChange = readonly [key: Buffer | string, value: Bytes | null];

/** A row out of a record. */
type ReadChange = readonly [key: Buffer, value: Buffer | null];

const COMMIT_MARK = 0xffffffff;
const DELETED = 0xffffffff;
const HEAD_BYTES = 12;
/** A piece is closed when it has grown to this, unless less is asked for. */
const PIECE_BYTES = 16 << 20;
/** A length beyond this is none: the end of a torn file. A piece is as long as its last row makes it. */
const MAX_PIECE_BYTES = 96 << 20;

export class FlushJournal {
  private readonly path: string;
  private file: FileHandle | null = null;
  private withStage = false;
  private pieceBytes = PIECE_BYTES;
  /** Holds one piece while it grows or is read; given up with the file. */
  private piece: Buffer = Buffer.alloc(0);
  private size = 0;

  constructor(path: string) {
    this.path = path;
  }

  /** Starts an empty journal whose pieces, and so the batches applied from it, are of about `pieceBytes`. */
  async begin(withStage: boolean, pieceBytes = PIECE_BYTES): Promise<void> {
    this.withStage = withStage;
    this.pieceBytes = pieceBytes;
    this.size = 0;
    this.file = await open(this.path, 'w');
  }

  /** Takes the changes in, which are asked for one by one; keeps none of their memory. */
  async append(changes: Iterable<RowChange>): Promise<void> {
    for (const [key, value] of changes) {
      this.add(key, value);
      if (this.size >= this.pieceBytes) await this.endPiece();
    }
  }

  private add(key: Buffer | string, value: Bytes | null): void {
    this.room(8 + key.length + (value?.length ?? 0));
    const { piece } = this;
    let at = piece.writeUInt32LE(key.length, this.size);
    at = piece.writeUInt32LE(value === null ? DELETED : value.length, at);
    at += typeof key === 'string' ? piece.write(key, at, 'latin1') : key.copy(piece, at);
    if (value !== null) piece.set(value, at);
    this.size = at + (value?.length ?? 0);
  }

  private room(bytes: number): void {
    const needed = this.size + bytes;
    if (needed <= this.piece.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.piece.length, 64 << 10));
    this.piece.copy(grown, 0, 0, this.size);
    this.piece = grown;
  }

  private async endPiece(): Promise<void> {
    if (this.size === 0) return;
    const payload = this.piece.subarray(0, this.size);
    this.size = 0;
    await this.writePiece(payload.length, payload);
  }

  private async writePiece(length: number, payload: Buffer): Promise<void> {
    assert(this.file, 'journal is not open');
    const head = Buffer.allocUnsafe(HEAD_BYTES);
    head.writeUInt32LE(length, 0);
    sha256(payload).copy(head, 4, 0, 8);
    await writeWhole(this.file, head);
    await writeWhole(this.file, payload);
  }

  /** From here on the flush happened. */
  async commit(): Promise<void> {
    await this.endPiece();
    assert(this.file, 'journal is not open');
    await this.file.sync();
    await this.writePiece(COMMIT_MARK, Buffer.from([this.withStage ? 1 : 0]));
    await this.file.sync();
    await this.file.close();
    this.file = null;
    this.piece = Buffer.alloc(0);
  }

  /** Whether a committed journal lies on disk. */
  async isCommitted(): Promise<boolean> {
    for await (const piece of this.pieces()) if (piece.commit) return true;
    return false;
  }

  async includesStage(): Promise<boolean> {
    for await (const piece of this.pieces()) if (piece.commit) return piece.payload[0] === 1;
    return false;
  }

  /**
   * The changes of a committed journal, a piece at a time; keys and values are views that are good until the next piece
   * is asked for. Throws when the journal has no end.
   */
  async *read(): AsyncGenerator<Iterable<ReadChange>> {
    for await (const { commit, payload } of this.pieces()) {
      if (commit) return;
      yield changesOf(payload);
    }
    throw new Error('the journal of a flush cannot be read back');
  }

  async remove(): Promise<void> {
    await rm(this.path, { force: true });
  }

  private async *pieces(): AsyncGenerator<{ commit: boolean; payload: Buffer }> {
    let file: FileHandle;
    try {
      file = await open(this.path, 'r');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
      throw error;
    }
    try {
      const head = Buffer.allocUnsafe(HEAD_BYTES);
      for (;;) {
        if ((await file.read(head, 0, HEAD_BYTES)).bytesRead < HEAD_BYTES) return;
        const length = head.readUInt32LE(0);
        const commit = length === COMMIT_MARK;
        if (!commit && length > MAX_PIECE_BYTES) return;
        this.size = 0;
        this.room(commit ? 1 : length);
        const payload = this.piece.subarray(0, commit ? 1 : length);
        if ((await file.read(payload, 0, payload.length)).bytesRead < payload.length) return;
        if (!sha256(payload).subarray(0, 8).equals(head.subarray(4, 12))) return;
        yield { commit, payload };
        if (commit) return;
      }
    } finally {
      this.piece = Buffer.alloc(0);
      await file.close();
    }
  }
}

async function writeWhole(file: FileHandle, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length;) at += (await file.write(bytes, at)).bytesWritten;
}

/** The rows of records, as views. */
export function* changesOf(payload: Buffer): Generator<ReadChange> {
  for (let at = 0; at < payload.length;) {
    const keyLength = payload.readUInt32LE(at);
    const valueLength = payload.readUInt32LE(at + 4);
    at += 8 + keyLength;
    const key = payload.subarray(at - keyLength, at);
    const end = at + (valueLength === DELETED ? 0 : valueLength);
    yield [key, valueLength === DELETED ? null : payload.subarray(at, end)];
    at = end;
  }
}
