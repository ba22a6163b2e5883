/**
 * A creator's daemon that keeps no blobs of its files, a viewer's daemon that saves none, and a reflector. Blobs are created,
 * served and uploaded, also after a kill. A changed file is detected, blobs are restored, and a lost library is rebuilt with the
 * hub.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isBlobHash } from '../../src/daemon/content/blobHash.js';
import { startDaemon, type TestDaemon } from './support/daemon.js';
import { freePort, HANG_MS, program, startRegtest, type RegtestNode } from './support/node.js';

const SKIPPED = ['dht', 'hash_announcer', 'upnp', 'tracker_announcer_component', 'background_downloader'];
const LENGTH = 9_000_000;
const BLOBS = 5;

let node: RegtestNode;
let creator: TestDaemon;
let viewer: TestDaemon;
let folder: string;
let film: string;
let bytes: Buffer;
let hubPort: number;
let peerPort: number;
let reflectorPort: number;

interface File {
  readonly sd_hash: string;
  readonly streaming_url: string;
  readonly download_path: string | null;
  readonly status: string;
  readonly claim_name: string | null;
  readonly claim_id: string | null;
  readonly channel_name: string | null;
  readonly original_file: string | null;
  readonly blobs_completed: number;
  readonly error?: string;
}
interface BlobStatus {
  readonly finished_blobs: number;
  readonly made_blobs: number;
  readonly changed_files: number;
}

const settings = { components_to_skip: SKIPPED, http_blob_servers: [], reflect_streams: false };
const creatorOptions = () => ({
  hubPorts: [hubPort],
  folder: join(folder, 'creator'),
  settings: {
    ...settings,
    fixed_peers: [],
    reflector_servers: [`127.0.0.1:${reflectorPort}`],
    keep_blobs: false,
    blob_lru_cache_size: 0,
  },
  args: [`--tcp-port=${peerPort}`],
});

const listed = async (daemon: TestDaemon): Promise<File> => {
  const { items } = await daemon.call<{ items: readonly File[] }>('file_list', { claim_name: 'film' });
  return items[0]!;
};
const statusOf = async (daemon: TestDaemon): Promise<BlobStatus> =>
  (await daemon.call<{ blob_manager: BlobStatus }>('status')).blob_manager;
const blobsOf = (daemon: TestDaemon): string[] =>
  readdirSync(join(daemon.folder, 'data', 'blobfiles'))
    .filter(isBlobHash)
    .sort();

/** Plays the whole stream at the viewer. Returns whether the bytes are right. */
async function play(): Promise<boolean> {
  let file = await viewer.call<File>('get', { uri: 'film', save_file: false });
  while (file.error?.includes('NOT_FOUND'))
    file = await viewer.call<File>('get', { uri: 'film', save_file: false });
  expect(file.error).toBeUndefined();
  const answer = await fetch(file.streaming_url);
  return Buffer.from(await answer.arrayBuffer()).equals(bytes);
}

/** Plays the whole stream at the creator. Returns whether the bytes are right. */
async function playOwn(): Promise<boolean> {
  const answer = await fetch((await listed(creator)).streaming_url);
  return Buffer.from(await answer.arrayBuffer()).equals(bytes);
}

async function forget(): Promise<void> {
  await viewer.call('file_delete', { claim_name: 'film', delete_from_download_dir: true });
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lbcnet-seeding-'));
  [hubPort, peerPort, reflectorPort] = [await freePort(), await freePort(), await freePort()];
  const reflectorPeerPort = await freePort();
  node = await startRegtest({ args: ['-hub', `-hubport=${hubPort}`] });
  await node.rpc('generate', [120]);
  [creator, viewer] = await Promise.all([
    startDaemon(creatorOptions()),
    startDaemon({
      hubPorts: [hubPort],
      settings: {
        ...settings,
        fixed_peers: [`127.0.0.1:${peerPort}`],
        save_blobs: false,
        blob_lru_cache_size: 0,
      },
      args: [
        '--reflector',
        `--reflector-port=${reflectorPort}`,
        `--reflector-peer-port=${reflectorPeerPort}`,
        `--reflector-http-port=${await freePort()}`,
      ],
    }),
  ]);
  await node.rpc('sendtoaddress', [await creator.call('address_unused'), 5]);
  await node.rpc('generate', [1]);
  while ((await creator.call<{ available: string }>('account_balance')).available === '0.0') await sleep(20);
  film = join(folder, 'film.bin');
  bytes = randomBytes(LENGTH);
  writeFileSync(film, bytes);
  await creator.call('channel_create', { name: '@creator', bid: '0.1' });
  await node.rpc('generate', [1]);
  await creator.call('publish', {
    name: 'film',
    bid: '0.1',
    file_path: film,
    channel_name: '@creator',
    blocking: true,
  });
  await node.rpc('generate', [1]);
}, HANG_MS);

afterAll(async () => {
  await viewer?.stop();
  await creator?.stop();
  await node?.stop();
  if (folder) rmSync(folder, { recursive: true, force: true });
}, HANG_MS);

describe('a film without stored blobs', () => {
  it('is played by its creator and by a viewer who saves no blobs', async () => {
    const file = await listed(creator);
    expect(file).toMatchObject({ status: 'finished', blobs_completed: BLOBS, original_file: 'unchanged' });
    expect(blobsOf(creator)).toEqual([file.sd_hash]);
    expect(await statusOf(creator)).toMatchObject({ finished_blobs: BLOBS + 1, made_blobs: BLOBS });
    expect(await playOwn()).toBe(true);
    expect(await play()).toBe(true);
    expect([blobsOf(viewer), (await statusOf(viewer)).finished_blobs]).toEqual([[], 0]);
    expect(await viewer.call('blob_list')).toMatchObject({ total_items: 0 });
  });

  it('is saved by that viewer', async () => {
    await viewer.call('file_save', { claim_name: 'film' });
    let file = await listed(viewer);
    while (file.status !== 'finished') file = await listed(viewer);
    expect(readFileSync(file.download_path!).equals(bytes)).toBe(true);
    expect([file.blobs_completed, blobsOf(viewer)]).toEqual([0, []]);
    await forget();
  });

  it('is reflected, and still served after a kill', async () => {
    const { sd_hash } = await listed(creator);
    expect((await creator.call<string[]>('file_reflect', { sd_hash })).length).toBe(BLOBS + 1);
    const taken = readdirSync(join(viewer.folder, 'data', 'reflector', 'blobfiles')).filter(isBlobHash);
    expect(taken.length).toBe(BLOBS + 1);
    await creator.kill();
    creator = await startDaemon(creatorOptions());
    expect((await listed(creator)).original_file).toBe('unchanged');
    expect(await play()).toBe(true);
    await forget();
  });

  it('is neither offered nor listed as unchanged after the file was truncated', async () => {
    renameSync(film, `${film}.kept`);
    writeFileSync(film, bytes);
    truncateSync(film, LENGTH - 1);
    const file = await listed(creator);
    expect([file.original_file, file.blobs_completed]).toEqual(['changed', 0]);
    expect(await statusOf(creator)).toEqual(
      expect.objectContaining({ finished_blobs: 1, made_blobs: 0, changed_files: 1 }),
    );
    await listed(creator);
    expect(creator.log.split('differs from the published content').length).toBe(2);
    const problem = await viewer.call<File>('get', { uri: 'film', save_file: true, timeout: 1 });
    expect(problem.error).toContain('Failed to download data blobs');
    await forget();
    renameSync(`${film}.kept`, film);
    expect((await listed(creator)).original_file).toBe('unchanged');
    expect(await playOwn()).toBe(true);
  });

  it('is kept as blobs after `lbcnet blobs restore`', async () => {
    const args = [program('lbcnet'), `--api=127.0.0.1:${creator.port}`, 'blobs', 'restore'];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    expect(JSON.parse(stdout)).toMatchObject({ streams: 1, blobs: BLOBS, changed: [] });
    expect(blobsOf(creator).length).toBe(BLOBS + 1);
    renameSync(film, `${film}.moved`);
    expect(await listed(creator)).toMatchObject({ original_file: null, blobs_completed: BLOBS });
    expect(await playOwn()).toBe(true);
  });
});

describe('a library', () => {
  it.each([
    ['was lost', (path: string) => rmSync(path)],
    ['is damaged', (path: string) => writeFileSync(path, randomBytes(8192))],
  ])('whose database %s is restored from blobs and hub', async (what, harm) => {
    const before = await listed(creator);
    await creator.stop();
    harm(join(creator.folder, 'data', 'lbrynet.sqlite'));
    creator = await startDaemon(creatorOptions());
    // The file is listed from the blobs before the hub names its claim.
    while (!creator.log.includes('The library was rebuilt: 1 streams')) await sleep(20);
    expect(await listed(creator)).toMatchObject({
      sd_hash: before.sd_hash,
      claim_id: before.claim_id,
      channel_name: '@creator',
      blobs_completed: BLOBS,
    });
    expect(creator.log.includes('Not restored')).toBe(false);
    expect(existsSync(join(creator.folder, 'data', 'lbrynet.sqlite.damaged'))).toBe(what === 'is damaged');
    expect(await creator.call('file_rebuild')).toMatchObject({ streams: 0, files: 0, claims: 0 });
    expect(await playOwn()).toBe(true);
  });
});
