/** Encryption of pieces of files into blobs: AES-128 in CBC mode with PKCS #7 padding. Source: lbry-sdk lbry/blob/blob_file.py. */
import { createCipheriv, createDecipheriv } from 'node:crypto';

const ALGORITHM = 'aes-128-cbc';

export const BLOCK_BYTES = 16;

/**
 * Number of bytes that are encrypted or decrypted in one call. A part stays in the processor's cache for its next use.
 * Arbitrary.
 */
const PART_BYTES = 64 * 1024;

/** Encrypts at most `PIECE_BYTES` of a file. Yields the parts of the blob in order. Source: `encrypt_blob_bytes`. */
export function* encryptParts(piece: Uint8Array, key: Uint8Array, iv: Uint8Array): Generator<Buffer> {
  const cipher = createCipheriv(ALGORITHM, key, iv);
  for (let at = 0; at < piece.length; at += PART_BYTES)
    yield cipher.update(piece.subarray(at, at + PART_BYTES));
  yield cipher.final();
}

/** Like `encryptParts`, but returns the encrypted parts as one buffer. */
export const encryptPiece = (piece: Uint8Array, key: Uint8Array, iv: Uint8Array): Buffer =>
  Buffer.concat([...encryptParts(piece, key, iv)]);

/** Decrypts a whole blob. Yields the parts of the piece in order, without the padding. Throws if the padding is wrong. */
export function* decryptParts(blob: Uint8Array, key: Uint8Array, iv: Uint8Array): Generator<Buffer> {
  const decipher = createDecipheriv(ALGORITHM, key, iv);
  decipher.setAutoPadding(false);
  for (let at = 0; at < blob.length; at += PART_BYTES) {
    const plain = decipher.update(blob.subarray(at, at + PART_BYTES));
    yield at + PART_BYTES < blob.length ? plain : plain.subarray(0, plain.length - paddingOf(plain));
  }
  decipher.final();
}

/** Decrypts whole AES blocks. If the last block of the blob is included, its padding is returned too. */
export function decryptBlocks(blocks: Uint8Array, key: Uint8Array, iv: Uint8Array): Buffer {
  const decipher = createDecipheriv(ALGORITHM, key, iv);
  // OpenSSL's own padding check would hold back the last block, so that the bytes would have to be copied.
  decipher.setAutoPadding(false);
  const padded = decipher.update(blocks);
  decipher.final();
  return padded;
}

/** Number of padding bytes at the end of decrypted blocks. Throws if the padding is wrong. */
export function paddingOf(padded: Uint8Array): number {
  const count = padded.at(-1) ?? 0;
  const isPadding =
    count > 0 && count <= BLOCK_BYTES && padded.subarray(-count).every((byte) => byte === count);
  if (!isPadding) throw new Error('the padding is wrong');
  return count;
}

/**
 * Decrypts a blob to the bytes of the file. Their buffer also holds the padding that follows them. Throws if the padding is
 * wrong. Source: `decrypt_blob_bytes`.
 */
export function decryptBlob(blob: Uint8Array, key: Uint8Array, iv: Uint8Array): Buffer {
  const padded = decryptBlocks(blob, key, iv);
  return padded.subarray(0, padded.length - paddingOf(padded));
}
