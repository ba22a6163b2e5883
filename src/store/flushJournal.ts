/**
 * The redo journal of a flush that is too large for one atomic batch: a file of checksummed pieces that counts only
 * once its commit record is on disk. Knows nothing of what it carries but puts and deletes.
 *
 * Layout: pieces `u32 length ‖ sha256 of the payload (first 8 bytes) ‖ payload`; the commit record is a piece of
 * length 0xffffffff with one byte: whether the staging area belongs to the flush.
 */
import { open, rm, type FileHandle } from 'node:fs/promises';
import { sha256 } from '../crypto/hash.js';
import { assert } from '../util/assert.js';

export type JournalOp = { type: 'put'; key: Buffer; value: Buffer } | { type: 'del'; key: Buffer };

const COMMIT_MARK = 0xffffffff;
const DELETED = 0xffffffff;
/** A piece stays below this; `append` cuts larger lists. */
const MAX_PIECE_BYTES = 16 << 20;

export class FlushJournal {
  private readonly path: string;
  private file: FileHandle | null = null;
  private withStage = false;
  private pieceBytes = MAX_PIECE_BYTES;

  constructor(path: string) {
    this.path = path;
  }

  /** Starts an empty journal whose pieces, and so the batches applied from it, are of about `pieceBytes`. */
  async begin(withStage: boolean, pieceBytes = MAX_PIECE_BYTES): Promise<void> {
    this.withStage = withStage;
    this.pieceBytes = pieceBytes;
    this.file = await open(this.path, 'w');
  }

  async append(ops: readonly JournalOp[]): Promise<void> {
    assert(this.file, 'journal is not open');
    let from = 0;
    while (from < ops.length) {
      let size = 0;
      let to = from;
      while (to < ops.length && size < this.pieceBytes) {
        const op = ops[to]!;
        size += 8 + op.key.length + (op.type === 'put' ? op.value.length : 0);
        to++;
      }
      const payload = Buffer.allocUnsafe(size);
      let at = 0;
      for (let i = from; i < to; i++) {
        const op = ops[i]!;
        at = payload.writeUInt32LE(op.key.length, at);
        at = payload.writeUInt32LE(op.type === 'put' ? op.value.length : DELETED, at);
        at += op.key.copy(payload, at);
        if (op.type === 'put') at += op.value.copy(payload, at);
      }
      await this.writePiece(payload.length, payload);
      from = to;
    }
  }

  private async writePiece(length: number, payload: Buffer): Promise<void> {
    const head = Buffer.allocUnsafe(12);
    head.writeUInt32LE(length, 0);
    sha256(payload).copy(head, 4, 0, 8);
    await this.file!.writev([head, payload]);
  }

  /** From here on the flush happened. */
  async commit(): Promise<void> {
    assert(this.file, 'journal is not open');
    await this.file.sync();
    await this.writePiece(COMMIT_MARK, Buffer.from([this.withStage ? 1 : 0]));
    await this.file.sync();
    await this.file.close();
    this.file = null;
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

  /** The operations, a piece at a time. */
  async *read(): AsyncGenerator<JournalOp[]> {
    for await (const { commit, payload } of this.pieces()) {
      if (commit) return;
      const ops: JournalOp[] = [];
      for (let at = 0; at < payload.length;) {
        const keyLength = payload.readUInt32LE(at);
        const valueLength = payload.readUInt32LE(at + 4);
        const key = payload.subarray(at + 8, at + 8 + keyLength);
        at += 8 + keyLength;
        if (valueLength === DELETED) ops.push({ type: 'del', key });
        else {
          ops.push({ type: 'put', key, value: payload.subarray(at, at + valueLength) });
          at += valueLength;
        }
      }
      yield ops;
    }
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
      for (;;) {
        const head = Buffer.allocUnsafe(12);
        if ((await file.read(head, 0, 12)).bytesRead < 12) return;
        const length = head.readUInt32LE(0);
        const commit = length === COMMIT_MARK;
        if (!commit && length > 2 * MAX_PIECE_BYTES + (64 << 20)) return;
        const payload = Buffer.allocUnsafe(commit ? 1 : length);
        if ((await file.read(payload, 0, payload.length)).bytesRead < payload.length) return;
        if (!sha256(payload).subarray(0, 8).equals(head.subarray(4, 12))) return;
        yield { commit, payload };
        if (commit) return;
      }
    } finally {
      await file.close();
    }
  }
}
