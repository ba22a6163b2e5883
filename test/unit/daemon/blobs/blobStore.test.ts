import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { canVerifyInPool } from '../../../../src/daemon/blobs/blobDigests.js';
import { BlobThreads } from '../../../../src/daemon/blobs/blobThreads.js';
import { DiskSpace } from '../../../../src/daemon/blobs/diskSpace.js';
import { makeStream } from '../../../../src/daemon/blobs/makeStream.js';
import { blobHashOf } from '../../../../src/daemon/content/blobHash.js';
import { receivedBlob } from '../../../../src/daemon/content/incomingBlob.js';
import {
  descriptorBytes,
  readDescriptor,
  type StreamDescriptor,
} from '../../../../src/daemon/content/descriptor.js';
import { DATABASE_NAME } from '../../../../src/daemon/content/openDatabases.js';
import { loadSqlite } from '../../../../src/sqlite/sqliteProvider.js';
import { ContentFolder, NOW_SEC } from '../../../support/contentFolder.js';
import { keepDatabaseThread } from '../../../support/databaseThread.js';

keepDatabaseThread();

const threads = new BlobThreads(2);
let folder: ContentFolder;

beforeEach(async () => {
  folder = new ContentFolder(threads);
  await folder.open();
});
afterEach(async () => {
  await folder.close();
  folder.remove();
});
afterAll(() => threads.close());

async function blobOf(size: number): Promise<{ hash: string; bytes: Buffer }> {
  const bytes = randomBytes(size);
  const hash = blobHashOf(bytes);
  expect(await folder.store.write(hash, bytes)).toBe(true);
  return { hash, bytes };
}

const statusesOf = async (descriptor: StreamDescriptor): Promise<boolean[]> =>
  (await folder.database.blobsOfStream(descriptor.streamHash)).map(({ isFinished }) => isFinished);

/** Publishes a new file of this size as a stream. */
async function streamOf(size: number, name = `film${size}.mp4`) {
  const path = join(folder.path, name);
  const bytes = randomBytes(size);
  writeFileSync(path, bytes);
  return { path, bytes, ...(await makeStream(path, folder.making)) };
}

async function readStream(descriptor: StreamDescriptor): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for (const { blobHash, iv } of descriptor.blobs.slice(0, -1)) {
    const cipher = { key: Buffer.from(descriptor.key, 'hex'), iv: Buffer.from(iv, 'hex') };
    parts.push((await folder.store.read(blobHash!, cipher))!);
  }
  return Buffer.concat(parts);
}

/** The full size is for `npm run test:full`: each blob is synced to disk twice. */
const CORRUPT = process.env['LBCNODE_FULL'] === '1' ? 200 : 40;

describe('BlobStore', () => {
  it('returns a blob in parts, and no part of a changed one', async () => {
    const { hash, bytes } = await blobOf(300_000);
    await folder.reopen();
    const parts = (await folder.store.openParts(hash))!;
    expect(parts.lengthBytes).toBe(300_000);
    for (const at of [0, 100_000, 250_000])
      expect(Buffer.from(await parts.read(at, 100_000)).equals(bytes.subarray(at, at + 100_000))).toBe(true);
    const changed = Buffer.from(bytes);
    changed[299_999]! ^= 1;
    writeFileSync(folder.blobPath(hash), changed);
    await expect(parts.read(0, 100)).rejects.toThrow('was changed');
    await parts.close();
    expect(await folder.store.openParts(hash)).toBeNull();
    expect(folder.store.finished.has(hash)).toBe(false);
    expect(await folder.store.openParts('ab'.repeat(48))).toBeNull();
  });

  it('returns small parts in the memory of their reader, and no part of a corrupt chunk', async () => {
    const { hash, bytes } = await blobOf(393_216);
    await folder.reopen();
    const KIB_16 = 16_384;
    // In order, so that each chunk is read once as a whole, and from several places at the same time.
    const parts = (await folder.store.openParts(hash))!;
    const places = Array.from({ length: 24 }, (_, n) => n * KIB_16);
    const read = async (at: number): Promise<void> => {
      const into = new Uint8Array(KIB_16);
      const part = await parts.read(at, KIB_16, into);
      expect(part.buffer).toBe(into.buffer);
      expect(Buffer.from(part).equals(bytes.subarray(at, at + KIB_16))).toBe(true);
    };
    await Promise.all(places.filter((_, n) => n % 4 === 1).map(read));
    for (const at of places) await read(at);
    await parts.close();
    await folder.reopen();
    const changed = Buffer.from(bytes);
    changed[100_000]! ^= 1;
    const { mtimeMs } = statSync(folder.blobPath(hash));
    writeFileSync(folder.blobPath(hash), changed);
    utimesSync(folder.blobPath(hash), mtimeMs / 1000, mtimeMs / 1000);
    const again = await folder.store.openParts(hash);
    expect(again).toBeNull();
    expect(folder.store.finished.has(hash)).toBe(false);
  });

  it('returns a received blob at once, and counts it when it is on disk and has its row', async () => {
    const blobs = [70_000, 80_000, 90_000].map((size) => randomBytes(size));
    const hashes = blobs.map((bytes) => blobHashOf(bytes));
    let record: () => void = () => undefined;
    const mayRecord = new Promise<void>((resolve) => (record = resolve));
    const database = folder.database as { addBlobs: typeof folder.database.addBlobs };
    const { addBlobs } = database;
    database.addBlobs = async (rows, isFinished) => {
      await mayRecord;
      return addBlobs(rows, isFinished);
    };
    for (const [n, bytes] of blobs.entries()) {
      const hash = hashes[n]!;
      const blob = receivedBlob(bytes);
      expect(await folder.store.receive(hash, receivedBlob(randomBytes(9)))).toBe(false);
      expect(await folder.store.receive(hash, blob)).toBe(true);
      expect(await folder.store.read(hash)).toBe(blob.bytes);
      // The blob in memory is dropped, so that the next reader reads it from disk.
      folder.store.forgetHeld(hash);
    }
    const readers = hashes.map((hash) => folder.store.read(hash));
    const deletion = folder.store.delete([hashes[2]!]);
    expect(folder.store.finished.size).toBe(0);
    record();
    expect((await Promise.all(readers.slice(0, 2))).map((bytes) => Buffer.from(bytes!))).toEqual(
      blobs.slice(0, 2),
    );
    await Promise.all([deletion, ...hashes.map((hash) => folder.store.kept(hash))]);
    await folder.reopen();
    expect([...folder.store.finished].sort()).toEqual(hashes.slice(0, 2).sort());
  });

  it('verifies and writes a received blob on other threads, and its memory comes back', async () => {
    const own = new ContentFolder(new BlobThreads(2));
    await own.open();
    try {
      const bytes = randomBytes(300_000);
      const hash = blobHashOf(bytes);
      // If the thread pool cannot verify blobs, the call starts a thread, but does not wait for it.
      expect(await own.store.receive(hash, receivedBlob(randomBytes(300_000)))).toBe(false);
      expect(own.threads.count).toBe(canVerifyInPool() ? 0 : 1);
      const wrong = receivedBlob(randomBytes(300_000));
      expect(await own.store.receive(hash, wrong)).toBe(false);
      expect(wrong.bytes.length).toBe(300_000);
      const [first, second] = [receivedBlob(bytes), receivedBlob(bytes)];
      expect(await Promise.all([first, second].map((blob) => own.store.receive(hash, blob)))).toEqual([
        true,
        true,
      ]);
      expect([first.bytes, second.bytes]).toEqual([bytes, bytes]);
      await own.store.kept(hash);
      await own.reopen();
      expect(Buffer.from((await own.store.read(hash))!).equals(bytes)).toBe(true);
      expect(readdirSync(own.blobFolder)).toEqual([hash]);
    } finally {
      await own.close();
      await own.threads.close();
      own.remove();
    }
  });

  it('reports a failed write of a received blob to the caller that needs it on disk', async () => {
    const blob = receivedBlob(randomBytes(5000));
    const hash = blobHashOf(blob.bytes);
    const database = folder.database as { addBlobs: typeof folder.database.addBlobs };
    const { addBlobs } = database;
    database.addBlobs = () => Promise.reject(new Error('the disk is full'));
    expect(await folder.store.receive(hash, blob)).toBe(true);
    await expect(folder.store.kept(hash)).rejects.toThrow('the disk is full');
    expect([await folder.store.read(hash), folder.store.finished.has(hash)]).toEqual([null, false]);
    database.addBlobs = addBlobs;
    expect(await folder.store.receive(hash, blob)).toBe(true);
    await folder.store.kept(hash);
    expect(folder.store.finished.has(hash)).toBe(true);
  });

  it('keeps blobs over a restart and refuses bytes of another hash', async () => {
    const { hash, bytes } = await blobOf(1000);
    const other = blobHashOf(Buffer.from('other'));
    expect(await folder.store.write(other, bytes)).toBe(false);
    expect(await folder.store.write(blobHashOf(Buffer.alloc(0)), Buffer.alloc(0))).toBe(false);
    expect(readdirSync(folder.blobFolder)).toEqual([hash]);
    await folder.reopen();
    expect([...folder.store.finished]).toEqual([hash]);
    expect(Buffer.from((await folder.store.read(hash))!)).toEqual(bytes);
    expect(await folder.store.read(other)).toBeNull();
  });

  it(`returns no wrong byte of ${CORRUPT} corrupt blobs, and each is repaired by one write`, async () => {
    for (let n = 0; n < CORRUPT; n++) {
      const { hash, bytes } = await blobOf(64 + ((n * 977) % 4000));
      if (n % 2 === 0) await folder.store.read(hash);
      const path = folder.blobPath(hash);
      const at = (n * 7919) % bytes.length;
      if (n % 5 === 0) truncateSync(path, at);
      else {
        const corrupt = Buffer.from(bytes);
        corrupt[at]! ^= 1 << (n % 8);
        writeFileSync(path, corrupt);
        // The corruption is detected although the modification time is unchanged.
        if (n % 5 === 1) utimesSync(path, NOW_SEC, NOW_SEC);
      }
      if (n % 40 === 39) await folder.reopen();
      expect(await folder.store.read(hash)).toBeNull();
      expect(folder.store.finished.has(hash)).toBe(false);
      expect(existsSync(path)).toBe(false);
      expect(await folder.store.write(hash, bytes)).toBe(true);
      expect(Buffer.from((await folder.store.read(hash))!)).toEqual(bytes);
      expect(existsSync(`${path}.damaged`)).toBe(false);
    }
  });

  it('accepts existing files with matching hashes, and no others', async () => {
    const good = randomBytes(500);
    const names = {
      good: blobHashOf(good),
      junk: blobHashOf(Buffer.from('x')),
      folder: blobHashOf(Buffer.from('y')),
    };
    writeFileSync(folder.blobPath(names.good), good);
    writeFileSync(folder.blobPath(names.junk), 'junk');
    mkdirSync(folder.blobPath(names.folder));
    writeFileSync(folder.blobPath('readme.txt'), 'of the user');
    writeFileSync(folder.blobPath(`${names.good}.1-0-0.part`), 'half');
    await folder.reopen();
    expect([...folder.store.finished]).toEqual([names.good]);
    expect(readdirSync(folder.blobFolder).sort()).toEqual(
      [names.good, `${names.junk}.damaged`, names.folder, 'readme.txt'].sort(),
    );
    expect(await folder.database.dueForAnnouncement(false, 10, NOW_SEC)).toEqual([names.good]);
  });

  it('marks blobs as missing if their files are missing', async () => {
    const { descriptor, bytes } = await streamOf(5_000_000);
    const [first, second] = descriptor.blobs;
    rmSync(folder.blobPath(first!.blobHash!));
    expect(await folder.store.read(first!.blobHash!)).toBeNull();
    rmSync(folder.blobPath(second!.blobHash!));
    await folder.reopen();
    expect(await statusesOf(descriptor)).toEqual([false, false, true, false]);
    expect(bytes.length).toBe(5_000_000);
  });

  it('deletes a stream but not the blobs that another one uses', async () => {
    const { descriptor, sdHash } = await streamOf(3_000_000);
    const shared = { ...descriptor, streamName: 'other.mp4' };
    const other = {
      ...shared,
      streamHash: (await import('../../../../src/daemon/content/descriptor.js')).streamHashOf(shared),
    };
    const otherBytes = descriptorBytes(other);
    const otherSd = blobHashOf(otherBytes);
    await folder.store.write(otherSd, otherBytes);
    await folder.database.addStream({
      descriptor: other,
      sdHash: otherSd,
      sdLengthBytes: otherBytes.length,
      addedOn: NOW_SEC,
      isMine: false,
    });
    await folder.store.deleteStream(descriptor.streamHash);
    expect(await folder.database.streamHashOf(sdHash)).toBeNull();
    expect(await statusesOf(other)).toEqual([true, true, false]);
    expect([...folder.store.finished].sort()).toEqual(
      [otherSd, ...descriptor.blobs.slice(0, -1).map(({ blobHash }) => blobHash!)].sort(),
    );
    await folder.store.deleteStream(other.streamHash);
    expect(readdirSync(folder.blobFolder)).toEqual([]);
    await folder.reopen();
    expect(folder.store.finished.size).toBe(0);
  });

  it('deletes a blob of the stream that is verified during the deletion', async () => {
    const { descriptor } = await streamOf(3_000_000);
    const hash = descriptor.blobs[0]!.blobHash!;
    const bytes = readFileSync(folder.blobPath(hash));
    rmSync(folder.blobPath(hash));
    expect(await folder.store.read(hash)).toBeNull();
    const received = folder.store.receive(hash, bytes);
    await folder.store.deleteStream(descriptor.streamHash);
    await received;
    await folder.store.kept(hash);
    expect(readdirSync(folder.blobFolder)).toEqual([]);
    expect([...folder.store.finished]).toEqual([]);
    const rows = (await loadSqlite()).open(join(folder.path, DATABASE_NAME));
    expect(rows.prepare('select * from blob').all()).toEqual([]);
    rows.close();
  });

  it('keeps a blob that is stored again after its rows were deleted', async () => {
    const blobs = [await blobOf(100), await blobOf(200)];
    const { bytes, hash } = blobs[1]!;
    const { forgetBlobs } = folder.database;
    (folder.database as { forgetBlobs: typeof forgetBlobs }).forgetBlobs = async (hashes) => {
      await forgetBlobs.call(folder.database, hashes);
      again = Promise.resolve().then(() => folder.store.write(hash, bytes));
    };
    let again: Promise<boolean> | null = null;
    await folder.store.delete(blobs.map((blob) => blob.hash));
    expect(await again!).toBe(true);
    expect([...folder.store.finished]).toEqual([hash]);
    expect(readdirSync(folder.blobFolder)).toEqual([hash]);
  });

  it('completes an interrupted deletion at the next start', async () => {
    const { hash, bytes } = await blobOf(100);
    await folder.database.forgetBlobs([hash]);
    expect(existsSync(folder.blobPath(hash))).toBe(true);
    await folder.reopen();
    expect(existsSync(folder.blobPath(hash))).toBe(false);
    // A blob that was fetched again meanwhile stays.
    await folder.database.forgetBlobs([hash]);
    await folder.store.write(hash, bytes);
    await folder.reopen();
    expect([...folder.store.finished]).toEqual([hash]);
  });
});

describe('a file of a blob that cannot be removed', () => {
  /** Puts a folder in the place of the blob's file. It cannot be removed like a file. */
  function fix(hash: string): void {
    rmSync(folder.blobPath(hash));
    mkdirSync(join(folder.blobPath(hash), 'inside'), { recursive: true });
  }
  const unfix = (hash: string): void => rmSync(folder.blobPath(hash), { recursive: true });
  /** Limits that no blob is within, and the information that the cleanings log. */
  function fullSpace(): { space: DiskSpace; lines: string[] } {
    const lines: string[] = [];
    const space = new DiskSpace({
      database: folder.database,
      store: folder.store,
      limits: () => ({ contentMib: 0, networkMib: 0 }),
      log: { info: (line) => void lines.push(line), warn: () => undefined },
    });
    return { space, lines };
  }

  it('does not keep the other files, and its removal is repeated', async () => {
    const { descriptor } = await streamOf(5_000_000);
    const [first] = descriptor.blobs;
    const hash = first!.blobHash!;
    fix(hash);
    await expect(folder.store.deleteStream(descriptor.streamHash)).rejects.toThrow(
      `${folder.blobPath(hash)}: it is a folder where a file should be`,
    );
    expect(readdirSync(folder.blobFolder)).toEqual([hash]);
    expect([...folder.store.finished]).toEqual([]);
    await expect(folder.store.repeatDeletions()).rejects.toThrow(folder.blobPath(hash));
    unfix(hash);
    writeFileSync(folder.blobPath(hash), 'rest');
    await folder.store.repeatDeletions();
    expect(readdirSync(folder.blobFolder)).toEqual([]);
    expect(await folder.database.doomedBlobs()).toEqual([]);
  });

  it('does not prevent a start, and is removed at a later one', async () => {
    const { hash, bytes } = await blobOf(100);
    fix(hash);
    await expect(folder.store.delete([hash])).rejects.toThrow(folder.blobPath(hash));
    await folder.reopen();
    expect([await folder.database.doomedBlobs(), [...folder.store.finished]]).toEqual([[hash], []]);
    unfix(hash);
    writeFileSync(folder.blobPath(hash), bytes);
    await folder.reopen();
    expect([existsSync(folder.blobPath(hash)), [...folder.store.finished]]).toEqual([false, []]);
    expect(await folder.database.doomedBlobs()).toEqual([]);
  });

  it('stays if the blob was stored again before the repetition', async () => {
    const { hash, bytes } = await blobOf(100);
    fix(hash);
    await expect(folder.store.delete([hash])).rejects.toThrow(folder.blobPath(hash));
    unfix(hash);
    await folder.store.write(hash, bytes);
    await folder.store.repeatDeletions();
    expect([...folder.store.finished]).toEqual([hash]);
    expect(existsSync(folder.blobPath(hash))).toBe(true);
  });

  it('is reported by a cleaning, which deletes and counts the others', async () => {
    const [first, second] = [await blobOf(2000), await blobOf(1000)];
    fix(first.hash);
    const { space, lines } = fullSpace();
    await expect(space.clean()).rejects.toThrow(folder.blobPath(first.hash));
    expect(readdirSync(folder.blobFolder)).toEqual([first.hash]);
    expect(lines).toEqual(['Blobs deleted because of the disk space limits in the settings: 1.']);
    expect(space.status()).toMatchObject({ seed_blobs_storage_used_mb: 0 });
    unfix(first.hash);
    await space.clean();
    expect(await folder.database.doomedBlobs()).toEqual([]);
    expect(second.bytes.length).toBe(1000);
    expect(lines).toHaveLength(1);
  });

  it('is not counted by a cleaning that can delete nothing', async () => {
    const { hash } = await blobOf(1000);
    fix(hash);
    const { space, lines } = fullSpace();
    await expect(space.clean()).rejects.toThrow(folder.blobPath(hash));
    expect(lines).toEqual([]);
    unfix(hash);
  });
});

describe('makeStream', () => {
  it.each([0, 1, 15, 16, 2_097_150, 2_097_151, 2_097_152, 9_000_000])(
    'makes a stream of %i bytes',
    async (size) => {
      const { bytes, descriptor, sdHash, fileHash, sizeBytes } = await streamOf(size);
      expect([sizeBytes, fileHash]).toEqual([size, blobHashOf(bytes)]);
      expect((await readStream(descriptor))?.equals(bytes)).toBe(true);
      const sdBlob = (await folder.store.read(sdHash))!;
      expect(readDescriptor(sdBlob)).toEqual(descriptor);
      expect(await folder.database.streamSize(descriptor.streamHash)).toBe(size);
      expect(await folder.database.dueForAnnouncement(true, 10, NOW_SEC)).toEqual([sdHash]);
      expect(readdirSync(folder.blobFolder)).toHaveLength(descriptor.blobs.length);
    },
  );

  it('leaves nothing if a file grows while it is read', async () => {
    const path = join(folder.path, 'growing');
    writeFileSync(path, randomBytes(3_000_000));
    const random = {
      bytes: (count: number) => {
        writeFileSync(path, 'more', { flag: 'a' });
        return randomBytes(count);
      },
    };
    await expect(makeStream(path, { ...folder.making, random })).rejects.toThrow(
      'changed while it was being read',
    );
    expect(readdirSync(folder.blobFolder)).toEqual([]);
    expect((await folder.database.diskUsage()).totalBytes).toBe(0);
    await expect(makeStream(join(folder.path, 'none'), folder.making)).rejects.toThrow('none: it is missing');
  });

  it('stops reading a file that grows as fast as it is read', async () => {
    const path = join(folder.path, 'endless');
    writeFileSync(path, randomBytes(3_000_000));
    let grown = 0;
    const random = {
      bytes: (count: number) => {
        // The file stops growing at last, so that a program that reads all of it fails the test instead of running without end.
        if (grown++ < 40) writeFileSync(path, Buffer.alloc(2_500_000), { flag: 'a' });
        return randomBytes(count);
      },
    };
    await expect(makeStream(path, { ...folder.making, random })).rejects.toThrow(
      'changed while it was being read',
    );
    expect(grown).toBeLessThan(12);
    expect(readdirSync(folder.blobFolder)).toEqual([]);
  });
});

describe('DiskSpace', () => {
  const MIB = 1024 * 1024;
  let limits = { contentMib: 0, networkMib: 0 };
  const lines: string[] = [];
  const disk = () =>
    new DiskSpace({
      database: folder.database,
      store: folder.store,
      limits: () => limits,
      log: { info: (line) => void lines.push(line), warn: () => undefined },
    });

  /** A stream that was downloaded. */
  async function foreignStream(sizes: readonly number[], name: string): Promise<StreamDescriptor> {
    const blobs = [];
    for (const size of sizes) {
      const { hash, bytes } = await blobOf(size);
      blobs.push({ blobHash: hash, blobNum: blobs.length, iv: '00'.repeat(16), length: bytes.length });
    }
    const { streamHashOf } = await import('../../../../src/daemon/content/descriptor.js');
    const parts = {
      streamName: name,
      key: '11'.repeat(16),
      suggestedFileName: name,
      blobs: [...blobs, { blobHash: null, blobNum: blobs.length, iv: '22'.repeat(16), length: 0 }],
    };
    const descriptor = { ...parts, streamHash: streamHashOf(parts) };
    const bytes = descriptorBytes(descriptor);
    await folder.store.write(blobHashOf(bytes), bytes);
    await folder.database.addStream({
      descriptor,
      sdHash: blobHashOf(bytes),
      sdLengthBytes: bytes.length,
      addedOn: NOW_SEC,
      isMine: false,
    });
    return descriptor;
  }

  it('deletes nothing below the limit, and no own blob above it', async () => {
    // Padding makes it one blob of 2 MiB.
    const own = await streamOf(2 * MIB - 2);
    const foreign = await foreignStream([MIB, MIB, MIB / 2], 'foreign');
    limits = { contentMib: 5, networkMib: 0 };
    lines.length = 0;
    for (let n = 0; n < 3; n++) await disk().clean();
    expect(await statusesOf(foreign)).toEqual([true, true, true, false]);
    expect(lines).toEqual([]);
    limits = { contentMib: 4, networkMib: 0 };
    await disk().clean();
    expect(lines).toEqual(['Blobs deleted because of the disk space limits in the settings: 1.']);
    // The blobs have 4.5 MiB. Deleting the smallest of equally old blobs is enough.
    expect(await statusesOf(foreign)).toEqual([true, true, false, false]);
    limits = { contentMib: 1, networkMib: 0 };
    const space = disk();
    await space.clean();
    expect(await statusesOf(foreign)).toEqual([false, false, false, false]);
    expect((await readStream(own.descriptor))?.equals(own.bytes)).toBe(true);
    expect(space.status()).toEqual({
      total_used_mb: 2,
      published_blobs_storage_used_mb: 2,
      content_blobs_storage_used_mb: 0,
      seed_blobs_storage_used_mb: 0,
      running: false,
    });
  });

  it('keeps pinned streams and limits blobs without a stream separately', async () => {
    const pinned = await foreignStream([MIB], 'pinned');
    const other = await foreignStream([MIB], 'other');
    const small = await blobOf(MIB / 2);
    const large = await blobOf(MIB);
    await folder.database.pin('stream', pinned.streamHash, NOW_SEC);
    limits = { contentMib: 1, networkMib: 1 };
    await disk().clean();
    expect(await statusesOf(pinned)).toEqual([true, false]);
    expect(await statusesOf(other)).toEqual([false, false]);
    expect([small, large].map(({ hash }) => folder.store.finished.has(hash))).toEqual([true, false]);
    await folder.database.unpin('stream', pinned.streamHash);
    limits = { contentMib: 1, networkMib: 0 };
    await disk().clean();
    expect(await statusesOf(pinned)).toEqual([true, false]);
    expect(folder.store.finished.has(small.hash)).toBe(false);
    expect(readFileSync(folder.blobPath(pinned.blobs[0]!.blobHash!))).toHaveLength(MIB);
  });

  it('keeps the streams of pinned channels, later ones too', async () => {
    const channel = 'cd'.repeat(20);
    await folder.database.pin('channel', channel, NOW_SEC);
    const streams = [await foreignStream([MIB], 'ofChannel'), await foreignStream([MIB], 'other')];
    for (const [n, { streamHash }] of streams.entries()) {
      const outpoint = `${'0'.repeat(63)}${n}:0`;
      await folder.database.saveClaims([
        {
          outpoint,
          claimId: `${n}`.repeat(40),
          name: 'a',
          amountDewies: 1n,
          height: 1,
          value: '00',
          channelClaimId: n === 0 ? channel : 'ef'.repeat(20),
          address: 'b',
        },
      ]);
      expect(await folder.database.tieClaim(streamHash, outpoint)).toBeNull();
    }
    limits = { contentMib: 1, networkMib: 0 };
    for (let n = 0; n < 2; n++) await disk().clean();
    expect(await Promise.all(streams.map(statusesOf))).toEqual([
      [true, false],
      [false, false],
    ]);
  });

  it('returns the remaining bytes for blobs without a stream', async () => {
    limits = { contentMib: 0, networkMib: 0 };
    expect(await disk().freeNetworkBytes()).toBe(0);
    limits = { contentMib: 0, networkMib: 2 };
    await blobOf(MIB);
    await foreignStream([MIB], 'content');
    expect(await disk().freeNetworkBytes()).toBe(MIB);
    limits = { contentMib: 0, networkMib: 1 };
    await blobOf(16);
    expect(await disk().freeNetworkBytes()).toBe(0);
  });
});
