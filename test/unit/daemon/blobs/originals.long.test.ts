/**
 * Blobs that are made from the published file: they are equal bit by bit, take little disk space, and are not offered after a
 * change of the file.
 */
import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BlobThreads } from '../../../../src/daemon/blobs/blobThreads.js';
import { encryptPiece } from '../../../../src/daemon/blobs/cipher.js';
import { DiskSpace } from '../../../../src/daemon/blobs/diskSpace.js';
import { makeStream, type MadeStream } from '../../../../src/daemon/blobs/makeStream.js';
import { blobHashOf, PIECE_BYTES } from '../../../../src/daemon/content/blobHash.js';
import { SharedReads } from '../../../../src/daemon/exchange/sharedReads.js';
import { ContentFolder, NOW_SEC } from '../../../support/contentFolder.js';

const threads = new BlobThreads(2);
let folder: ContentFolder;
let path: string;
let bytes: Buffer;
let made: MadeStream;
let hashes: string[];

beforeEach(async () => {
  folder = new ContentFolder(threads);
  folder.keepsBlobs = false;
  await folder.open();
  mkdirSync(join(folder.path, 'films'));
  path = join(folder.path, 'films', 'film.mp4');
});
afterEach(async () => {
  await folder.close();
  folder.remove();
});
afterAll(() => threads.close());

async function publish(size: number): Promise<void> {
  bytes = randomBytes(size);
  writeFileSync(path, bytes);
  made = await makeStream(path, folder.making);
  hashes = made.descriptor.blobs.slice(0, -1).map(({ blobHash }) => blobHash!);
  await folder.database.addFile({
    streamHash: made.descriptor.streamHash,
    place: { fileName: 'film.mp4', directory: join(folder.path, 'films') },
    status: 'finished',
    isSaved: true,
    contentFee: null,
    addedOn: NOW_SEC,
  });
}

/** The blob that the descriptor describes, encrypted by this test. */
function expected(at: number): Buffer {
  const { key, blobs } = made.descriptor;
  const piece = bytes.subarray(at * PIECE_BYTES, (at + 1) * PIECE_BYTES);
  return encryptPiece(piece, Buffer.from(key, 'hex'), Buffer.from(blobs[at]!.iv, 'hex'));
}

const bytesBelow = (at: string): number =>
  readdirSync(at, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);

const changes = (): string[] => folder.warnings.filter((text) => text.includes('differs from the published'));
const offered = (): boolean[] => hashes.map((hash) => folder.store.finished.has(hash));
const due = async (): Promise<string[]> => folder.database.dueForAnnouncement(false, 100, NOW_SEC + 1);
const cipherAt = (at: number) => ({
  key: Buffer.from(made.descriptor.key, 'hex'),
  iv: Buffer.from(made.descriptor.blobs[at]!.iv, 'hex'),
});

describe('blobs that are made from the published file', () => {
  it('use at most 1 % of its size, and are bit-equal to those of the descriptor', async () => {
    await folder.close();
    const before = bytesBelow(folder.path);
    await folder.open();
    await publish(12 * PIECE_BYTES + 12_345);
    await folder.close();
    const extra = bytesBelow(folder.path) - before - bytes.length;
    console.log(`extra disk space: ${((extra / bytes.length) * 100).toFixed(3)} % of ${bytes.length} bytes`);
    expect(extra).toBeLessThan(bytes.length / 100);
    expect(readdirSync(folder.blobFolder)).toEqual([made.sdHash]);
    await folder.open();
    expect(offered().every(Boolean)).toBe(true);
    for (const [at, hash] of hashes.entries()) {
      const blob = (await folder.store.read(hash))!;
      expect(blobHashOf(blob)).toBe(hash);
      expect(expected(at).equals(blob)).toBe(true);
      const piece = (await folder.store.read(hash, cipherAt(at)))!;
      expect(bytes.subarray(at * PIECE_BYTES, (at + 1) * PIECE_BYTES).equals(piece)).toBe(true);
    }
    expect([...(await due())].sort()).toEqual([made.sdHash, ...hashes].sort());
    expect(folder.warnings).toEqual([]);
  });

  it('are the same as those that are kept, for the same random bytes', async () => {
    const source = join(folder.path, 'source');
    writeFileSync(source, randomBytes(PIECE_BYTES * 2));
    const descriptors = [];
    for (const keepsBlobs of [true, false]) {
      let counter = 0;
      const random = { bytes: (count: number) => Buffer.alloc(count, ++counter) };
      const other = new ContentFolder(threads);
      await other.open();
      const one = await makeStream(source, { ...other.making, random, keepsBlobs: () => keepsBlobs });
      descriptors.push(one.sdHash);
      await other.close();
      other.remove();
    }
    expect(descriptors[0]).toBe(descriptors[1]);
  });

  it('are sent whole, shared by concurrent requests', async () => {
    await publish(3 * PIECE_BYTES);
    const reads = new SharedReads(folder.store, 2);
    const signal = new AbortController().signal;
    const opened = await Promise.all(
      [0, 0, 1, 1, 0].map(async (at) => ({ at, blob: (await reads.open(hashes[at]!, signal))! })),
    );
    for (const { at, blob } of opened) {
      expect(
        expected(at)
          .subarray(5, 1005)
          .equals(await blob.read(5, 1000)),
      ).toBe(true);
      await blob.close();
    }
    expect(await folder.store.openParts(hashes[2]!)).toBeNull();
  });

  it('are written again by a restore, after which the file is not needed', async () => {
    await publish(3 * PIECE_BYTES + 1);
    expect(await folder.store.restore('ab'.repeat(48))).toMatchObject({ streams: 0, blobs: 0 });
    expect(await folder.store.restore(made.sdHash)).toEqual({
      streams: 1,
      blobs: 4,
      bytes: 3 * (PIECE_BYTES + 1) + 16,
      changed: [],
    });
    rmSync(path);
    await folder.store.originals.check();
    expect(readdirSync(folder.blobFolder).sort()).toEqual([made.sdHash, ...hashes].sort());
    await folder.reopen();
    expect([folder.store.originals.size, folder.warnings]).toEqual([0, []]);
    for (const [at, hash] of hashes.entries())
      expect(expected(at).equals((await folder.store.read(hash))!)).toBe(true);
  });

  it('are deleted with their stream, and use no space', async () => {
    await publish(2 * PIECE_BYTES);
    const { database, store, warnings } = folder;
    const limits = () => ({ contentMib: 1, networkMib: 0 });
    const space = new DiskSpace({
      database,
      store,
      limits,
      log: { info: () => undefined, warn: () => undefined },
    });
    await space.clean();
    expect(space.status()).toMatchObject({ total_used_mb: 0, published_blobs_storage_used_mb: 0 });
    await store.delete([hashes[0]!]);
    expect(offered()).toEqual([false, true]);
    await folder.reopen();
    expect(offered()).toEqual([false, true]);
    await folder.store.deleteStream(made.descriptor.streamHash);
    expect([[...folder.store.finished], folder.store.originals.madeBytes]).toEqual([[], 0]);
    expect(await folder.database.originals()).toEqual([]);
    expect([readdirSync(folder.blobFolder), warnings]).toEqual([[], []]);
  });
});

const NEW_TIME = new Date('2030-01-01');
/** Changes of the file, and the reason that is logged for each. */
const CHANGES: readonly (readonly [name: string, change: () => void, reason: RegExp])[] = [
  ['shrinks', () => truncateSync(path, bytes.length - 1), /another size/],
  ['is emptied', () => truncateSync(path, 0), /another size/],
  ['grows', () => appendFileSync(path, 'x'), /another size/],
  ['is removed', () => rmSync(path), /missing/],
  ['becomes a folder', () => (rmSync(path), mkdirSync(path)), /not a regular file/],
  [
    'is replaced by one of the same size',
    () => {
      writeFileSync(`${path}.new`, randomBytes(bytes.length));
      // Two files may get the same time from the clock of the file system.
      utimesSync(`${path}.new`, NEW_TIME, NEW_TIME);
      renameSync(`${path}.new`, path);
    },
    /other bytes/,
  ],
  [
    'is overwritten in its last byte',
    () => {
      const other = Buffer.from(bytes);
      other[other.length - 1]! ^= 1;
      writeFileSync(path, other);
      utimesSync(path, NEW_TIME, NEW_TIME);
    },
    /other bytes/,
  ],
];

describe('a published file that', () => {
  it.each(CHANGES)(
    '%s is detected: its blobs are not offered, and the log reports it once',
    async (_, change, reason) => {
      await publish(2 * PIECE_BYTES + 500);
      const { streamHash } = made.descriptor;
      copyFileSync(path, join(folder.path, 'backup'));
      const { mtime, atime } = statSync(path);
      expect((await folder.database.sdHashesOfFiles(0, 10)).hashes).toEqual([made.sdHash]);
      change();
      for (let round = 0; round < 2; round++) {
        await folder.store.originals.check();
        expect(offered()).toEqual([false, false, false]);
        expect(await folder.store.read(hashes[0]!)).toBeNull();
        expect(folder.store.originals.stateOf(streamHash)).toBe('changed');
        expect([await due(), (await folder.database.sdHashesOfFiles(0, 10)).hashes]).toEqual([[], []]);
        expect(changes()).toEqual([expect.stringMatching(reason)]);
        await folder.reopen();
      }
      expect((await folder.database.blobsOfStream(streamHash)).map(({ isFinished }) => isFinished)).toEqual([
        false,
        false,
        false,
        false,
      ]);
      expect(await folder.store.restore(null)).toMatchObject({
        streams: 0,
        blobs: 0,
        changed: [made.sdHash],
      });
      rmSync(path, { recursive: true, force: true });
      renameSync(join(folder.path, 'backup'), path);
      // The test runs with a new modification time, so that the whole file is compared, and with that of the publication.
      if (reason.source.includes('size')) utimesSync(path, atime, mtime);
      await folder.store.originals.check();
      expect([offered(), folder.store.originals.stateOf(streamHash)]).toEqual([
        [true, true, true],
        'unchanged',
      ]);
      expect(expected(1).equals((await folder.store.read(hashes[1]!))!)).toBe(true);
      expect((await due()).length).toBe(4);
    },
  );

  it('was changed without a new time is detected by the first created blob', async () => {
    await publish(2 * PIECE_BYTES);
    const { mtime, atime } = statSync(path);
    const other = Buffer.from(bytes);
    other[PIECE_BYTES + 77]! ^= 64;
    writeFileSync(path, other);
    utimesSync(path, atime, mtime);
    expect(expected(0).equals((await folder.store.read(hashes[0]!))!)).toBe(true);
    expect(await folder.store.read(hashes[1]!)).toBeNull();
    expect([offered(), changes().length]).toEqual([[false, false], 1]);
  });

  it('only got a new time is still offered', async () => {
    await publish(PIECE_BYTES + 1);
    utimesSync(path, NEW_TIME, NEW_TIME);
    await folder.store.originals.check();
    expect([offered(), folder.warnings]).toEqual([[true, true], []]);
    expect((await folder.database.originals())[0]!.goodStamp).toContain(`${NEW_TIME.getTime()}000000`);
  });

  it('is truncated during the publication is refused, and nothing is left', async () => {
    writeFileSync(path, randomBytes(4 * PIECE_BYTES));
    const { random } = folder.making;
    let calls = 0;
    const shortening = {
      bytes: (count: number) => {
        if (++calls === 3) truncateSync(path, 2 * PIECE_BYTES + 100);
        return random.bytes(count);
      },
    };
    for (const keepsBlobs of [true, false]) {
      writeFileSync(path, randomBytes(4 * PIECE_BYTES));
      calls = 0;
      await expect(
        makeStream(path, { ...folder.making, random: shortening, keepsBlobs: () => keepsBlobs }),
      ).rejects.toThrow('changed while it was being read');
      expect([readdirSync(folder.blobFolder), [...folder.store.finished]]).toEqual([[], []]);
    }
    expect(await folder.database.originals()).toEqual([]);
  });
});

describe('blobs that are not to be saved', () => {
  it('are kept in memory, limited in number, and never offered', async () => {
    folder.savesBlobs = false;
    const blobs = Array.from({ length: 40 }, () => randomBytes(1000));
    for (const blob of blobs) {
      expect(await folder.store.receive(blobHashOf(blob), blob)).toBe(true);
      expect(folder.store.heldCount).toBeLessThanOrEqual(16);
    }
    expect(await folder.store.receive(blobHashOf(blobs[0]!), blobs[1]!)).toBe(false);
    expect(readdirSync(folder.blobFolder)).toEqual([]);
    expect(folder.store.finished.size).toBe(0);
    const last = blobs.at(-1)!;
    expect(last.equals((await folder.store.read(blobHashOf(last)))!)).toBe(true);
    expect(await folder.store.read(blobHashOf(blobs[0]!))).toBeNull();
    folder.savesBlobs = true;
    expect(last.equals((await folder.store.read(blobHashOf(last)))!)).toBe(true);
    await folder.store.kept(blobHashOf(last));
    expect(readdirSync(folder.blobFolder)).toEqual([blobHashOf(last)]);
  });
});
