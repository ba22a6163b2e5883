/** Encryption of pieces of files into blobs: AES-128 in CBC mode with PKCS #7 padding. Source: lbry-sdk lbry/blob/blob_file.py. */
import { createCipheriv, createDecipheriv } from 'node:crypto';

const ALGORITHM = 'aes-128-cbc';

/** The blob of at most `PIECE_BYTES` of a file. Source: `encrypt_blob_bytes`. */
export function encryptPiece(piece: Uint8Array, key: Uint8Array, iv: Uint8Array): Buffer {
  const cipher = createCipheriv(ALGORITHM, key, iv);
  return Buffer.concat([cipher.update(piece), cipher.final()]);
}

/** The bytes of the file that a blob holds. Throws where the padding is wrong. Source: `decrypt_blob_bytes`. */
export function decryptBlob(blob: Uint8Array, key: Uint8Array, iv: Uint8Array): Buffer {
  const decipher = createDecipheriv(ALGORITHM, key, iv);
  return Buffer.concat([decipher.update(blob), decipher.final()]);
}
