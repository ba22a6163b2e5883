/** Blobs of an earlier run. Only those chunks that are read are verified. */
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readFileSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { BlobThreads } from '../../../../src/daemon/blobs/blobThreads.js';
import { stampText } from '../../../../src/daemon/blobs/blobWork.js';
import { encryptPiece } from '../../../../src/daemon/blobs/cipher.js';
import { blobHashOf, MAX_BLOB_BYTES } from '../../../../src/daemon/content/blobHash.js';
import { CHUNK_BYTES, ChunkTable } from '../../../../src/daemon/content/chunkTable.js';
import { loadNative } from '../../../../src/native/binding.js';
import { ContentFolder } from '../../../support/contentFolder.js';
import { keepDatabaseThread } from '../../../support/databaseThread.js';

keepDatabaseThread();

const CIPHER = { key: randomBytes(16), iv: randomBytes(16) };
const PIECE = randomBytes(4 * CHUNK_BYTES + 5000);
const BLOB = encryptPiece(PIECE, CIPHER.key, CIPHER.iv);
const HASH = blobHashOf(BLOB);

const threads = new BlobThreads(1);
let folder: ContentFolder;
beforeEach(async () => {
  folder = new ContentFolder(threads);
  await folder.open();
  await folder.store.write(HASH, BLOB);
  await folder.reopen();
});
afterEach(async () => {
  await folder.close();
  folder.remove();
});
afterAll(() => threads.close());

/** Changes one byte of the file as a bad disk does, without any other sign of the change. */
async function corrupt(at: number): Promise<void> {
  const path = folder.blobPath(HASH);
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.from([BLOB[at]! ^ 4]), 0, 1, at);
  closeSync(file);
  const check = (await folder.database.blobCheck(HASH))!;
  await folder.database.noteChecked([{ ...check, stamp: stampText(statSync(path, { bigint: true })) }]);
}

async function corruptTable(change: (table: Buffer) => Buffer): Promise<void> {
  const check = (await folder.database.blobCheck(HASH))!;
  await folder.database.noteChecked([{ ...check, table: change(Buffer.from(check.table)) }]);
}

const flipByte = (at: number) => (table: Buffer) => {
  table[at]! ^= 1;
  return table;
};

async function storedTableMatches(): Promise<boolean> {
  const check = await folder.database.blobCheck(HASH);
  return ChunkTable.parse(check?.table ?? null, BLOB.length)?.matches(0, BLOB) ?? false;
}

async function saved(): Promise<{ readonly written: number | null; readonly bytes: Buffer }> {
  const path = join(folder.path, 'saved');
  writeFileSync(path, '');
  const file = await open(path, 'r+');
  const written = await folder.store.copyTo(HASH, CIPHER, { fd: file.fd, position: 0 });
  await file.close();
  return { written, bytes: readFileSync(path) };
}

it('returns valid chunks of a partly corrupt blob, and no corrupt ones', async () => {
  expect(await storedTableMatches()).toBe(true);
  await corrupt(3 * CHUNK_BYTES + 17);
  const parts = (await folder.store.openParts(HASH))!;
  const [from, count] = [CHUNK_BYTES - 100, CHUNK_BYTES + 200];
  expect(Buffer.from(await parts.read(from, count))).toEqual(BLOB.subarray(from, from + count));
  const buffer = new Uint8Array(CHUNK_BYTES);
  expect((await parts.read(CHUNK_BYTES, CHUNK_BYTES, buffer)).buffer).toBe(buffer.buffer);
  const end = Buffer.from(await parts.read(4 * CHUNK_BYTES + 1, CHUNK_BYTES));
  expect(end).toEqual(BLOB.subarray(4 * CHUNK_BYTES + 1));
  await expect(parts.read(4 * CHUNK_BYTES - 1, 1)).rejects.toThrow('is corrupt');
  await parts.close();
  expect(folder.store.finished.has(HASH)).toBe(false);
  expect(folder.warnings.join()).toContain('It was quarantined');
  expect(await folder.store.write(HASH, BLOB)).toBe(true);
  expect(Buffer.from((await folder.store.read(HASH))!)).toEqual(BLOB);
});

it.each(['read', 'saved', 'opened'])('a blob with a corrupt end is not %s', async (how) => {
  await corrupt(BLOB.length - 1);
  if (how === 'read') expect(await folder.store.read(HASH)).toBeNull();
  else if (how === 'opened') expect(await folder.store.openOnDisk(HASH, CIPHER, false)).toBeNull();
  else {
    const { written, bytes } = await saved();
    // The addon writes each chunk after it is verified, so only chunks before the corrupt one can be in the file.
    expect([written, bytes.length < PIECE.length, PIECE.indexOf(bytes)]).toEqual([null, true, 0]);
  }
  expect(folder.store.finished.has(HASH)).toBe(false);
});

it.each([
  ['key is damaged', flipByte(3)],
  ['first code is damaged', flipByte(16)],
  ['last code is damaged', flipByte(16 + 4 * 16 + 15)],
  ['length is wrong', (table: Buffer) => table.subarray(1)],
])('a table whose %s is replaced, and the blob is used', async (_what, change) => {
  const uses = [
    async () => expect(Buffer.from((await folder.store.read(HASH))!)).toEqual(BLOB),
    async () => expect(await saved()).toEqual({ written: PIECE.length, bytes: PIECE }),
    async () => {
      const parts = (await folder.store.openParts(HASH))!;
      for (let at = 0; at < BLOB.length; at += CHUNK_BYTES)
        expect(Buffer.from(await parts.read(at, CHUNK_BYTES))).toEqual(BLOB.subarray(at, at + CHUNK_BYTES));
      await parts.close();
    },
  ];
  // The store reads a table at the first use of its blob after the start.
  for (const use of uses) {
    await corruptTable(change);
    expect(await storedTableMatches()).toBe(false);
    await use();
    expect([folder.store.finished.has(HASH), folder.warnings]).toEqual([true, []]);
    await folder.reopen();
    expect(await storedTableMatches()).toBe(true);
  }
});

it('a changed file is verified as a whole before any part of it is used', async () => {
  const [changed, untouched] = [Buffer.from(BLOB), BLOB.subarray(0, CHUNK_BYTES)];
  changed[BLOB.length - 1]! ^= 1;
  writeFileSync(folder.blobPath(HASH), changed);
  expect(await folder.store.openParts(HASH)).toBeNull();
  expect(await folder.store.write(HASH, BLOB)).toBe(true);
  // A copy of the file has another stamp. It gets a table of its own.
  await folder.reopen();
  writeFileSync(folder.blobPath(HASH), BLOB);
  const parts = (await folder.store.openParts(HASH))!;
  expect(Buffer.from(await parts.read(0, CHUNK_BYTES))).toEqual(untouched);
  await parts.close();
  await folder.reopen();
  const { stamp } = (await folder.database.blobCheck(HASH))!;
  expect(stamp).toBe(stampText(statSync(folder.blobPath(HASH), { bigint: true })));
});

it('a deleted blob leaves no table', async () => {
  await folder.store.delete([HASH]);
  expect(await folder.database.blobCheck(HASH)).toBeNull();
});

it('blobs that were prepared are opened without a call of the database for each', async () => {
  const others = Array.from({ length: 3 }, () => randomBytes(100));
  for (const bytes of others) await folder.store.write(blobHashOf(bytes), bytes);
  await folder.reopen();
  const calls: string[] = [];
  const database = folder.database as {
    -readonly [K in 'blobCheck' | 'blobChecks']: (typeof folder.database)[K];
  };
  for (const name of ['blobCheck', 'blobChecks'] as const) {
    const call = database[name] as (...args: unknown[]) => never;
    database[name] = (...args: unknown[]) => {
      calls.push(name);
      return call(...args);
    };
  }
  const open = async (hash: string, bytes: Buffer) => {
    const parts = (await folder.store.openParts(hash))!;
    expect(Buffer.from(await parts.read(0, bytes.length))).toEqual(bytes);
    await parts.close();
  };
  folder.store.prepare([HASH, ...others.map((bytes) => blobHashOf(bytes)), blobHashOf(randomBytes(1))]);
  await open(HASH, BLOB);
  for (const bytes of others) await open(blobHashOf(bytes), bytes);
  expect(calls).toEqual(['blobChecks']);
  // Nothing is loaded for blobs that were verified in this run.
  folder.store.prepare([HASH]);
  await open(HASH, BLOB);
  expect(calls).toEqual(['blobChecks']);
});

describe.skipIf(loadNative()?.readBlob === undefined)('a whole blob that is read in the thread pool', () => {
  const into = Buffer.alloc(MAX_BLOB_BYTES);
  const read = async (hash = HASH): Promise<Buffer | null> => {
    const length = await folder.store.readInto(hash, into.fill(0));
    return length === null ? null : into.subarray(0, length);
  };

  it('is verified by its table, and counts as verified from then on', async () => {
    const check = vi.spyOn(folder.database, 'blobCheck');
    expect((await read())?.equals(BLOB)).toBe(true);
    expect((await read())?.equals(BLOB)).toBe(true);
    await (await folder.store.openParts(HASH))!.close();
    expect(check).toHaveBeenCalledTimes(1);
  });

  it('is not read if a chunk, the table or the stamp is wrong, and is then opened in another way', async () => {
    await corrupt(CHUNK_BYTES + 1);
    expect(await read()).toBeNull();
    const parts = (await folder.store.openParts(HASH))!;
    await expect(parts.read(CHUNK_BYTES, 1)).rejects.toThrow('is corrupt');
    await parts.close();
    expect(await read()).toBeNull();
    await folder.store.write(HASH, BLOB);
    expect((await read())?.equals(BLOB)).toBe(true);
    writeFileSync(folder.blobPath(HASH), BLOB.subarray(1));
    expect(await read()).toBeNull();
    expect(await folder.store.openParts(HASH)).toBeNull();
  });

  it('is not read without a table, or if it is missing', async () => {
    await corruptTable((table) => table.subarray(1));
    expect(await read()).toBeNull();
    expect(await read(blobHashOf(Buffer.from('missing')))).toBeNull();
  });

  it('may be shorter than a chunk, like a stream descriptor', async () => {
    const descriptor = Buffer.from('{"blobs": []}');
    await folder.store.write(blobHashOf(descriptor), descriptor);
    expect((await read(blobHashOf(descriptor)))?.equals(descriptor)).toBe(true);
  });
});
