/**
 * A daemon on a disk that is full or read-only: a call that needs space fails with a message, other calls work, and no
 * data is lost when there is space again. Files that change while they are published are refused.
 */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { blobHashOf, isBlobHash } from '../../src/daemon/content/blobHash.js';
import { ContentWorld, filesOf, type ListedFile } from './support/contentWorld.js';
import { startDaemon, type DaemonOptions, type TestDaemon } from './support/daemon.js';
import { until } from './support/network.js';
import { freePort, HANG_MS } from './support/node.js';
import { canFail, canMount, FailingDisk, mountSmall } from './support/smallDisk.js';

const MIB = 1024 * 1024;
const FILM_BYTES = 12 * MIB;

let world: ContentWorld;
let creator: TestDaemon;
let film: Buffer;
let filmPath: string;
let peerPort: number;

beforeAll(async () => {
  world = await ContentWorld.start();
  peerPort = await freePort();
  creator = await world.daemon('creator', { args: [`--tcp-port=${peerPort}`] });
  await world.pay(creator);
  film = randomBytes(FILM_BYTES);
  filmPath = join(world.folder, 'film.bin');
  writeFileSync(filmPath, film);
  await creator.call('publish', { name: 'film', bid: '0.01', file_path: filmPath, blocking: true });
  await world.mine(creator);
}, HANG_MS);

afterAll(async () => {
  await creator?.stop();
  await world?.stop();
}, HANG_MS);

const blobFolder = (daemon: TestDaemon): string => join(daemon.folder, 'data', 'blobfiles');

/** Checks that the folder contains only complete blobs. */
function expectWholeBlobs(daemon: TestDaemon): void {
  for (const name of readdirSync(blobFolder(daemon))) {
    expect(isBlobHash(name), name).toBe(true);
    expect(blobHashOf(readFileSync(join(blobFolder(daemon), name)))).toBe(name);
  }
}

const waiting = async (): Promise<number> => (await world.node.rpc<{ size: number }>('getmempoolinfo')).size;

describe.runIf(canMount)('a daemon on a small disk', () => {
  let disk: string;
  let daemon: TestDaemon;
  const start = (options: Partial<DaemonOptions> = {}) =>
    world.daemon('small', {
      ...options,
      folder: disk,
      settings: { fixed_peers: [`127.0.0.1:${peerPort}`], fixed_peer_delay: 0, blob_lru_cache_size: 0 },
    });
  beforeAll(async () => {
    disk = join(world.folder, 'small');
    mkdirSync(disk);
    expect(mountSmall(disk, '64m')).toBe(true);
    daemon = await start();
    await world.pay(daemon);
  }, HANG_MS);
  afterAll(async () => {
    await daemon?.stop();
    spawnSync('umount', ['-l', disk]);
  }, HANG_MS);

  const ballast = (): string => join(disk, 'ballast');
  /** Fills the disk except for this number of bytes. */
  function fill(exceptBytes = 0): void {
    const fd = openSync(ballast(), 'a');
    for (const size of [MIB, 4096]) {
      const piece = Buffer.alloc(size, 1);
      try {
        for (;;) {
          const { bavail, bsize } = statfsSync(disk);
          if (bavail * bsize < exceptBytes + size) break;
          writeSync(fd, piece);
        }
      } catch {
        // The disk is too full for another chunk of this size.
      }
    }
    fsyncSync(fd);
    closeSync(fd);
  }
  const free = (): void => rmSync(ballast(), { force: true });
  const saved = () => readdirSync(join(disk, 'files'));

  it('reports that it cannot save a film, and saves it when there is space', async () => {
    fill(5 * MIB);
    await daemon.call<ListedFile>('get', { uri: 'film', save_file: true, timeout: 30 });
    await until('the download ended', async () => (await filesOf(daemon))[0]?.status !== 'running');
    expect(saved()).toEqual([]);
    expectWholeBlobs(daemon);
    free();
    await daemon.call('get', { uri: 'film', save_file: true, timeout: 30 });
    await until('the film is saved', async () => (await filesOf(daemon))[0]?.status === 'finished');
    const [file] = await filesOf(daemon);
    expect(readFileSync(file!.download_path!).equals(film)).toBe(true);
    await daemon.call('file_delete', { sd_hash: file!.sd_hash, delete_from_download_dir: true });
    expect([saved(), readdirSync(blobFolder(daemon))]).toEqual([[], []]);
  });

  it('refuses to publish, sends no claim and leaves no blob', async () => {
    const before = await waiting();
    for (const room of [5 * MIB, 0]) {
      fill(room);
      const error = await daemon
        .call('publish', { name: 'own', bid: '0.01', file_path: filmPath, blocking: true })
        .then(() => null, String);
      expect(error).toMatch(/no space is left/);
      expect(await waiting()).toBe(before);
      expect(readdirSync(blobFolder(daemon))).toEqual([]);
      free();
      expect(await filesOf(daemon)).toEqual([]);
    }
    await daemon.call('publish', { name: 'own', bid: '0.01', file_path: filmPath, blocking: true });
    expect(await filesOf(daemon)).toMatchObject([{ status: 'finished', blobs_completed: 7 }]);
    await world.mine(daemon);
  });

  it('refuses a change of settings and of wallets, and keeps the values on disk', async () => {
    const { blob_storage_limit } = await daemon.call<{ blob_storage_limit: number }>('settings_get');
    fill();
    await expect(
      daemon.call('settings_set', { key: 'blob_storage_limit', value: blob_storage_limit + 5 }),
    ).rejects.toThrow(/no space is left/);
    await expect(daemon.call('preference_set', { key: 'a', value: 'x'.repeat(100_000) })).rejects.toThrow(
      /no space is left/,
    );
    expect(await daemon.call('settings_get')).toMatchObject({ blob_storage_limit });
    const [file] = await filesOf(daemon);
    expect(Buffer.from(await (await fetch(file!.streaming_url)).arrayBuffer()).equals(film)).toBe(true);
    free();
  });

  it('deletes a file on a full disk', async () => {
    fill();
    const [file] = await filesOf(daemon);
    await daemon.call('file_delete', { sd_hash: file!.sd_hash });
    free();
    expect(await filesOf(daemon)).toEqual([]);
    expect(readdirSync(blobFolder(daemon))).toEqual([]);
  });

  it('stops on a full disk, and starts there or names the file and the remedy', async () => {
    await daemon.call('get', { uri: 'film', save_file: true, timeout: 30 });
    await until('the film is saved', async () => (await filesOf(daemon))[0]?.status === 'finished');
    fill();
    expect(await daemon.stop()).toBe(0);
    fill();
    daemon = await start({ waits: false });
    await until('the start has ended', async () => {
      const { is_running } = await daemon.call<{ is_running: boolean }>('status');
      return (
        is_running || /did not start: .*lbrynet\.sqlite: no space is left .*Free disk space/.test(daemon.log)
      );
    });
    expect(await daemon.stop()).toBe(0);
    free();
    daemon = await start();
    const [file] = await filesOf(daemon);
    expect(file!.status).toBe('finished');
    expect(Buffer.from(await (await fetch(file!.streaming_url)).arrayBuffer()).equals(film)).toBe(true);
  });
});

describe.runIf(canFail)('a daemon on a disk that became read-only', () => {
  let disk: FailingDisk | null = null;
  let daemon: TestDaemon | null = null;
  const start = (options: Partial<DaemonOptions> = {}) =>
    world.daemon('failing', {
      folder: disk!.folder,
      settings: { fixed_peers: [`127.0.0.1:${peerPort}`], fixed_peer_delay: 0, blob_lru_cache_size: 0 },
      ...options,
    });
  afterAll(async () => {
    await daemon?.stop();
    disk?.unmount();
  }, HANG_MS);

  it('plays stored files, refuses other calls, and has all data after the disk is repaired', async () => {
    disk = FailingDisk.mount(join(world.folder, 'failing'), 96);
    expect(disk).not.toBe(null);
    daemon = await start();
    await world.pay(daemon, 5);
    await daemon.call('get', { uri: 'film', save_file: true, timeout: 30 });
    await until('the film is saved', async () => (await filesOf(daemon!))[0]?.status === 'finished');
    const [file] = await filesOf(daemon);
    expect(disk!.fail()).toBe(true);
    // The daemon answers although the disk refuses to store the resolved claim.
    for (let call = 0; call < 3; call++)
      expect(await daemon.call('resolve', { urls: 'film' })).toMatchObject({ film: { name: 'film' } });
    expect(daemon.log.match(/Resolved claims are not stored: /g)).toHaveLength(1);
    expect(Buffer.from(await (await fetch(file!.streaming_url)).arrayBuffer()).equals(film)).toBe(true);
    for (const [method, params] of [
      ['settings_set', { key: 'blob_storage_limit', value: 77 }],
      ['preference_set', { key: 'b', value: '1' }],
      ['publish', { name: 'other', bid: '0.01', file_path: filmPath, blocking: true }],
      ['file_delete', { sd_hash: file!.sd_hash, delete_from_download_dir: true }],
    ] as const) {
      const error = await daemon.call(method, params).then(() => null, String);
      // SQLite does not distinguish a read-only disk from a failing one.
      expect(error).toMatch(/its disk is read-only|the disk failed to read or write it/);
    }
    expect(existsSync(file!.download_path!)).toBe(true);
    expect(await daemon.stop()).toBe(0);
    const error = await start({ waits: false }).then(
      () => null,
      (failed: Error) => failed.message,
    );
    expect(error).toMatch(/is read-only/);
    expect(error).not.toMatch(/^\s+at /m);
    expect(disk!.mountAgain()).toBe(true);
    daemon = await start();
    expect(await filesOf(daemon)).toMatchObject([
      { sd_hash: file!.sd_hash, status: 'finished', completed: true },
    ]);
    const [later] = await filesOf(daemon);
    expect(Buffer.from(await (await fetch(later!.streaming_url)).arrayBuffer()).equals(film)).toBe(true);
  });
});

describe('a file that', () => {
  // Made once, because the file does not change while random bytes are made, and a publication can end in that time.
  const otherFilm = randomBytes(4 * FILM_BYTES);

  it.each([
    ['grows', (path: string) => appendFileSync(path, randomBytes(1000))],
    ['shrinks', (path: string) => truncateSync(path, statSync(path).size - 1000)],
    [
      'is overwritten',
      (path: string) => {
        const fd = openSync(path, 'r+');
        writeSync(fd, randomBytes(1000), 0, 1000, Math.floor(Math.random() * FILM_BYTES));
        closeSync(fd);
      },
    ],
    ['is removed and written again', (path: string) => writeFileSync(path, otherFilm)],
  ])('%s while it is published is refused, without a claim or blobs', async (_, change) => {
    const path = join(world.folder, 'changing.bin');
    writeFileSync(path, otherFilm);
    const before = [await waiting(), readdirSync(blobFolder(creator)).length];
    let isDone = false;
    const published = creator
      .call('publish', { name: 'changing', bid: '0.01', file_path: path, blocking: true })
      .then(() => null, String)
      .finally(() => (isDone = true));
    while (!isDone) {
      change(path);
      await sleep(5);
    }
    expect(await published).toMatch(/changed while it was being (?:read|published)/);
    expect([await waiting(), readdirSync(blobFolder(creator)).length]).toEqual(before);
    expect((await filesOf(creator)).length).toBe(1);
  });
});

it('refuses a second daemon on the folder or on the wallets of another', async () => {
  const options = { hubPorts: [world.hubPort], waits: false };
  await expect(startDaemon({ ...options, folder: creator.folder })).rejects.toThrow(
    'Another lbcnet is running in',
  );
  const other = join(world.folder, 'other');
  mkdirSync(other);
  const args = [`--wallet-dir=${join(creator.folder, 'wallet')}`];
  await expect(startDaemon({ ...options, folder: other, args })).rejects.toThrow(
    /Another lbcnet is running in \S+wallet\. .*--wallet-dir/,
  );
});
