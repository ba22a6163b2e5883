/** Calls that change a file while it is published, downloaded, saved, played, uploaded and updated. */
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { get as httpGet, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ContentWorld, filesOf, type ListedFile } from './support/contentWorld.js';
import type { TestDaemon } from './support/daemon.js';
import { until } from './support/network.js';
import { freePort, HANG_MS } from './support/node.js';

const FILM_BYTES = 21_000_000;
/** Bytes a second of a transfer that is interrupted. */
const SLOW = 3_000_000;

let world: ContentWorld;
let creator: TestDaemon;
let viewer: TestDaemon;
let reflector: TestDaemon;
let place: string;
const contents = new Map<string, Buffer>();

function written(name: string, size = FILM_BYTES): string {
  const path = join(world.folder, `${name}.bin`);
  contents.set(name, randomBytes(size));
  writeFileSync(path, contents.get(name)!);
  return path;
}
const publish = (name: string, size = FILM_BYTES) =>
  creator.call('publish', { name, bid: '0.01', file_path: written(name, size), blocking: true });
const one = async (daemon: TestDaemon, name: string): Promise<ListedFile | undefined> =>
  (await filesOf(daemon, { claim_name: name }))[0];
const setRate = (bytes: number) =>
  creator.call('settings_set', { key: 'upload_bytes_per_second', value: bytes });
const blobsOf = (daemon: TestDaemon): string[] => readdirSync(join(daemon.folder, 'data', 'blobfiles'));
const part = async (name: string): Promise<void> => {
  await setRate(SLOW);
  await viewer.call('get', { uri: name, save_file: true });
  await until('a part is there', async () => (await one(viewer, name))!.blobs_completed >= 2);
};
const saved = (name: string) =>
  until(`${name} is saved`, async () => (await one(viewer, name))?.status === 'finished');

describe('a file', { timeout: HANG_MS }, () => {
  beforeAll(async () => {
    world = await ContentWorld.start();
    const [port, upload] = [await freePort(), await freePort()];
    place = `127.0.0.1:${upload}`;
    creator = await world.daemon('creator', { args: [`--tcp-port=${port}`] });
    viewer = await world.daemon('viewer', {
      settings: { fixed_peers: [`127.0.0.1:${port}`], fixed_peer_delay: 0 },
    });
    reflector = await world.daemon('reflector', {
      args: [
        '--reflector',
        `--reflector-port=${upload}`,
        '--reflector-peer-port=0',
        '--reflector-http-port=0',
      ],
    });
    await world.pay(creator, 10);
  }, HANG_MS);
  afterEach(() => setRate(0));
  afterAll(async () => {
    await viewer?.stop();
    await creator?.stop();
    await reflector?.stop();
    await world?.stop();
  }, HANG_MS);

  it('is deleted during its publication only after its claim was sent', async () => {
    for (let turn = 0; turn < 5; turn++) {
      const name = `deleted${turn}`;
      let isDone = false;
      const publication = publish(name, 3_000_000).finally(() => (isDone = true));
      let found: ListedFile | undefined;
      while (found === undefined && !isDone)
        found = (await filesOf(creator)).find((file) => file.file_name === `${name}.bin`);
      if (found) await creator.call('file_delete', { sd_hash: found.sd_hash });
      await publication;
      if (!found) await creator.call('file_delete', { claim_name: name });
      expect(creator.log).not.toContain('could not be linked');
      await world.mine(creator);
    }
    expect(await filesOf(creator)).toEqual([]);
    expect(blobsOf(creator)).toEqual([]);
  });

  it('that is played is stopped with its player', async () => {
    await publish('played');
    await world.mine(creator, viewer);
    await setRate(SLOW);
    await viewer.call('get', { uri: 'played', save_file: false });
    const file = (await one(viewer, 'played'))!;
    const answer = await new Promise<IncomingMessage>((resolve) => httpGet(file.streaming_url, resolve));
    let received = 0;
    answer.on('data', (bytes: Buffer) => (received += bytes.length));
    const closed = new Promise<void>((resolve) => answer.once('close', () => resolve()));
    answer.on('error', () => undefined);
    await until('it is played', () => Promise.resolve(received > 2_200_000));
    expect(await viewer.call('file_set_status', { claim_name: 'played', status: 'stop' })).toBe(
      'Stopped download',
    );
    await closed;
    expect(received).toBeLessThan(FILM_BYTES);
    expect((await one(viewer, 'played'))!.status).toBe('stopped');
    await setRate(0);
    expect(await viewer.call('file_set_status', { claim_name: 'played', status: 'start' })).toBe(
      'Resumed download',
    );
    await saved('played');
    expect(readFileSync((await one(viewer, 'played'))!.download_path!).equals(contents.get('played')!)).toBe(
      true,
    );
  });

  it('that is started and stopped many times during its download is saved once, whole', async () => {
    await publish('stormy');
    await world.mine(creator, viewer);
    await part('stormy');
    // A blob takes longer than a turn, so the file is not complete before the last turn. To save a complete file creates a copy.
    await setRate(1_000_000);
    for (let turn = 0; turn < 30; turn++) {
      const calls = ['stop', 'start', 'stop', 'start'].map((status) =>
        viewer.call('file_set_status', { claim_name: 'stormy', status }),
      );
      await Promise.all([...calls, viewer.call('file_save', { claim_name: 'stormy' })]);
    }
    await viewer.call('file_set_status', { claim_name: 'stormy', status: 'start' });
    await setRate(0);
    await saved('stormy');
    const names = readdirSync(join(viewer.folder, 'files')).filter((name) => name.startsWith('stormy'));
    expect(names).toHaveLength(1);
    expect(readFileSync((await one(viewer, 'stormy'))!.download_path!).equals(contents.get('stormy')!)).toBe(
      true,
    );
  });

  it('that is deleted by several calls during saves is deleted once', async () => {
    await publish('twice');
    await world.mine(creator, viewer);
    await part('twice');
    const before = new Set(blobsOf(viewer));
    await Promise.allSettled([
      viewer.call('file_save', { claim_name: 'twice', file_name: 'a.bin' }),
      viewer.call('file_delete', { claim_name: 'twice', delete_from_download_dir: true }),
      viewer.call('file_save', { claim_name: 'twice', file_name: 'b.bin' }),
      viewer.call('file_delete', { claim_name: 'twice', delete_from_download_dir: true }),
      viewer.call('file_set_status', { claim_name: 'twice', status: 'start' }),
    ]);
    expect(await one(viewer, 'twice')).toBeUndefined();
    await setRate(0);
    const names = readdirSync(join(viewer.folder, 'files')).filter((name) => /^(a|b|twice)/.test(name));
    expect(names).toEqual([]);
    const { items } = await viewer.call<{ items: string[] }>('blob_list', { page_size: 500 });
    expect(items.toSorted()).toEqual(blobsOf(viewer).toSorted());
    expect(before.size).toBeGreaterThan(0);
  });

  it('is replaced by an update while it is uploaded, downloaded and saved', async () => {
    await publish('changing');
    await world.mine(creator, viewer);
    const old = (await one(creator, 'changing'))!;
    await part('changing');
    const upload = creator.call('file_reflect', { claim_name: 'changing', reflector: place }).catch(String);
    await until('it is uploaded', async () => {
      const { items } = await creator.call<{ items: { uploading_to_reflector: boolean }[] }>('file_list', {
        claim_name: 'changing',
      });
      return items[0]!.uploading_to_reflector;
    });
    const second = written('second', 5_000_000);
    await creator.call('stream_update', { claim_id: old.claim_id, file_path: second });
    await upload;
    const now = await filesOf(creator, { claim_name: 'changing' });
    expect(now.map(({ file_name }) => file_name)).toEqual(['second.bin']);
    await setRate(0);
    expect(await creator.call('file_reflect', { claim_name: 'changing', reflector: place })).toHaveLength(4);
    await world.mine(creator, viewer);
    // The viewer has a part of the old stream, which no other program has any more.
    await viewer.call('get', { uri: 'changing', save_file: true });
    await until('the new stream is saved', async () => {
      const file = await one(viewer, 'changing');
      return file?.status === 'finished' && file.sd_hash === now[0]!.sd_hash;
    });
    const files = await filesOf(viewer, { claim_id: old.claim_id! });
    expect(files).toHaveLength(1);
    expect(readFileSync(files[0]!.download_path!).equals(contents.get('second')!)).toBe(true);
  });

  it('is replaced by two updates at the same time, and one of the new files stays', async () => {
    await creator.call('file_delete', { delete_all: true });
    await publish('contested', 3_000_000);
    await world.mine(creator);
    const { claim_id } = (await one(creator, 'contested'))!;
    const updates = await Promise.allSettled(
      ['x', 'y', 'z'].map((name) =>
        creator.call('stream_update', { claim_id, file_path: written(name, 2_500_000) }),
      ),
    );
    expect(updates.some(({ status }) => status === 'fulfilled')).toBe(true);
    await world.mine(creator, viewer);
    const files = await filesOf(creator);
    expect(files.map(({ claim_id: id }) => id)).toEqual([claim_id]);
    const { items } = await creator.call<{ items: string[] }>('blob_list', { sd_hash: files[0]!.sd_hash });
    expect(items.toSorted()).toEqual(blobsOf(creator).toSorted());
    const answer = await viewer.call<Record<string, { value: { source: { sd_hash: string } } }>>('resolve', {
      urls: 'contested',
    });
    expect(answer['contested']!.value.source.sd_hash).toBe(files[0]!.sd_hash);
  });

  it('whose upload waits for others is deleted at once', async () => {
    await creator.call('settings_set', { key: 'concurrent_reflector_uploads', value: 1 });
    await publish('first');
    await publish('waiting', 3_000_000);
    await setRate(1_000_000);
    const calls = ['first', 'waiting'].map((claim_name) =>
      creator.call('file_reflect', { claim_name, reflector: place }).catch(String),
    );
    await until('both uploads are known', async () => {
      const { items } = await creator.call<{ items: { uploading_to_reflector: boolean }[] }>('file_list');
      return items.filter((file) => file.uploading_to_reflector).length === 2;
    });
    expect(await creator.call('file_delete', { claim_name: 'waiting' })).toBe(true);
    expect((await one(creator, 'first'))!).toMatchObject({ uploading_to_reflector: true });
    await setRate(0);
    await Promise.all(calls);
    expect(existsSync(join(world.folder, 'waiting.bin'))).toBe(true);
  });
});

describe('a daemon that is stopped during a long call', { timeout: HANG_MS }, () => {
  it.each([true, false])('ends, and leaves nothing of a publication (keep_blobs: %s)', async (keeps) => {
    const own = await ContentWorld.start();
    try {
      let daemon = await own.daemon('publisher', { settings: { keep_blobs: keeps } });
      await own.pay(daemon, 5);
      const path = join(own.folder, 'large.bin');
      // Disk space is taken only with `keep_blobs`.
      writeFileSync(path, '');
      truncateSync(path, keeps ? 8e9 : 60e9);
      const call = daemon.call('publish', { name: 'large', bid: '0.01', file_path: path }).catch(String);
      await until('the publication has begun', async () => {
        const { transfers } = await daemon.call<{ transfers: { bytes_done: number }[] }>('status');
        return (transfers[0]?.bytes_done ?? 0) > 50_000_000;
      });
      expect(await daemon.stop()).toBe(0);
      expect(await call).toContain('The daemon is stopping.');
      expect(blobsOf(daemon)).toEqual([]);
      daemon = await own.daemon('publisher');
      expect(await filesOf(daemon)).toEqual([]);
      expect((await daemon.call<{ items: string[] }>('blob_list')).items).toEqual([]);
      expect(await daemon.stop()).toBe(0);
    } finally {
      await own.stop();
    }
  });
});
