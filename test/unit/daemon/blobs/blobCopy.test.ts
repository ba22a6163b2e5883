import { createCipheriv, randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { BlobThreads } from '../../../../src/daemon/blobs/blobThreads.js';
import { stampText } from '../../../../src/daemon/blobs/blobWork.js';
import { encryptPiece } from '../../../../src/daemon/blobs/cipher.js';
import { blobHashOf, PIECE_BYTES } from '../../../../src/daemon/content/blobHash.js';
import { CHUNK_BYTES, chunkTableOf } from '../../../../src/daemon/content/chunkTable.js';
import type { BlobCheckRow } from '../../../../src/daemon/content/rows.js';
import { loadNative } from '../../../../src/native/binding.js';

const native = loadNative();
const folder = mkdtempSync(join(tmpdir(), 'blob-copy-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const cipher = { key: randomBytes(16), iv: randomBytes(16) };
const paths = { blob: join(folder, 'blob'), target: join(folder, 'target') };
const stampOf = (path: string): string => stampText(statSync(path, { bigint: true }));

/** Writes the bytes as the file of a blob. */
function stored(blob: Buffer) {
  writeFileSync(paths.blob, blob);
  return { stamp: stampOf(paths.blob), table: chunkTableOf(blob), hash: blobHashOf(blob) };
}

/** Runs `copy` with an open empty file, and returns its result and what is in the file afterwards. */
async function intoFile<T>(copy: (fd: number) => Promise<T>): Promise<{ result: T; found: Buffer }> {
  const file = await open(paths.target, 'w');
  try {
    return { result: await copy(file.fd), found: readFileSync(paths.target) };
  } finally {
    await file.close();
  }
}

beforeEach(() => rmSync(paths.blob, { recursive: true, force: true }));

describe.skipIf(native?.copyBlob === undefined)('the copy by the addon', () => {
  const copy = (stamp: string, table: Uint8Array | null, position = 0) =>
    intoFile((fd) =>
      native!.copyBlob!(
        Buffer.from(paths.blob),
        Buffer.from(stamp),
        table,
        cipher.key,
        cipher.iv,
        fd,
        position,
      ),
    );

  test('decrypts blobs of every kind of length, with a table and with a stamp only', async () => {
    for (const length of [0, 15, 16, CHUNK_BYTES - 1, CHUNK_BYTES, 3 * CHUNK_BYTES + 5, PIECE_BYTES]) {
      const piece = randomBytes(length);
      const { stamp, table } = stored(encryptPiece(piece, cipher.key, cipher.iv));
      for (const used of [table, null]) {
        const { result, found } = await copy(stamp, used, 7);
        expect([result, found.subarray(7).equals(piece)]).toEqual([length, true]);
      }
    }
  });

  test('writes only the chunks before one that does not match the table', async () => {
    const piece = randomBytes(4 * CHUNK_BYTES);
    const blob = encryptPiece(piece, cipher.key, cipher.iv);
    const { table } = stored(blob);
    for (const at of [0, CHUNK_BYTES + 1, blob.length - 1]) {
      const corrupt = Buffer.from(blob);
      corrupt[at]! ^= 1;
      const { stamp } = stored(corrupt);
      const before = piece.subarray(0, Math.floor(at / CHUNK_BYTES) * CHUNK_BYTES);
      expect(await copy(stamp, table)).toEqual({ result: -1, found: before });
    }
  });

  test('writes nothing if the file has another stamp, or the table another length', async () => {
    const { stamp, table } = stored(encryptPiece(randomBytes(100), cipher.key, cipher.iv));
    for (const [wanted, used] of [
      [`${stamp}0`, table],
      [`${stamp}0`, null],
      ['', null],
      [stamp, table.subarray(1)],
      [stamp, new Uint8Array(0)],
    ] as const)
      expect(await copy(wanted, used)).toEqual({ result: -1, found: Buffer.alloc(0) });
  });

  test('does not write a chunk with wrong padding', async () => {
    for (const padding of [[0], [17], [1, 2], [255]]) {
      const encryption = createCipheriv('aes-128-cbc', cipher.key, cipher.iv).setAutoPadding(false);
      const padded = Buffer.concat([randomBytes(CHUNK_BYTES + 16 - padding.length), Buffer.from(padding)]);
      const { stamp, table } = stored(encryption.update(padded));
      const { result, found } = await copy(stamp, table);
      expect([result, found.equals(padded.subarray(0, CHUNK_BYTES))]).toEqual([-1, true]);
    }
  });

  test('reports a missing file, a folder, an empty file and a closed target', async () => {
    expect((await copy('', null)).result).toBe(-1);
    mkdirSync(paths.blob);
    expect((await copy(stampOf(paths.blob), null)).result).toBe(-1);
    rmSync(paths.blob, { recursive: true });
    const { stamp } = stored(Buffer.alloc(0));
    expect((await copy(stamp, null)).result).toBe(-1);
    const full = stored(encryptPiece(randomBytes(100), cipher.key, cipher.iv));
    const path = Buffer.from(paths.blob);
    const closed = native!.copyBlob!(path, Buffer.from(full.stamp), null, cipher.key, cipher.iv, -1, 0);
    expect(await closed).toBe(-1);
  });
});

describe.skipIf(native?.decryptBlob === undefined)('the decryption of a blob in memory by the addon', () => {
  const decrypt = (blob: Uint8Array, position = 0) =>
    intoFile((fd) => native!.decryptBlob!(blob, cipher.key, cipher.iv, fd, position));

  test('writes blobs of every kind of length, also from shared memory', async () => {
    for (const length of [0, 15, 16, CHUNK_BYTES - 1, CHUNK_BYTES, 3 * CHUNK_BYTES + 5, PIECE_BYTES]) {
      const piece = randomBytes(length);
      const blob = encryptPiece(piece, cipher.key, cipher.iv);
      const shared = new Uint8Array(new SharedArrayBuffer(blob.length));
      shared.set(blob);
      for (const bytes of [blob, shared]) {
        const { result, found } = await decrypt(bytes, 7);
        expect([result, found.subarray(7).equals(piece)]).toEqual([length, true]);
      }
    }
  });

  test('reports a wrong length, wrong padding and a closed target', async () => {
    const blob = encryptPiece(randomBytes(100), cipher.key, cipher.iv);
    expect((await decrypt(new Uint8Array(0))).result).toBe(-1);
    expect((await decrypt(blob.subarray(1))).result).toBe(-1);
    const encryption = createCipheriv('aes-128-cbc', cipher.key, cipher.iv).setAutoPadding(false);
    const unpadded = encryption.update(Buffer.alloc(32));
    expect(await decrypt(unpadded)).toEqual({ result: -1, found: Buffer.alloc(0) });
    expect(await native!.decryptBlob!(blob, cipher.key, cipher.iv, -1, 0)).toBe(-1);
  });
});

describe.skipIf(native?.readBlob === undefined)('a read of a whole blob by the addon', () => {
  const into = Buffer.alloc(3 * CHUNK_BYTES);
  const read = (stamp: string, table: Uint8Array | null, target: Uint8Array = into) =>
    native!.readBlob!(Buffer.from(paths.blob), Buffer.from(stamp), table, target);

  test('returns the bytes of blobs of several lengths, with a table and with a stamp only', async () => {
    for (const length of [1, 100, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES]) {
      const blob = randomBytes(length);
      const { stamp, table } = stored(blob);
      for (const used of [table, null]) {
        expect(await read(stamp, used)).toBe(length);
        expect(into.subarray(0, length).equals(blob)).toBe(true);
      }
    }
  });

  test('fails at a wrong byte, table or stamp, without enough memory, and without a file', async () => {
    const blob = randomBytes(CHUNK_BYTES + 5);
    const { stamp, table } = stored(blob);
    expect(await read(stamp, table, into.subarray(0, blob.length - 1))).toBe(-1);
    expect(await read(`${stamp}0`, table)).toBe(-1);
    expect(await read(`${stamp}0`, null)).toBe(-1);
    expect(await read(stamp, table.subarray(1))).toBe(-1);
    for (const at of [0, CHUNK_BYTES, blob.length - 1]) {
      const corrupt = Buffer.from(blob);
      corrupt[at]! ^= 1;
      expect(await read(stored(corrupt).stamp, table)).toBe(-1);
    }
    rmSync(paths.blob);
    expect(await read(stamp, table)).toBe(-1);
  });
});

test('a blob is copied with its last check, with the stamp of this run, and by its hash', async () => {
  const threads = new BlobThreads();
  const piece = randomBytes(CHUNK_BYTES + 5);
  const blob = encryptPiece(piece, cipher.key, cipher.iv);
  const { stamp, table, hash } = stored(blob);
  const copy = (checkedStamp: string | null, lastCheck: BlobCheckRow | null) =>
    intoFile((fd) => threads.copyTo(paths.blob, hash, checkedStamp, lastCheck, cipher, { fd, position: 0 }));
  const whole = { kind: 'whole', length: piece.length, stamp, newTable: null };
  expect(await copy(stamp, null)).toEqual({ result: whole, found: piece });
  expect(await copy(null, { hash, stamp, table })).toEqual({ result: whole, found: piece });
  if (native?.copyBlob !== undefined) expect(threads.count).toBe(0);
  const byHash = { ...whole, newTable: expect.any(Uint8Array) as Uint8Array };
  expect(await copy(null, null)).toEqual({ result: byHash, found: piece });
  expect(await copy('another stamp', null)).toEqual({ result: byHash, found: piece });
  expect(await copy(null, { hash, stamp, table: new Uint8Array(0) })).toEqual({
    result: byHash,
    found: piece,
  });
  blob[CHUNK_BYTES]! ^= 1;
  const corrupt = stored(blob);
  for (const [checkedStamp, lastCheck] of [
    [stamp, null],
    [null, { hash, stamp, table }],
    [null, { hash, stamp: corrupt.stamp, table }],
    [null, null],
  ] as const) {
    const { result } = await copy(checkedStamp, lastCheck);
    expect(result).toEqual({ kind: 'corrupt', reason: 'its bytes have another hash' });
  }
  rmSync(paths.blob);
  expect((await copy(stamp, null)).result).toEqual({ kind: 'missing' });
  await threads.close();
});
