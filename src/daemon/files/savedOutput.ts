/**
 * Writes the bytes of a saved file. Threads verify, decrypt and write several blobs at the same time, each at its own
 * offset. Also distinguishes a partial file of a killed daemon from other files.
 */
import { open, type FileHandle } from 'node:fs/promises';
import type { SavedPlace } from '../content/rows.js';
import { outputSize, pathOf } from './outputs.js';
import { dataBlobs, type OpenStream, type StreamReader } from './streamReader.js';

/**
 * Maximum number of blobs that are written concurrently. After an interruption up to this number of blobs may be missing at
 * the end of the file. Arbitrary: enough for four threads if one blob takes longer than the next ones.
 */
const BLOBS_AT_ONCE = 8;
/** Number of blobs that are prepared together. Arbitrary. */
const PREPARED_BLOBS = 64;

interface Begun {
  readonly number: number;
  readonly position: number;
  /** Required length of the decrypted blob, on which the offset of the next blob depends; null for the last blob. */
  readonly expected: number | null;
  readonly written: Promise<number>;
}

export interface OutputWriting {
  readonly reader: StreamReader;
  readonly stream: OpenStream;
  readonly file: FileHandle;
  readonly signal: AbortSignal;
  /** Called with the length of each blob, in order, after this blob and all earlier ones are written. */
  readonly onWritten: (bytes: number) => void;
}

/**
 * Writes the whole stream to the file. When the promise settles, no write is pending. Throws the errors of
 * `StreamReader.blob` and system errors.
 */
export async function writeOutput({ reader, stream, file, signal, onWritten }: OutputWriting): Promise<void> {
  const data = dataBlobs(stream.descriptor);
  const begun: Begun[] = [];
  let [next, position, isRegular] = [0, 0, true];
  const begin = (): void => {
    if (next % PREPARED_BLOBS === 0) reader.prepare(stream, next, PREPARED_BLOBS);
    const number = next++;
    const written = reader.writeBlob(stream, number, { file, position }, signal);
    written.catch(() => undefined);
    // All data blobs except the last have one byte of padding. So the offset of the next blob is known before this blob is
    // decrypted.
    const expected = isRegular && next < data.length ? data[number]!.length - 1 : null;
    begun.push({ number, position, expected, written });
    position += expected ?? 0;
  };
  try {
    while (next < data.length || begun.length > 0) {
      while (next < data.length && begun.length < (isRegular ? BLOBS_AT_ONCE : 1)) begin();
      // Prefetches only blobs after those that are being written, so that the prefetch does not delay them.
      reader.ahead(stream, next - 1, signal);
      const first = begun.shift()!;
      const bytes = await first.written;
      if (first.expected === null) position = first.position + bytes;
      else if (bytes !== first.expected) {
        // The descriptor's blobs have another padding, so the blobs after this one were written at wrong offsets. They are
        // written again, one after the other.
        await Promise.allSettled(begun.map(({ written }) => written));
        begun.length = 0;
        [next, position, isRegular] = [first.number + 1, first.position + bytes, false];
      }
      onWritten(bytes);
    }
    if (!isRegular) await file.truncate(position);
  } finally {
    await Promise.allSettled(begun.map(({ written }) => written));
  }
}

/** Compares the bytes of a file with the expected bytes. */
function compare(found: Uint8Array, wanted: Uint8Array): 'equal' | 'cut off' | 'other' {
  const same = wanted.subarray(0, found.length);
  if (Buffer.compare(found, same) === 0) return 'equal';
  const end = found.findIndex((byte, at) => byte !== same[at]);
  return found.subarray(end).every((byte) => byte === 0) ? 'cut off' : 'other';
}

/**
 * Whether a file is the result of an interrupted `writeOutput`: a beginning of the stream, in which blobs near the end may
 * be missing. With `isWhole`: whether it is the whole stream.
 */
export async function holdsStream(
  place: SavedPlace,
  { reader, stream, signal }: Pick<OutputWriting, 'reader' | 'stream' | 'signal'>,
  { isHere, isWhole }: { readonly isHere: (hash: string) => boolean; readonly isWhole: boolean },
): Promise<boolean> {
  const size = (await outputSize(place)) ?? 0;
  const file = await open(pathOf(place), 'r');
  try {
    const data = dataBlobs(stream.descriptor);
    let [at, equalBytes] = [0, 0];
    for (const [number, { blobHash, length }] of data.entries()) {
      if (at >= size) return !isWhole && at === size && equalBytes > 0;
      // The decrypted blob is at least one byte shorter than the encrypted blob, because of the padding.
      const found = Buffer.alloc(Math.min(length - 1, size - at));
      await file.read(found, 0, found.length, at);
      const mayBeMissing = !isWhole && at + BLOBS_AT_ONCE * length >= size;
      if (mayBeMissing && (signal.aborted || !isHere(blobHash!))) {
        if (signal.aborted || !found.every((byte) => byte === 0)) return false;
        at += found.length;
        continue;
      }
      // `writeOutput` writes the bytes of a blob only after the blob is on disk. If the blob is missing, another program
      // wrote the file.
      if (signal.aborted || !isHere(blobHash!)) return false;
      const bytes = await reader.wholeBlob(stream, number, signal);
      const part = found.subarray(0, Math.min(bytes.length, size - at));
      const outcome = compare(part, bytes);
      if (outcome === 'other' || (outcome === 'cut off' && !mayBeMissing)) return false;
      if (outcome === 'equal') equalBytes += part.length;
      if (isWhole && part.length < bytes.length) return false;
      at += part.length;
    }
    return at === size && (equalBytes > 0 || size === 0);
  } finally {
    await file.close();
  }
}
