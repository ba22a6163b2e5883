/** Reads the data of a stream that a player needs, in one call. */
import type { Statements } from '../../sqlite/statements.js';
import { checkValues, streamHashOf, type DescriptorBlob, type StreamDescriptor } from './descriptor.js';
import { textOf } from './fileSearch.js';
import type { BlobCheckRow } from './rows.js';

/** A stream whose rows are complete. */
export interface PlayableRows {
  /** The descriptor, made from its rows. Its hash is the hash of the stream. */
  readonly descriptor: StreamDescriptor;
  /** Size in bytes of the blob that contains the descriptor. */
  readonly sdLengthBytes: number;
  /** Exact size of the stream's file; null if it is not known. */
  readonly sizeBytes: number | null;
  /** The last verification of the first data blob, with which most players begin. */
  readonly firstCheck: BlobCheckRow | null;
}

const STREAM = `
  select s.stream_hash, s.stream_key, s.stream_name, s.suggested_filename, b.blob_length
  from stream s left join blob b on b.blob_hash = s.sd_hash where s.sd_hash = ?`;
const ENTRIES = `
  select s.blob_hash, s.position, s.iv, b.blob_length from stream_blob s left join blob b using (blob_hash)
  where s.stream_hash = ? order by s.position`;

/**
 * Returns the stream of a descriptor by its rows. Null if the stream is unknown, or if the rows do not have the hash of the
 * stream: the descriptor itself must be read then. Throws `InvalidStreamDescriptorError`.
 */
export function playableRows(
  main: Statements,
  own: Statements,
  sdHash: string,
  checkOf: (hash: string) => BlobCheckRow | null,
): PlayableRows | null {
  const row = main.get(STREAM, sdHash);
  if (row === undefined) return null;
  const streamHash = String(row['stream_hash']);
  const blobs = main.all(ENTRIES, streamHash).map((entry): DescriptorBlob => ({
    blobHash: entry['blob_hash'] as string | null,
    blobNum: Number(entry['position']),
    iv: String(entry['iv']),
    length: Number(entry['blob_length'] ?? 0),
  }));
  const stream = {
    streamName: textOf(row['stream_name']) ?? '',
    key: String(row['stream_key']),
    suggestedFileName: textOf(row['suggested_filename']) ?? '',
    blobs,
  };
  if (blobs.at(-1)?.blobHash !== null || streamHashOf(stream) !== streamHash) return null;
  checkValues(stream);
  const size = own.get('select size_bytes from stream_size where stream_hash = ?', streamHash);
  const first = blobs[0]!.blobHash;
  return {
    descriptor: { ...stream, streamHash },
    sdLengthBytes: Number(row['blob_length'] ?? 0),
    sizeBytes: size === undefined ? null : Number(size['size_bytes']),
    firstCheck: first === null ? null : checkOf(first),
  };
}
