/** Hashes of blobs: SHA-384, written as 96 hexadecimal digits. Source: lbry-sdk lbry/utils.py `get_lbry_hash_obj`, lbry/blob/__init__.py. */
import { createHash } from 'node:crypto';

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
