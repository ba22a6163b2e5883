/**
 * Checks of parts of a blob. The hash of a blob needs all of its bytes. So a blob that was verified against its hash gets a table of
 * authentication codes of its chunks, and a later reader of a part verifies only the chunks that it reads.
 *
 * The code is AES-128-GMAC (NIST SP 800-38D, GCM without plaintext), which takes a fifth of the time of SHA-384. Each table
 * has a separate random key, and the number of a chunk is its nonce, so no nonce is used twice with a key. A table is as
 * trustworthy as the database that stores it. If a chunk does not match its table, the hash of the whole blob decides.
 */
import { createCipheriv, randomBytes, timingSafeEqual, type CipherGCM } from 'node:crypto';
import { loadNative } from '../../native/binding.js';

const native = loadNative();

/** Size of a verified chunk of a blob. The last chunk of a blob may be shorter. */
export const CHUNK_BYTES = 64 * 1024;
export const KEY_BYTES = 16;
const NONCE_BYTES = 12;
const CODE_BYTES = 16;

/** A chunk table in its stored form: the GMAC key, then the codes of all chunks. */
export type StoredChunkTable = Uint8Array;

/** Size in bytes of the table of a blob with `blobBytes` bytes. */
export const chunkTableBytes = (blobBytes: number): number =>
  KEY_BYTES + Math.ceil(blobBytes / CHUNK_BYTES) * CODE_BYTES;

function startCode(key: Uint8Array, chunk: number): CipherGCM {
  const nonce = Buffer.alloc(NONCE_BYTES);
  nonce.writeUInt32BE(chunk, NONCE_BYTES - 4);
  return createCipheriv('aes-128-gcm', key, nonce);
}

function endCode(code: CipherGCM): Buffer {
  code.final();
  return code.getAuthTag();
}

/** Makes the table of a blob from its bytes, which come in order in pieces of any size. */
export class ChunkTableMaker {
  readonly #key = randomBytes(KEY_BYTES);
  readonly #parts: Buffer[] = [this.#key];
  #code: CipherGCM | null = null;
  /** Number of bytes in the current chunk so far. */
  #count = 0;

  add(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;) {
      const piece = bytes.subarray(at, at + CHUNK_BYTES - this.#count);
      this.#code ??= startCode(this.#key, this.#parts.length - 1);
      this.#code.setAAD(piece);
      at += piece.length;
      this.#count += piece.length;
      if (this.#count === CHUNK_BYTES) this.#endChunk();
    }
  }

  #endChunk(): void {
    if (this.#code !== null) this.#parts.push(endCode(this.#code));
    this.#code = null;
    this.#count = 0;
  }

  /** Ends the last chunk and returns the table. Must be called once. */
  end(): StoredChunkTable {
    this.#endChunk();
    return Buffer.concat(this.#parts);
  }
}

export function chunkTableOf(blob: Uint8Array): StoredChunkTable {
  const maker = new ChunkTableMaker();
  maker.add(blob);
  return maker.end();
}

/** Keyed hashes of a blob's chunks, against which each chunk can be verified separately. */
export class ChunkTable {
  readonly #stored: StoredChunkTable;

  private constructor(stored: StoredChunkTable) {
    this.#stored = stored;
  }

  /** Parses a stored table. Null if the table cannot belong to a blob of this length. */
  static parse(stored: StoredChunkTable | null, blobBytes: number): ChunkTable | null {
    return stored?.length === chunkTableBytes(blobBytes) ? new ChunkTable(stored) : null;
  }

  /** Whether `bytes` match the table. `bytes` must begin at the start of a chunk and end at the end of a chunk or of the blob. */
  matches(firstChunk: number, bytes: Uint8Array): boolean {
    if (native?.chunksMatch !== undefined) return native.chunksMatch(this.#stored, firstChunk, bytes);
    const key = this.#stored.subarray(0, KEY_BYTES);
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
      const chunk = firstChunk + at / CHUNK_BYTES;
      const from = KEY_BYTES + chunk * CODE_BYTES;
      const code = startCode(key, chunk);
      code.setAAD(bytes.subarray(at, at + CHUNK_BYTES));
      if (!timingSafeEqual(endCode(code), this.#stored.subarray(from, from + CODE_BYTES))) return false;
    }
    return true;
  }
}
