/** Unpacks the rows of a snapshot's pieces into records of `rowRecords.ts`: by the addon on another thread, or here. */
import { sha256 } from '../../crypto/hash.js';
import { loadNative } from '../../native/binding.js';
import { RecordCursor, RecordWriter } from '../../store/rows/rowRecords.js';
import { ReadError } from '../../util/reader.js';
import { CHECKSUM_BYTES, unpackRows } from './snapshotFormat.js';

/** Maximum size of the records of a piece in bytes. Arbitrary: rows that share long keys grow when they are unpacked. */
const MOST_RECORD_BYTES = 256 << 20;

/** Rows of one piece, in ascending order. */
export interface SnapshotRows {
  readonly records: Buffer;
  readonly rows: number;
  /** Offset of the last record. */
  readonly lastAt: number;
}

/** Whether the checksum of a piece, the first bytes of its SHA-256, is right. */
export function hasChecksum(payload: Buffer, checksum: Buffer): boolean {
  return sha256(payload).subarray(0, CHECKSUM_BYTES).equals(checksum);
}

/**
 * Unpacks a payload whose checksum is not verified yet. Each key must begin with one of `prefixes`. The
 * payload must not change before the promise settles. Rejects with `ReadError` for a wrong checksum, malformed bytes, and
 * keys that are not in ascending order.
 */
export async function unpackRecords(
  payload: Buffer,
  checksum: Buffer,
  isCoins: boolean,
  prefixes: readonly string[],
): Promise<SnapshotRows> {
  const native = loadNative();
  if (native === null) return unpackRecordsFallback(payload, checksum, isCoins, prefixes);
  try {
    return await native.unpackSnapshotRows(payload, checksum, isCoins, prefixes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'SNAPSHOT_ROWS') throw error;
    throw new ReadError((error as Error).message);
  }
}

/** JavaScript fallback of the addon's `unpackSnapshotRows`. */
export function unpackRecordsFallback(
  payload: Buffer,
  checksum: Buffer,
  isCoins: boolean,
  prefixes: readonly string[],
): SnapshotRows {
  if (!hasChecksum(payload, checksum)) throw new ReadError('a checksum does not match');
  const out = new RecordWriter(2 * payload.length);
  let rows = 0;
  let lastAt = 0;
  let last = '';
  let prefix: string | undefined;
  unpackRows(payload, isCoins, (key, value) => {
    if (prefix === undefined || !key.startsWith(prefix))
      prefix = prefixes.find((other) => key.startsWith(other));
    if (key <= last || prefix === undefined) throw new ReadError('a row is out of order');
    last = key;
    lastAt = out.sizeBytes;
    rows++;
    out.add(key, value);
    if (out.sizeBytes > MOST_RECORD_BYTES) throw new ReadError('its rows are too large');
  });
  return { records: out.take(), rows, lastAt };
}

/** The first and the last key of unpacked rows; null if there are none. */
export function keysAround({ records, rows, lastAt }: SnapshotRows): { first: string; last: string } | null {
  if (rows === 0) return null;
  const keyAt = (at: number): string => {
    const cursor = new RecordCursor(records.subarray(at));
    cursor.next();
    return records.toString('latin1', at + cursor.keyStart, at + cursor.valueStart);
  };
  return { first: keyAt(0), last: keyAt(lastAt) };
}
