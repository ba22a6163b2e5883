/** Partly downloaded streams: lists of their blobs, and deletion while they are downloaded and seeded. */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { blobHashOf } from '../../src/daemon/content/blobHash.js';
import { startDaemon, type TestDaemon } from './support/daemon.js';
import { freePort, HANG_MS, startRegtest, type RegtestNode } from './support/node.js';

const SKIPPED = ['dht', 'hash_announcer', 'upnp', 'tracker_announcer_component', 'background_downloader'];
const BLOBS = 9;
const LENGTH = (BLOBS - 1) * 2_097_151 + 1000;

const settings = { components_to_skip: SKIPPED, http_blob_servers: [], reflector_servers: [] };

let node: RegtestNode;
let creator: TestDaemon;
let viewer: TestDaemon;
let hubPort: number;
let peerPort: number;
let viewerPort: number;
let folder: string;

interface File {
  readonly sd_hash: string;
  readonly status: string;
  readonly blobs_remaining: number;
  readonly blobs_completed: number;
  readonly download_path: string | null;
  readonly error?: string;
}

const startViewer = (): Promise<TestDaemon> =>
  startDaemon({
    hubPorts: [hubPort],
    settings: { ...settings, fixed_peers: [`127.0.0.1:${peerPort}`], fixed_peer_delay: 0 },
    args: [`--tcp-port=${viewerPort}`, '--network-interface=127.0.0.1'],
    folder: join(folder, 'viewer'),
  });

async function restart(): Promise<void> {
  await viewer.stop();
  viewer = await startViewer();
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lbcnet-partial-'));
  [hubPort, peerPort, viewerPort] = [await freePort(), await freePort(), await freePort()];
  node = await startRegtest({ args: ['-hub', `-hubport=${hubPort}`] });
  await node.rpc('generate', [120]);
  [creator, viewer] = await Promise.all([
    startDaemon({
      hubPorts: [hubPort],
      settings: { ...settings, fixed_peers: [] },
      args: [`--tcp-port=${peerPort}`, '--network-interface=127.0.0.1'],
    }),
    startViewer(),
  ]);
  await node.rpc('sendtoaddress', [await creator.call('address_unused'), 5]);
  await node.rpc('generate', [1]);
  while (!((await creator.call<{ available: string }>('account_balance')).available > '0.0')) await sleep(20);
  writeFileSync(join(folder, 'film.bin'), randomBytes(LENGTH));
  const file_path = join(folder, 'film.bin');
  await creator.call('publish', { name: 'film', bid: '0.1', file_path, blocking: true });
  await node.rpc('generate', [1]);
}, HANG_MS);

afterAll(async () => {
  await viewer?.stop();
  await creator?.stop();
  await node?.stop();
  if (folder) rmSync(folder, { recursive: true, force: true });
}, HANG_MS);

const setRate = (bytesPerSecond: number) =>
  creator.call('settings_set', { key: 'upload_bytes_per_second', value: bytesPerSecond });
const fileOf = async (): Promise<File | undefined> =>
  (await viewer.call<{ items: File[] }>('file_list', { claim_name: 'film' })).items[0];
const listed = async (filter: object): Promise<string[]> =>
  (await viewer.call<{ items: string[] }>('blob_list', { page_size: 100, ...filter })).items;

/** Begins a download at a low rate, and waits until some blobs are there. */
async function partOf(): Promise<File> {
  await setRate(2_000_000);
  let answer = await viewer.call<File>('get', { uri: 'film', save_file: true });
  while (answer.error?.includes('NOT_FOUND'))
    answer = await viewer.call<File>('get', { uri: 'film', save_file: true });
  expect(answer.error).toBeUndefined();
  for (;;) {
    const file = (await fileOf())!;
    expect(file.status).toBe('running');
    if (file.blobs_completed >= 2) return file;
    await sleep(20);
  }
}

describe('a stream that is being downloaded', () => {
  it('lists its finished and its missing blobs, and fetches a missing blob on request', async () => {
    await partOf();
    await viewer.call('file_set_status', { claim_name: 'film', status: 'stop' });
    const { sd_hash, status, blobs_remaining } = (await fileOf())!;
    expect([status, blobs_remaining > 0]).toEqual(['stopped', true]);
    const [all, needed, finished] = await Promise.all(
      [{}, { needed: true }, { finished: true }].map((filter) => listed({ sd_hash, ...filter })),
    );
    expect([...needed!, ...finished!].toSorted()).toEqual(all!.toSorted());
    expect([all!.length, needed!.length]).toEqual([BLOBS + 1, blobs_remaining]);
    await setRate(0);
    const [blob_hash] = needed as [string];
    await viewer.call('blob_get', { blob_hash, timeout: 60 });
    expect(await listed({ sd_hash, needed: true })).toEqual(needed!.slice(1));
    expect((await fileOf())!.blobs_remaining).toBe(blobs_remaining - 1);
    // The next download fetches only the rest.
    await viewer.call('file_set_status', { claim_name: 'film', status: 'start' });
    while ((await fileOf())!.status !== 'finished') await sleep(20);
    expect(await listed({ sd_hash, needed: true })).toEqual([]);
  });

  it('leaves nothing if it is deleted while it is seeded', async () => {
    const { sd_hash } = (await fileOf())!;
    const [first] = (await listed({ sd_hash, finished: true })).filter((hash) => hash !== sd_hash);
    const socket = connect(viewerPort, '127.0.0.1');
    const chunks: Buffer[] = [];
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    socket.on('error', () => undefined);
    socket.write(JSON.stringify({ requested_blob: first, requested_blobs: [first] }));
    await new Promise<void>((resolve) =>
      socket.once('data', (bytes: Buffer) => {
        socket.pause();
        chunks.push(bytes);
        resolve();
      }),
    );
    const deleted = viewer.call('file_delete', { claim_name: 'film', delete_from_download_dir: true });
    expect(await deleted).toBe(true);
    expect(await listed({})).toEqual([]);
    expect(readdirSync(join(viewer.folder, 'data', 'blobfiles'))).toEqual([]);
    // The transfer that had begun sends the right bytes or ends.
    socket.on('data', (bytes: Buffer) => {
      chunks.push(bytes);
      const received = Buffer.concat(chunks);
      if (received.length - received.indexOf('}') - 1 >= 2_097_152) socket.end();
    });
    socket.resume();
    await closed;
    const received = Buffer.concat(chunks);
    const blob = received.subarray(received.indexOf('}', received.indexOf('}') + 1) + 1);
    if (blob.length >= 2_097_152) expect(blobHashOf(blob)).toBe(first);
    expect(readdirSync(join(viewer.folder, 'files'))).toEqual([]);
  });

  it('leaves nothing if it is deleted before it is complete', async () => {
    await partOf();
    expect(await viewer.call('file_delete', { claim_name: 'film', delete_from_download_dir: true })).toBe(
      true,
    );
    expect(await fileOf()).toBeUndefined();
    expect(await listed({})).toEqual([]);
    expect(readdirSync(join(viewer.folder, 'data', 'blobfiles'))).toEqual([]);
    expect(readdirSync(join(viewer.folder, 'files'))).toEqual([]);
    await setRate(0);
  });
});

/** Whether this user and file system can make folders immutable. */
function hasImmutable(): boolean {
  const probe = mkdtempSync(join(tmpdir(), 'lbcnet-immutable-'));
  const isMade = spawnSync('chattr', ['+i', probe]).status === 0;
  if (isMade) spawnSync('chattr', ['-i', probe]);
  rmSync(probe, { recursive: true });
  return isMade;
}

describe.runIf(hasImmutable())('a folder of blobs that became immutable', () => {
  const blobFolder = (): string => join(viewer.folder, 'data', 'blobfiles');

  afterEach(() => void spawnSync('chattr', ['-i', blobFolder()]));

  it('is named in the errors of calls, other calls work, and the download succeeds afterwards', async () => {
    expect(spawnSync('chattr', ['+i', blobFolder()]).status).toBe(0);
    const { error } = await viewer.call<File>('get', { uri: 'film', save_file: true });
    expect(error).toContain(blobFolder());
    expect(error).toMatch(/access is denied/);
    const [hash] = (await creator.call<{ items: string[] }>('blob_list', { page_size: 1 })).items;
    await expect(viewer.call('blob_get', { blob_hash: hash, timeout: 60 })).rejects.toThrow(blobFolder());
    expect(await viewer.call('status')).toMatchObject({ is_running: true });
    expect([await listed({}), readdirSync(blobFolder())]).toEqual([[], []]);
    spawnSync('chattr', ['-i', blobFolder()]);
    expect((await viewer.call<File>('get', { uri: 'film', save_file: true })).error).toBeUndefined();
    while ((await fileOf())!.status !== 'finished') await sleep(20);
  });

  it('keeps its files when they are deleted, until the next start or the next download', async () => {
    const remove = async (): Promise<void> => {
      spawnSync('chattr', ['+i', blobFolder()]);
      await expect(viewer.call('file_delete', { claim_name: 'film' })).rejects.toThrow(blobFolder());
      spawnSync('chattr', ['-i', blobFolder()]);
      expect([await fileOf(), await listed({})]).toEqual([undefined, []]);
      expect(readdirSync(blobFolder())).toHaveLength(BLOBS + 1);
    };
    await remove();
    expect((await viewer.call<File>('get', { uri: 'film', save_file: true })).error).toBeUndefined();
    while ((await fileOf())!.status !== 'finished') await sleep(20);
    await restart();
    expect(await listed({})).toHaveLength(BLOBS + 1);
    expect((await fileOf())!.blobs_remaining).toBe(0);
    await remove();
    await restart();
    expect([await fileOf(), await listed({}), readdirSync(blobFolder())]).toEqual([undefined, [], []]);
  });
});

describe('get', () => {
  it('ends at its time limit if no peer has the stream, and leaves no file', async () => {
    await creator.call('file_delete', { claim_name: 'film' });
    const { error } = await viewer.call<File>('get', { uri: 'film', timeout: 1 });
    expect(error).toMatch(/^Failed to download sd blob [0-9a-f]{96} within timeout/);
    expect(await fileOf()).toBeUndefined();
    expect(await listed({})).toEqual([]);
  });
});
