/** Hashes of blobs: SHA-384, written as 96 hexadecimal digits. Source: lbry-sdk lbry/utils.py `get_lbry_hash_obj`, lbry/blob/__init__.py. */
import { createHash } from 'node:crypto';
import { loadNative } from '../../native/binding.js';

/** Maximum size of a blob in bytes. */
export const MAX_BLOB_BYTES = 2_097_152;
/** Number of bytes of a file in a full blob. The padding takes at least one byte. */
export const PIECE_BYTES = MAX_BLOB_BYTES - 1;

const BLOB_HASH = /^[0-9a-f]{96}$/;

/**
 * Whether the text can be the hash of a blob.
 * QUIRK: lbry-sdk's `is_valid_blobhash` also takes commas and a final newline, which no hash has.
 */
export const isBlobHash = (text: unknown): text is string => typeof text === 'string' && BLOB_HASH.test(text);

/** Hash of the bytes, which may be passed in several parts, as 96 hexadecimal digits. */
export function blobHashOf(...parts: readonly Uint8Array[]): string {
  const hash = createHash('sha384');
  for (const bytes of parts) hash.update(bytes);
  return hash.digest('hex');
}

type Lanes = (messages: readonly Uint8Array[]) => Buffer;

/** For fewer blobs, `node:crypto` takes as much time as the addon or less. */
const MIN_TOGETHER = 3;
/** Size of a hash in bytes. */
export const HASH_BYTES = 48;
const TEST_BYTES = 1000;

/** The addon's function with all lanes of the processor; null if it must not be used. */
let lanes: Lanes | null | undefined;
let laneCount = 0;

/** Returns the addon's function; null if the processor does not support it, or if it fails a test against OpenSSL. */
function usableLanes(): Lanes | null {
  const { sha384Lanes: found, sha384LaneCount: count } = loadNative() ?? {};
  if (found === undefined || count === undefined) return null;
  const messages = Array.from({ length: count }, (_, at) => new Uint8Array(TEST_BYTES).fill(at + 1));
  const expected = messages.map((message) => blobHashOf(message)).join('');
  if (found(messages, count).toString('hex') !== expected) return null;
  laneCount = count;
  return (some) => found(some, count);
}

/** Number of equally long blobs that the addon hashes at the same time; 0 if it cannot. */
export function hashLanes(): number {
  lanes ??= usableLanes();
  return laneCount;
}

/** Hashes of whole blobs, as `blobHashOf`. Equally long blobs are hashed at the same time if the processor supports that. */
export function blobHashesOf(blobs: readonly Uint8Array[]): string[] {
  const most = hashLanes();
  if (most === 0) return blobs.map((blob) => blobHashOf(blob));
  const hashes: string[] = [];
  const waiting = new Map<number, number[]>();
  const hash = (places: readonly number[]): void => {
    if (places.length < MIN_TOGETHER) {
      for (const at of places) hashes[at] = blobHashOf(blobs[at]!);
      return;
    }
    const digests = lanes!(places.map((at) => blobs[at]!));
    for (const [n, at] of places.entries())
      hashes[at] = digests.toString('hex', n * HASH_BYTES, (n + 1) * HASH_BYTES);
  };
  for (const [at, { length }] of blobs.entries()) {
    const places = waiting.get(length) ?? [];
    waiting.set(length, places);
    if (places.push(at) === most) hash(places.splice(0));
  }
  for (const places of waiting.values()) hash(places);
  return hashes;
}
