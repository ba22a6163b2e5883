/**
 * Encryption of the pieces of a file by the addon. It runs in the thread pool of Node.js, so no thread is started for it. The
 * pieces are encrypted in place, in buffers that are reused.
 */
import { randomBytes } from 'node:crypto';
import { getSystemErrorName } from 'node:util';
import { loadNative } from '../../native/binding.js';
import type { NativeFileDigest } from '../../native/addonTypes/stores.js';
import { HASH_BYTES, hashLanes, PIECE_BYTES } from '../content/blobHash.js';
import { chunkTableBytes, KEY_BYTES } from '../content/chunkTable.js';
import { BLOCK_BYTES } from './cipher.js';
import type { KnownBlob } from './blobWork.js';

const native = loadNative();
const SIZE_BYTES = 4;

/** Whether `makeInPool` and `PooledDigest` can be used. */
export const canMakeInPool = (): boolean =>
  native?.encryptBlobs !== undefined && native.FileDigest !== undefined;

/** A piece of a file at the start of a buffer of `MAX_BLOB_BYTES` bytes. */
export interface PieceToMake {
  readonly buffer: Uint8Array;
  /** Number of bytes of the piece. */
  readonly size: number;
  readonly iv: Uint8Array;
}

/**
 * Encrypts one to four pieces into blobs. The blobs replace the pieces at the starts of the buffers. The buffers must not be used before the
 * promise settles.
 */
export async function makeInPool(pieces: readonly PieceToMake[], key: Uint8Array): Promise<KnownBlob[]> {
  const sizes = Buffer.alloc(pieces.length * SIZE_BYTES);
  for (const [at, { size }] of pieces.entries()) sizes.writeUInt32LE(size, at * SIZE_BYTES);
  const found = await native!.encryptBlobs!(
    pieces.map(({ buffer }) => buffer),
    sizes,
    key,
    Buffer.concat(pieces.map(({ iv }) => iv)),
    randomBytes(pieces.length * KEY_BYTES),
    hashLanes() > 0,
  );
  let at = 0;
  return pieces.map(({ size }) => {
    const length = (Math.floor(size / BLOCK_BYTES) + 1) * BLOCK_BYTES;
    const hash = found.toString('hex', at, at + HASH_BYTES);
    const table = found.subarray(at + HASH_BYTES, at + HASH_BYTES + chunkTableBytes(length));
    at += HASH_BYTES + table.length;
    // The table is copied, because it is kept longer than the result of the group.
    return { hash, length, table: Uint8Array.from(table) };
  });
}

/** Reads a file in order and computes its hash. */
export class PooledDigest {
  readonly #digest: NativeFileDigest = new native!.FileDigest!();

  /**
   * Reads pieces of the file to the starts of the buffers. Resolves to the number of bytes, which is smaller at the end of the
   * file. Rejects with system errors. Calls must not overlap.
   */
  async read(fd: number, position: number, buffers: readonly Uint8Array[]): Promise<number> {
    const pieces = buffers.map((buffer) => buffer.subarray(0, PIECE_BYTES));
    const count = await this.#digest.read(fd, position, pieces);
    if (count >= 0) return count;
    const code = getSystemErrorName(count);
    throw Object.assign(new Error(`${code}: the file could not be read`), { code, errno: count });
  }

  /** Hexadecimal digits. Must be called once. */
  end(): string {
    return this.#digest.end().toString('hex');
  }
}
