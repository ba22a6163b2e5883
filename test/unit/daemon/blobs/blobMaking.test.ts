/** The encryption of pieces by the addon and by the worker threads. */
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { canMakeInPool, makeInPool, PooledDigest } from '../../../../src/daemon/blobs/blobMaking.js';
import { BlobThreads } from '../../../../src/daemon/blobs/blobThreads.js';
import { BlobWork } from '../../../../src/daemon/blobs/blobWork.js';
import { makeStream } from '../../../../src/daemon/blobs/makeStream.js';
import { blobBuffers } from '../../../../src/daemon/content/blobBuffers.js';
import { blobHashOf, MAX_BLOB_BYTES, PIECE_BYTES } from '../../../../src/daemon/content/blobHash.js';
import { ChunkTable } from '../../../../src/daemon/content/chunkTable.js';
import { loadNative } from '../../../../src/native/binding.js';
import { ContentFolder } from '../../../support/contentFolder.js';
import { keepDatabaseThread } from '../../../support/databaseThread.js';

keepDatabaseThread();

/** Threads that do not use the addon, even if it exists. */
class OwnThreads extends BlobThreads {
  override get makesInPool(): boolean {
    return false;
  }
}

const ways = [
  { name: 'worker threads', threads: new OwnThreads(2) },
  ...(canMakeInPool() ? [{ name: 'the addon', threads: new BlobThreads(2) }] : []),
];
let folder: ContentFolder;

beforeEach(() => {
  folder = new ContentFolder();
});
afterEach(async () => {
  await folder.close();
  folder.remove();
});
afterAll(async () => {
  for (const { threads } of ways) await threads.close();
});

describe.each(ways)('a stream made by $name', ({ threads }) => {
  const making = () => ({ ...folder.making, threads });

  beforeEach(async () => {
    folder.keepsBlobs = true;
    await folder.open();
  });

  /** More groups than are in memory at the same time, and a short last piece. */
  const bytes = randomBytes(19 * PIECE_BYTES + 77);

  it.each([true, false])('has the same blobs as one by Node.js, with keep_blobs %s', async (keeps) => {
    folder.keepsBlobs = keeps;
    const path = join(folder.path, 'film.bin');
    writeFileSync(path, bytes);
    let encrypted = 0;
    const made = await makeStream(path, { ...making(), onEncrypted: (count) => (encrypted += count) });
    expect([made.fileHash, made.sizeBytes, encrypted]).toEqual([
      createHash('sha384').update(bytes).digest('hex'),
      bytes.length,
      bytes.length,
    ]);
    const work = new BlobWork(0);
    const { blobs, key } = made.descriptor;
    expect(blobs).toHaveLength(21);
    for (const { blobHash, blobNum, iv, length } of blobs.slice(0, -1)) {
      const piece = bytes.subarray(blobNum * PIECE_BYTES, (blobNum + 1) * PIECE_BYTES);
      const cipher = { key: Buffer.from(key, 'hex'), iv: Buffer.from(iv, 'hex') };
      const { hash, length: lengthBytes } = work.measure(piece, cipher);
      expect([blobHash, length]).toEqual([hash, lengthBytes]);
      if (keeps) expect(blobHashOf(readFileSync(folder.blobPath(hash)))).toBe(hash);
    }
    expect(readdirSync(folder.blobFolder)).toHaveLength(keeps ? blobs.length : 1);
  });

  it('leaves no blob and stops reading if the encryption fails', async () => {
    const path = join(folder.path, 'film.bin');
    // Twice as long as what may be read before the first encrypted piece is reported.
    writeFileSync(path, Buffer.concat([bytes, bytes]));
    let keys = 0;
    const random = {
      bytes: (count: number) => {
        keys++;
        return randomBytes(count);
      },
    };
    const onEncrypted = () => {
      throw new Error('stopped');
    };
    await expect(makeStream(path, { ...making(), random, onEncrypted })).rejects.toThrow('stopped');
    expect(keys).toBeLessThan(39);
    expect(readdirSync(folder.blobFolder)).toEqual([]);
    expect((await folder.database.diskUsage()).totalBytes).toBe(0);
  });

  it('reports a folder instead of a file', async () => {
    const path = join(folder.path, 'folder');
    mkdirSync(path);
    await expect(makeStream(path, making())).rejects.toThrow(path);
    expect(readdirSync(folder.blobFolder)).toEqual([]);
  });
});

describe.skipIf(!canMakeInPool())('the addon', () => {
  beforeEach(() => folder.open());

  it('encrypts pieces in place, with a table that matches the blob', async () => {
    const work = new BlobWork(0);
    const key = randomBytes(16);
    for (const sizes of [
      [PIECE_BYTES, PIECE_BYTES, PIECE_BYTES],
      [0],
      [1, 65_535, 65_536, 65_537],
      [15, 16],
    ]) {
      const pieces = sizes.map((size) => {
        const buffer = Buffer.alloc(MAX_BLOB_BYTES);
        randomBytes(size).copy(buffer);
        return { buffer, size, iv: randomBytes(16), plain: Buffer.from(buffer.subarray(0, size)) };
      });
      const made = await makeInPool(pieces, key);
      for (const [at, { buffer, iv, plain }] of pieces.entries()) {
        const { hash, length, table } = made[at]!;
        expect([hash, length]).toEqual(pick(work.measure(plain, { key, iv })));
        const blob = buffer.subarray(0, length);
        expect(blobHashOf(blob)).toBe(hash);
        expect(ChunkTable.parse(table, length)!.matches(0, blob)).toBe(true);
        blob[length - 1]! ^= 1;
        expect(ChunkTable.parse(table, length)!.matches(0, blob)).toBe(false);
      }
    }
  });

  const pick = ({ hash, length }: { hash: string; length: number }) => [hash, length];

  it('refuses wrong sizes, and a second read at the same time', async () => {
    const native = loadNative()!;
    const [piece, key] = [Buffer.alloc(32), randomBytes(16)];
    const encrypt = (size: number, ivs: Buffer, keys: Buffer) => () => {
      const sizes = Buffer.alloc(4);
      sizes.writeUInt32LE(size);
      void native.encryptBlobs!([piece], sizes, key, ivs, keys, true);
    };
    expect(encrypt(32, key, key)).toThrow('too small');
    expect(encrypt(0xffff_ffff, key, key)).toThrow('too small');
    expect(encrypt(1, key, Buffer.alloc(15))).toThrow('needs a size');
    expect(encrypt(1, Buffer.alloc(32), key)).toThrow('needs a size');
    expect(() => void native.encryptBlobs!([], piece, key, key, key, true)).toThrow('one to four');
    writeFileSync(join(folder.path, 'some'), 'some bytes');
    const file = await open(join(folder.path, 'some'));
    const digest = new native.FileDigest!();
    const reading = digest.read(file.fd, 5, [piece]);
    expect(() => digest.read(file.fd, 5, [piece])).toThrow('being read');
    expect(() => digest.end()).toThrow('could not be computed');
    expect([await reading, piece.toString('latin1', 0, 5)]).toEqual([5, 'bytes']);
    expect(digest.end().toString('hex')).toBe(blobHashOf(Buffer.from('bytes')));
    expect(() => digest.end()).toThrow('could not be computed');
    await file.close();
  });

  it('reports why a file cannot be read', async () => {
    const file = await open(folder.path);
    const read = new PooledDigest().read(file.fd, 0, [Buffer.alloc(MAX_BLOB_BYTES)]);
    await expect(read).rejects.toMatchObject({ code: 'EISDIR' });
    await file.close();
  });

  it('returns its buffers to the pool after success and failure', async () => {
    const path = join(folder.path, 'film.bin');
    writeFileSync(path, randomBytes(5 * PIECE_BYTES));
    blobBuffers.clear();
    // Threads of other tests that become idle release the buffers.
    vi.spyOn(blobBuffers, 'clear').mockReturnValue();
    onTestFinished(() => void vi.restoreAllMocks());
    await makeStream(path, folder.making);
    const free = blobBuffers.freeCount;
    expect(free).toBeGreaterThanOrEqual(5);
    const stopped = {
      ...folder.making,
      onEncrypted: () => {
        throw new Error('stopped');
      },
    };
    await expect(makeStream(path, stopped)).rejects.toThrow('stopped');
    expect(blobBuffers.freeCount).toBe(free);
  });
});
