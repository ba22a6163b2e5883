/**
 * The redo journal of a flush that is too large for one atomic batch: a file of checksummed pieces that is valid only with
 * its commit record. It contains puts and deletes. Layout: pieces `u32 length ‖ sha256 of the payload (first 8 bytes) ‖
 * payload`. The commit record is a piece of length 0xffffffff whose payload is one byte: whether the staging area belongs to
 * the flush. Other payloads consist of records (`rowRecords.ts`). All numbers are little endian.
 */
import { open, rm, type FileHandle } from 'node:fs/promises';
import { sha256 } from '../../crypto/hash.js';
import { assert } from '../../util/assert.js';
import { withPath } from '../../util/text/environmentError.js';
import { refuseSpecialFile } from '../../util/files/specialFile.js';
import { RecordWriter, type RowChange } from '../rows/rowRecords.js';

const COMMIT_MARK = 0xffffffff;
const HEAD_BYTES = 12;
/** Default size in bytes at which a piece ends and the next begins. */
const PIECE_BYTES = 16 << 20;
/**
 * Maximum length of a piece. A larger length means that the file is torn at this point. A piece may exceed its target size
 * by its last row.
 */
const MAX_PIECE_BYTES = 96 << 20;

export class FlushJournal {
  readonly path: string;
  private file: FileHandle | null = null;
  private withStage = false;
  private pieceBytes = PIECE_BYTES;
  /** Buffer of the piece that is being written. It is freed when the file is closed. */
  private records = new RecordWriter();
  /** Buffer of the piece that is being read. It is freed when the file is closed. */
  private piece: Buffer = Buffer.alloc(0);

  constructor(path: string) {
    this.path = path;
  }

  /** Starts an empty journal with pieces of about `pieceBytes`. Each piece is later applied as one batch. */
  async begin(withStage: boolean, pieceBytes = PIECE_BYTES): Promise<void> {
    this.withStage = withStage;
    this.pieceBytes = pieceBytes;
    this.records = new RecordWriter();
    refuseSpecialFile(this.path);
    this.file = await open(this.path, 'w');
  }

  /** Appends changes to the journal. `changes` is iterated one by one, and the memory of the changes is not retained. */
  async append(changes: Iterable<RowChange>): Promise<void> {
    for (const [key, value] of changes) {
      this.records.add(key, value);
      if (this.records.sizeBytes >= this.pieceBytes) await this.endPiece();
    }
  }

  /** Appends records as a separate piece. The caller may then reuse their memory. */
  async appendRecords(records: Buffer): Promise<void> {
    await this.endPiece();
    await this.writePiece(records.length, records);
  }

  private async endPiece(): Promise<void> {
    const records = this.records.take();
    if (records.length > 0) await this.writePiece(records.length, records);
  }

  private async writePiece(length: number, payload: Buffer): Promise<void> {
    assert(this.file, 'journal is not open');
    const head = Buffer.allocUnsafe(HEAD_BYTES);
    head.writeUInt32LE(length, 0);
    sha256(payload).copy(head, 4, 0, 8);
    await writeWhole(this.file, head);
    await writeWhole(this.file, payload);
  }

  /** Writes the commit record and syncs the journal, which commits the flush. */
  async commit(): Promise<void> {
    await this.endPiece();
    assert(this.file, 'journal is not open');
    await this.file.sync();
    await this.writePiece(COMMIT_MARK, Buffer.from([this.withStage ? 1 : 0]));
    await this.file.sync();
    await this.file.close();
    this.file = null;
    this.records = new RecordWriter();
  }

  /** Closes a journal that could not be written. Without a commit record it counts as missing. */
  async abandon(): Promise<void> {
    const { file } = this;
    this.file = null;
    this.records = new RecordWriter();
    await file?.close().catch(() => undefined);
  }

  /** Whether there is a committed journal on disk. */
  async isCommitted(): Promise<boolean> {
    for await (const piece of this.pieces()) if (piece.commit) return true;
    return false;
  }

  async includesStage(): Promise<boolean> {
    for await (const piece of this.pieces()) if (piece.commit) return piece.payload[0] === 1;
    return false;
  }

  /**
   * Reads the records of a committed journal, piece by piece. A piece is valid until the next piece is requested. Throws if
   * the journal has no commit record.
   */
  async *read(): AsyncGenerator<Buffer> {
    for await (const { commit, payload } of this.pieces()) {
      if (commit) return;
      yield payload;
    }
    throw new Error('the journal of a flush cannot be read');
  }

  async remove(): Promise<void> {
    await rm(this.path, { force: true });
  }

  private async *pieces(): AsyncGenerator<{ commit: boolean; payload: Buffer }> {
    let file: FileHandle;
    try {
      refuseSpecialFile(this.path);
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
        const size = commit ? 1 : length;
        if (size > this.piece.length) this.piece = Buffer.allocUnsafeSlow(size);
        const payload = this.piece.subarray(0, size);
        if ((await file.read(payload, 0, payload.length)).bytesRead < payload.length) return;
        if (!sha256(payload).subarray(0, 8).equals(head.subarray(4, 12))) return;
        yield { commit, payload };
        if (commit) return;
      }
    } catch (error) {
      throw withPath(error, this.path);
    } finally {
      this.piece = Buffer.alloc(0);
      await file.close();
    }
  }
}

async function writeWhole(file: FileHandle, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length;) at += (await file.write(bytes, at)).bytesWritten;
}
