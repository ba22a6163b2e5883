/** Full and read-only disks: errors are clear, no operation is partly done, and the work continues when there is space. */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/daemon/base/clock.js';
import { BlobThreads } from '../../../../src/daemon/blobs/blobThreads.js';
import { makeStream, type MadeStream } from '../../../../src/daemon/blobs/makeStream.js';
import { PIECE_BYTES } from '../../../../src/daemon/content/blobHash.js';
import { FileManager } from '../../../../src/daemon/files/fileManager.js';
import { canMount, mountSmall } from '../../../functional/support/smallDisk.js';
import { ContentFolder, NOW_SEC } from '../../../support/contentFolder.js';
import { keepDatabaseThread } from '../../../support/databaseThread.js';

keepDatabaseThread();

const threads = new BlobThreads(2);
afterAll(() => threads.close());

/** The stream as its publisher has it. */
let source: ContentFolder;
let made: MadeStream;
let base: string;
let disk: string;
let folder: ContentFolder;
const bytes = randomBytes(5 * PIECE_BYTES);

describe.skipIf(!canMount)('on a small disk', () => {
  beforeEach(async () => {
    base = mkdtempSync(join(tmpdir(), 'lbcnet-disk-'));
    disk = join(base, 'disk');
    mkdirSync(disk);
    writeFileSync(join(base, 'film.bin'), bytes);
    source = new ContentFolder(threads);
    await source.open();
    made = await makeStream(join(base, 'film.bin'), source.making);
  });
  afterEach(async () => {
    await folder.close().catch(() => undefined);
    spawnSync('umount', ['-l', disk]);
    await source.close();
    source.remove();
    rmSync(base, { recursive: true, force: true });
  });

  async function openOn(size: string): Promise<void> {
    expect(mountSmall(disk, size)).toBe(true);
    folder = new ContentFolder(threads, join(disk, 'data'));
    await folder.open();
  }

  function manager(downloadDir: string): FileManager {
    return new FileManager({
      database: folder.database,
      blobs: folder.store,
      fetcher: () => ({
        fetchBlob: async (hash) => {
          const blob = readFileSync(source.blobPath(hash));
          await folder.store.receive(hash, blob);
          return blob;
        },
        progressOf: () => null,
      }),
      reflector: () => null,
      clock: systemClock,
      log: { warn: (text) => folder.warnings.push(text), info: () => undefined },
      settings: () => ({
        downloadDir,
        savesFiles: true,
        downloadTimeoutMs: 60_000,
        blobTimeoutMs: 60_000,
        cachedBlobs: 0,
      }),
    });
  }

  async function listed(downloadDir: string) {
    await folder.database.addStream({
      descriptor: made.descriptor,
      sdHash: made.sdHash,
      sdLengthBytes: 1000,
      addedOn: NOW_SEC,
      isMine: false,
    });
    const { streamHash } = made.descriptor;
    const files = manager(downloadDir);
    return files.add({
      streamHash,
      place: null,
      status: 'stopped',
      isSaved: false,
      contentFee: null,
      addedOn: NOW_SEC,
    });
  }

  it('a publication that does not fit leaves nothing, and succeeds once there is space', async () => {
    await openOn('8m');
    const before = readdirSync(folder.blobFolder);
    for (let attempt = 0; attempt < 2; attempt++) {
      await expect(makeStream(join(base, 'film.bin'), folder.making)).rejects.toThrow(/no space is left/);
      expect([readdirSync(folder.blobFolder), folder.store.finished.size]).toEqual([before, 0]);
    }
    spawnSync('mount', ['-o', 'remount,size=40m', disk]);
    const { descriptor } = await makeStream(join(base, 'film.bin'), folder.making);
    expect(
      descriptor.blobs.every(({ blobHash }) => blobHash === null || folder.store.finished.has(blobHash)),
    ).toBe(true);
    await folder.reopen();
    expect([folder.store.finished.size, folder.warnings]).toEqual([6, []]);
    folder.keepsBlobs = false;
    spawnSync('mount', ['-o', 'remount,size=14m', disk]);
    expect((await makeStream(join(base, 'film.bin'), folder.making)).sizeBytes).toBe(bytes.length);
  });

  it('a download that does not fit stops with the reason, and is completed once there is space', async () => {
    await openOn('7m');
    const file = await listed(join(base, 'saved'));
    const saving = file.save({});
    await saving.catch(() => undefined);
    await file.settled();
    expect([file.row.status, file.writtenBytes]).toEqual(['stopped', null]);
    expect(folder.warnings.join()).toMatch(/no space is left/);
    expect(readdirSync(join(base, 'saved'))).toEqual([]);
    expect(readdirSync(folder.blobFolder).filter((name) => name.endsWith('.part'))).toEqual([]);
    spawnSync('mount', ['-o', 'remount,size=40m', disk]);
    await file.save({});
    await file.settled();
    expect(readFileSync(join(base, 'saved', file.row.fileName!)).equals(bytes)).toBe(true);
    await folder.reopen();
    expect([folder.store.finished.size, file.row.status]).toEqual([6, 'finished']);
  });

  it('a download folder that is full or read-only stops only the saving', async () => {
    expect(mountSmall(disk, '4m')).toBe(true);
    folder = new ContentFolder(threads, join(base, 'data'));
    await folder.open();
    const file = await listed(join(disk, 'saved'));
    await file.save({}).catch(() => undefined);
    await file.settled();
    expect([file.row.status, folder.warnings.join()]).toEqual([
      'stopped',
      expect.stringMatching(/no space is left/),
    ]);
    spawnSync('mount', ['-o', 'remount,ro', disk]);
    await expect(file.save({})).rejects.toThrow(/read-only \(EROFS\)/);
    await file.save({ directory: join(base, 'elsewhere') });
    await file.settled();
    expect(readFileSync(join(base, 'elsewhere', file.row.fileName!)).equals(bytes)).toBe(true);
  });

  it('a read-only data folder ends the start with a sentence that names it', async () => {
    await openOn('20m');
    await folder.close();
    spawnSync('mount', ['-o', 'remount,ro', disk]);
    await expect(folder.open()).rejects.toThrow(/lbrynet\.sqlite|db_revision|disk\/data/);
    spawnSync('mount', ['-o', 'remount,rw', disk]);
    await folder.open();
    expect(folder.store.finished.size).toBe(0);
  });
});
