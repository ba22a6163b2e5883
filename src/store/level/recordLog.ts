/** Appends records to a log or a manifest, in the frame that `logRecords` reads. Source: LevelDB log_writer, version_edit. */
import { open, type FileHandle } from 'node:fs/promises';
import { crc32c, maskCrc } from '../../crypto/crc32c.js';
import { LOG_BLOCK_BYTES, LOG_HEAD_BYTES, RECORD, TAG } from '../levelDbFormat.js';
import type { RecordCursor } from '../rowRecords.js';
import { VarintWriter } from './varintWriter.js';

/** What of a long record is framed before the file is written and others have a turn. Arbitrary. */
const PIECE_BYTES = 1 << 20;

export class RecordLog {
  private readonly file: FileHandle;
  private sizeBytes = 0;

  private constructor(file: FileHandle) {
    this.file = file;
  }

  /** A new, empty one. */
  static async create(path: string): Promise<RecordLog> {
    return new RecordLog(await open(path, 'w'));
  }

  async append(payload: Buffer): Promise<void> {
    let pieces: Buffer[] = [];
    let waiting = 0;
    const add = (piece: Buffer): void => {
      pieces.push(piece);
      this.sizeBytes += piece.length;
      waiting += piece.length;
    };
    for (let at = 0, isFirst = true, isLast = false; !isLast; isFirst = false) {
      const left = LOG_BLOCK_BYTES - (this.sizeBytes % LOG_BLOCK_BYTES);
      if (left < LOG_HEAD_BYTES) add(Buffer.alloc(left));
      const room = LOG_BLOCK_BYTES - (this.sizeBytes % LOG_BLOCK_BYTES) - LOG_HEAD_BYTES;
      const fragment = payload.subarray(at, at + room);
      at += fragment.length;
      isLast = at === payload.length;
      add(framed(fragment, isFirst, isLast));
      if (waiting < PIECE_BYTES) continue;
      await this.write(Buffer.concat(pieces));
      pieces = [];
      waiting = 0;
    }
    await this.write(Buffer.concat(pieces));
  }

  private async write(bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length;) at += (await this.file.write(bytes, at)).bytesWritten;
  }

  sync(): Promise<void> {
    return this.file.sync();
  }

  close(): Promise<void> {
    return this.file.close();
  }
}

function framed(fragment: Buffer, isFirst: boolean, isLast: boolean): Buffer {
  const bytes = Buffer.allocUnsafe(LOG_HEAD_BYTES + fragment.length);
  bytes.writeUInt16LE(fragment.length, 4);
  bytes[6] = isFirst ? (isLast ? RECORD.whole : RECORD.first) : isLast ? RECORD.last : RECORD.middle;
  fragment.copy(bytes, LOG_HEAD_BYTES);
  bytes.writeUInt32LE(maskCrc(crc32c(bytes.subarray(6))), 0);
  return bytes;
}

/** Writes the changes of a batch behind each other; `head` goes before them. Source: LevelDB write_batch. */
export class BatchWriter {
  private readonly out = new VarintWriter();
  private count = 0;

  constructor() {
    this.out.u64(0).u32(0);
  }

  add(records: Buffer, row: RecordCursor): void {
    this.count++;
    this.out.byte(row.isDeletion ? 0 : 1).bytes(records.subarray(row.keyStart, row.valueStart));
    if (!row.isDeletion) this.out.bytes(records.subarray(row.valueStart, row.valueEnd));
  }

  /** The batch, whose first change has this number; a view. */
  finish(sequence: number): Buffer {
    const batch = this.out.take();
    batch.writeBigUInt64LE(BigInt(sequence), 0);
    batch.writeUInt32LE(this.count, 8);
    return batch;
  }
}

export interface EditedTable {
  readonly level: number;
  readonly number: number;
  readonly sizeBytes: number;
  readonly first: Buffer;
  readonly last: Buffer;
}

export interface Edit {
  readonly comparator?: string;
  readonly logNumber?: number;
  readonly nextFile: number;
  readonly lastSequence: number;
  readonly removed: readonly { readonly level: number; readonly number: number }[];
  readonly added: readonly EditedTable[];
}

/** A record of a manifest. */
export function formatEdit(edit: Edit): Buffer {
  const out = new VarintWriter();
  if (edit.comparator !== undefined) out.varint(TAG.comparator).bytes(Buffer.from(edit.comparator, 'latin1'));
  if (edit.logNumber !== undefined)
    out.varint(TAG.logNumber).varint(edit.logNumber).varint(TAG.prevLogNumber).varint(0);
  out.varint(TAG.nextFile).varint(edit.nextFile);
  out.varint(TAG.lastSequence).varint(edit.lastSequence);
  for (const { level, number } of edit.removed) out.varint(TAG.deletedFile).varint(level).varint(number);
  for (const { level, number, sizeBytes, first, last } of edit.added)
    out.varint(TAG.newFile).varint(level).varint(number).varint(sizeBytes).bytes(first).bytes(last);
  return Buffer.from(out.take());
}
