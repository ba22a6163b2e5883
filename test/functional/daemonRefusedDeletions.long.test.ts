/**
 * Deletions that the file system refuses (`chattr`, a read-only mount): errors name the file, nothing that stays is lost or
 * served, and the deletion succeeds later.
 */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ContentWorld, filesOf, type ListedFile } from './support/contentWorld.js';
import type { TestDaemon } from './support/daemon.js';
import { until } from './support/network.js';
import { freePort, HANG_MS } from './support/node.js';
import { canMount, mountSmall } from './support/smallDisk.js';

const FILM_BYTES = 9_000_000;
const BLOBS = 6;

let world: ContentWorld;
let creator: TestDaemon;
let viewer: TestDaemon;
const bytes = randomBytes(FILM_BYTES);
/** Paths with an attribute that the test removes at its end. */
const fixed: string[] = [];

function set(attribute: 'i' | 'a', path: string): void {
  expect(spawnSync('chattr', [`+${attribute}`, path]).status).toBe(0);
  fixed.push(path);
}
function free(): void {
  for (const path of fixed.splice(0)) spawnSync('chattr', ['-ia', path]);
}

/** Whether this user and file system can make folders immutable. */
function hasAttributes(): boolean {
  const probe = mkdtempSync(join(tmpdir(), 'lbcnet-immutable-'));
  const isMade = spawnSync('chattr', ['+i', probe]).status === 0;
  if (isMade) spawnSync('chattr', ['-i', probe]);
  rmSync(probe, { recursive: true });
  return isMade;
}

const blobFolder = (): string => join(viewer.folder, 'data', 'blobfiles');
const fileFolder = (): string => join(viewer.folder, 'files');
const film = async (daemon = viewer): Promise<ListedFile | undefined> =>
  (await filesOf(daemon, { claim_name: 'film' }))[0];
const isRunning = async (): Promise<boolean> =>
  (await viewer.call<{ is_running: boolean }>('status')).is_running;

async function download(params: object = {}): Promise<ListedFile> {
  const answer = await viewer.call<ListedFile>('get', { uri: 'film', save_file: true, ...params });
  expect(answer.error).toBeUndefined();
  await until('the film is saved', async () => (await film())?.status === 'finished');
  return (await film())!;
}
async function plays(file: ListedFile): Promise<boolean> {
  const answer = await fetch(file.streaming_url);
  return answer.status === 200 && Buffer.from(await answer.arrayBuffer()).equals(bytes);
}
const restart = async (): Promise<void> => {
  await viewer.stop();
  viewer = await world.daemon('viewer');
};

describe.runIf(hasAttributes())('a deletion that the file system refuses', { timeout: HANG_MS }, () => {
  beforeAll(async () => {
    world = await ContentWorld.start();
    const port = await freePort();
    creator = await world.daemon('creator', { args: [`--tcp-port=${port}`] });
    viewer = await world.daemon('viewer', {
      settings: { fixed_peers: [`127.0.0.1:${port}`], fixed_peer_delay: 0 },
    });
    await world.pay(creator, 5);
    const path = join(world.folder, 'film.bin');
    writeFileSync(path, bytes);
    await creator.call('publish', { name: 'film', bid: '0.01', file_path: path, blocking: true });
    await world.mine(creator, viewer);
  }, HANG_MS);
  afterEach(free);
  afterAll(async () => {
    free();
    await viewer?.stop();
    await creator?.stop();
    await world?.stop();
  }, HANG_MS);

  it('of the saved file is reported, the file stays usable, and it is deleted later', async () => {
    const file = await download();
    set('i', fileFolder());
    const params = { claim_name: 'film', delete_from_download_dir: true };
    await expect(viewer.call('file_delete', params)).rejects.toThrow(file.download_path!);
    expect(await film()).toMatchObject({ status: 'finished', download_path: file.download_path });
    expect(await plays(file)).toBe(true);
    const other = join(world.folder, 'other');
    await viewer.call('file_save', { claim_name: 'film', download_directory: other });
    await until('it is saved again', async () => (await film())!.status === 'finished');
    expect(readFileSync(join(other, 'film.bin')).equals(bytes)).toBe(true);
    expect(await viewer.call('file_delete', params)).toBe(true);
    expect([existsSync(join(other, 'film.bin')), await film()]).toEqual([false, undefined]);
    free();
    rmSync(file.download_path!);
  });

  it('of one blob does not keep the others, and `blob_clean` repeats it', async () => {
    const file = await download();
    const [fixedBlob] = readdirSync(blobFolder());
    set('i', join(blobFolder(), fixedBlob!));
    await expect(
      viewer.call('file_delete', { claim_name: 'film', delete_from_download_dir: true }),
    ).rejects.toThrow(join(blobFolder(), fixedBlob!));
    expect([await film(), readdirSync(blobFolder())]).toEqual([undefined, [fixedBlob]]);
    expect(existsSync(file.download_path!)).toBe(false);
    await restart();
    expect([await isRunning(), await film(), readdirSync(blobFolder())]).toEqual([
      true,
      undefined,
      [fixedBlob],
    ]);
    expect((await viewer.call<{ items: string[] }>('blob_list')).items).toEqual([]);
    await expect(viewer.call('blob_clean')).rejects.toThrow(join(blobFolder(), fixedBlob!));
    free();
    expect(await viewer.call('blob_clean')).toBeNull();
    expect(readdirSync(blobFolder())).toEqual([]);
  });

  it('of a single blob succeeds when it is repeated', async () => {
    await download();
    const data = (await viewer.call<{ items: string[] }>('blob_list', { uri: 'film' })).items[1]!;
    set('i', join(blobFolder(), data));
    await expect(viewer.call('blob_delete', { blob_hash: data })).rejects.toThrow(data);
    free();
    expect(await viewer.call('blob_delete', { blob_hash: data })).toBe(`Deleted ${data}`);
    expect(existsSync(join(blobFolder(), data))).toBe(false);
    expect(await viewer.call('file_delete', { claim_name: 'film', delete_from_download_dir: true })).toBe(
      true,
    );
  });

  it('by the limit of the settings is reported, and repeated by the next cleaning', async () => {
    await download();
    set('i', blobFolder());
    await viewer.call('settings_set', { key: 'blob_storage_limit', value: 1 });
    await expect(viewer.call('blob_clean')).rejects.toThrow(blobFolder());
    expect(readdirSync(blobFolder())).toHaveLength(BLOBS);
    expect(await isRunning()).toBe(true);
    await restart();
    expect([await isRunning(), readdirSync(blobFolder()).length]).toEqual([true, BLOBS]);
    free();
    expect(await viewer.call('blob_clean')).toBeNull();
    expect(readdirSync(blobFolder()).length).toBeLessThan(BLOBS);
    await viewer.call('settings_set', { key: 'blob_storage_limit', value: 0 });
    await viewer.call('file_delete', { claim_name: 'film', delete_from_download_dir: true });
  });

  it('of an incomplete file is in the log, and the next save has a free name', async () => {
    await creator.call('settings_set', { key: 'upload_bytes_per_second', value: 1_500_000 });
    await viewer.call('get', { uri: 'film', save_file: true });
    await until('a part is there', async () => (await film())!.blobs_completed >= 2);
    set('a', fileFolder());
    expect(await viewer.call('file_set_status', { claim_name: 'film', status: 'stop' })).toBe(
      'Stopped download',
    );
    expect(await film()).toMatchObject({ status: 'stopped', download_path: null });
    expect(readdirSync(fileFolder())).toEqual(['film.bin']);
    expect(viewer.log).toContain(join(fileFolder(), 'film.bin'));
    await creator.call('settings_set', { key: 'upload_bytes_per_second', value: 0 });
    await viewer.call('file_set_status', { claim_name: 'film', status: 'start' });
    await until('it is saved', async () => (await film())!.status === 'finished');
    const { download_path: path } = (await film())!;
    expect(path).toBe(join(fileFolder(), 'film_1.bin'));
    expect(readFileSync(path!).equals(bytes)).toBe(true);
    free();
    await viewer.call('file_delete', { claim_name: 'film', delete_from_download_dir: true });
    rmSync(join(fileFolder(), 'film.bin'));
  });

  it.runIf(canMount)('on a read-only disk is reported, and succeeds when it is writable', async () => {
    const disk = join(world.folder, 'disk');
    mkdirSync(disk);
    expect(mountSmall(disk, '40m')).toBe(true);
    try {
      const file = await download({ download_directory: disk });
      expect(file.download_path).toBe(join(disk, 'film.bin'));
      expect(spawnSync('mount', ['-o', 'remount,ro', disk]).status).toBe(0);
      const params = { claim_name: 'film', delete_from_download_dir: true };
      await expect(viewer.call('file_delete', params)).rejects.toThrow(/disk\/film\.bin.*read-only/s);
      await expect(viewer.call('file_save', { claim_name: 'film' })).rejects.toThrow(/read-only/);
      expect(await film()).toMatchObject({ status: 'finished', download_path: file.download_path });
      expect(await plays(file)).toBe(true);
      spawnSync('mount', ['-o', 'remount,rw', disk]);
      expect(await viewer.call('file_delete', params)).toBe(true);
      expect([readdirSync(disk), await film()]).toEqual([[], undefined]);
    } finally {
      spawnSync('umount', ['-l', disk]);
    }
  });

  it('of a replaced stream does not make the update fail', async () => {
    const old = (await film(creator))!;
    const folder = join(creator.folder, 'data', 'blobfiles');
    set('i', join(folder, old.sd_hash));
    const path = join(world.folder, 'better.bin');
    writeFileSync(path, randomBytes(1000));
    const { txid } = await creator.call<{ txid: string }>('stream_update', {
      claim_id: old.claim_id,
      file_path: path,
    });
    expect(txid).toMatch(/^[0-9a-f]{64}$/);
    expect((await filesOf(creator)).map(({ file_name }) => file_name)).toEqual(['better.bin']);
    expect(creator.log).toContain(join(folder, old.sd_hash));
    free();
    expect(await creator.call('blob_clean')).toBeNull();
    expect(existsSync(join(folder, old.sd_hash))).toBe(false);
  });
});
