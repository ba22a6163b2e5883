/** Reads the piece of a file that is in a blob. Decrypts only the parts that are read. */
import type { CipherKey } from './blobWork.js';
import { BLOCK_BYTES, decryptBlocks, paddingOf } from './cipher.js';

/** Verified bytes of a blob. `BlobParts` implements this for a file. */
export interface CipherSource {
  readonly lengthBytes: number;
  read(at: number, count: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

export interface PlainBlob {
  readonly lengthBytes: number;
  /**
   * Reads up to `count` bytes from position `at`; fewer only at the end. Rejects with `BlobChangedError` as `BlobParts.read`
   * does.
   */
  read(at: number, count: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** Makes a source from bytes in memory. */
export const bytesInMemory = (bytes: Uint8Array): CipherSource & PlainBlob => ({
  lengthBytes: bytes.length,
  read: (at, count) => Promise.resolve(bytes.subarray(at, at + count)),
  close: () => Promise.resolve(),
});

/** An encrypted block, and the position of the byte after it. */
interface BlockBefore {
  readonly position: number;
  readonly block: Uint8Array;
}

class Decrypted implements PlainBlob {
  readonly lengthBytes: number;
  /** The last block of the last read. A read that begins after this block does not read it again. */
  #before: BlockBefore | null = null;
  readonly #blob: CipherSource;
  readonly #cipher: CipherKey;

  constructor(blob: CipherSource, cipher: CipherKey, lengthBytes: number) {
    this.#blob = blob;
    this.#cipher = cipher;
    this.lengthBytes = lengthBytes;
  }

  async read(at: number, count: number): Promise<Uint8Array> {
    const to = Math.min(at + count, this.lengthBytes);
    if (to <= at) return new Uint8Array(0);
    const start = at - (at % BLOCK_BYTES);
    // In CBC mode the preceding block is the initialization vector of the first block to decrypt.
    const before = this.#before?.position === start ? this.#before.block : null;
    const from = before !== null ? start : Math.max(0, start - BLOCK_BYTES);
    const end = to === this.lengthBytes ? this.#blob.lengthBytes : Math.ceil(to / BLOCK_BYTES) * BLOCK_BYTES;
    const bytes = await this.#blob.read(from, end - from);
    const iv = start === 0 ? this.#cipher.iv : (before ?? bytes.subarray(0, BLOCK_BYTES));
    // A copy, so that the memory of the whole read can be released.
    this.#before = { position: end, block: Uint8Array.from(bytes.subarray(-BLOCK_BYTES)) };
    const plain = decryptBlocks(bytes.subarray(start - from), this.#cipher.key, iv);
    if (end === this.#blob.lengthBytes && paddingOf(plain) !== end - this.lengthBytes)
      throw new Error('the padding has an unexpected length');
    return plain.subarray(at - start, to - start);
  }

  close(): Promise<void> {
    return this.#blob.close();
  }
}

/**
 * Opens the decrypted content (piece) of a blob. With `isFull`, the padding must be one byte, as in all blobs of a stream
 * except the last; it is checked when the end of the piece is read. Without `isFull`, the padding is checked immediately. If
 * the length or the padding is wrong, closes the blob and throws.
 */
export async function decrypted(blob: CipherSource, cipher: CipherKey, isFull = false): Promise<PlainBlob> {
  try {
    const { lengthBytes } = blob;
    if (lengthBytes === 0 || lengthBytes % BLOCK_BYTES !== 0) throw new Error('its length is wrong');
    if (isFull) return new Decrypted(blob, cipher, lengthBytes - 1);
    const from = Math.max(0, lengthBytes - 2 * BLOCK_BYTES);
    const end = await blob.read(from, lengthBytes - from);
    const iv = lengthBytes === BLOCK_BYTES ? cipher.iv : end.subarray(0, BLOCK_BYTES);
    const last = decryptBlocks(end.subarray(-BLOCK_BYTES), cipher.key, iv);
    return new Decrypted(blob, cipher, lengthBytes - paddingOf(last));
  } catch (error) {
    await blob.close();
    throw error;
  }
}

/** Reads all bytes, and closes the blob. */
export async function wholePlain(blob: PlainBlob): Promise<Uint8Array> {
  try {
    return await blob.read(0, blob.lengthBytes);
  } finally {
    await blob.close();
  }
}
