/**
 * A creator's daemon with `keep_blobs` off: disk space, equal blobs, and announcements and uploads that end when a file changes.
 * After `lbcnet blobs restore`, lbry-sdk's daemon uses the folder (LBRYNET names its program). Takes minutes of real time.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { blobHashOf, isBlobHash } from '../../src/daemon/content/blobHash.js';
import { contactAt } from '../../src/daemon/dht/contact.js';
import { startLoopbackNode, type LoopbackNode } from '../support/loopbackNodes.js';
import { ContentWorld, filesOf, OFFLINE, type ListedFile } from './support/contentWorld.js';
import type { TestDaemon } from './support/daemon.js';
import { until } from './support/network.js';
import { freePort, HANG_MS, program } from './support/node.js';
import { SdkDaemon } from './support/sdkDaemon.js';

const LBRYNET = process.env['LBRYNET'];
if (!LBRYNET) console.log('skipped: LBRYNET names no lbry-sdk');

const FILM_BYTES = 41_000_000;
const MAX_SHARE = 0.01;

let world: ContentWorld;
let creator: TestDaemon;
/** A node of the DHT that keeps announcements, and downloads. */
let viewer: TestDaemon;
/** A node that sends queries and knows no other node. */
let asker: LoopbackNode;
let peerPort: number;
let udpPort: number;
const films = new Map<string, { path: string; bytes: Buffer }>();

const components_to_skip = OFFLINE.filter((name) => name !== 'dht' && name !== 'hash_announcer');
const startCreator = (): Promise<TestDaemon> =>
  world.daemon('creator', {
    settings: {
      components_to_skip,
      keep_blobs: false,
      announce_head_and_sd_only: false,
      known_dht_nodes: [`127.0.0.1:${udpPort}`],
    },
    args: [`--tcp-port=${peerPort}`],
  });

/** Bytes of all files below the folder. */
function sizeOf(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}
const dataOf = (daemon: TestDaemon): string => join(daemon.folder, 'data');
const own = async (name: string): Promise<ListedFile> => (await filesOf(creator, { claim_name: name }))[0]!;
const hashesOf = async (name: string): Promise<string[]> =>
  (
    await creator.call<{ items: string[] }>('blob_list', {
      sd_hash: (await own(name)).sd_hash,
      page_size: 100,
    })
  ).items;

/** Whether the viewer's node keeps an announcement of the blob by the creator. */
async function isStored(hash: string): Promise<boolean> {
  const nodeId = Buffer.from((await viewer.call<{ node_id: string }>('routing_table_get')).node_id, 'hex');
  const target = contactAt(nodeId, '127.0.0.1', udpPort);
  const { peers } = await asker.node.rpc.findValue(target, Buffer.from(hash, 'hex'), 0);
  return peers.some(({ tcpPort }) => tcpPort === peerPort);
}

beforeAll(async () => {
  world = await ContentWorld.start();
  [peerPort, udpPort] = [await freePort(), await freePort()];
  viewer = await world.daemon('viewer', {
    settings: { components_to_skip, save_files: false },
    args: [`--udp-port=${udpPort}`],
  });
  asker = await startLoopbackNode([]);
  creator = await startCreator();
  await world.pay(creator, 10);
}, HANG_MS);

afterAll(async () => {
  await asker?.node.stop();
  await viewer?.stop();
  await creator?.stop();
  await world?.stop();
}, HANG_MS);

describe('a creator who keeps no blobs', () => {
  it('needs at most 1 % of a file beside it', async () => {
    await world.mine(creator);
    const before = sizeOf(dataOf(creator));
    for (const name of ['kept', 'changed']) {
      const [path, bytes] = [join(world.folder, `${name}.bin`), randomBytes(FILM_BYTES)];
      writeFileSync(path, bytes);
      films.set(name, { path, bytes });
      await creator.call('publish', { name, bid: '0.01', file_path: path, blocking: true });
    }
    await world.mine(creator, viewer);
    const grown = sizeOf(dataOf(creator)) - before;
    console.log(`${grown} bytes for ${2 * FILM_BYTES} bytes of films`);
    // The write-ahead log of the database is at most 4 MiB, however many films there are.
    expect(grown - 4 * 1024 * 1024).toBeLessThan(2 * FILM_BYTES * MAX_SHARE);
  });

  it('announces the streams whose files are unchanged, and no others', { timeout: HANG_MS }, async () => {
    const changed = films.get('changed')!;
    const [keptHashes, changedHashes] = [await hashesOf('kept'), await hashesOf('changed')];
    // A change of one byte, which only a comparison of the whole contents finds.
    const bytes = Buffer.from(changed.bytes);
    bytes[30_000_000]! ^= 1;
    writeFileSync(changed.path, bytes);
    await until('the change is noticed', async () => (await own('changed')).original_file === 'changed');
    expect(creator.log).toContain('differs from the published content');
    // Announcements start a minute after the node has joined the DHT.
    for (const hash of keptHashes) await until('it is announced', () => isStored(hash));
    for (const hash of changedHashes) expect(await isStored(hash), hash).toBe(false);
  });

  it(
    'uploads equal blobs, found over the DHT, and none of the changed file',
    { timeout: HANG_MS },
    async () => {
      const get = (name: string) =>
        viewer.call<ListedFile>('get', { uri: name, save_file: true, timeout: 90 });
      expect((await get('kept')).error).toBeUndefined();
      const saved = async () => (await filesOf(viewer, { claim_name: 'kept' }))[0]!;
      await until('it is saved', async () => (await saved()).status === 'finished');
      expect(readFileSync((await saved()).download_path!).equals(films.get('kept')!.bytes)).toBe(true);
      for (const hash of await hashesOf('kept'))
        expect(blobHashOf(readFileSync(join(dataOf(viewer), 'blobfiles', hash)))).toBe(hash);
      await viewer.call('settings_set', { key: 'fixed_peers', value: [`127.0.0.1:${peerPort}`] });
      expect((await get('changed')).error).toMatch(/Failed to download/);
      await viewer.call('file_delete', { claim_name: 'changed', delete_from_download_dir: true });
    },
  );

  it('announces and uploads again when the file has its contents again', { timeout: HANG_MS }, async () => {
    const { path, bytes } = films.get('changed')!;
    writeFileSync(path, bytes);
    await until('it is unchanged', async () => (await own('changed')).original_file === 'unchanged');
    const { sd_hash: sdHash } = await own('changed');
    await until('it is announced', () => isStored(sdHash));
    const { error } = await viewer.call<ListedFile>('get', { uri: 'changed', save_file: true, timeout: 90 });
    expect(error).toBeUndefined();
  });

  it.skipIf(!LBRYNET)(
    'gives its folder to lbrynet after restoring the blobs',
    { timeout: HANG_MS },
    async () => {
      const args = [program('lbcnet'), `--api=127.0.0.1:${creator.port}`, 'blobs', 'restore'];
      const { stdout } = await promisify(execFile)(process.execPath, args);
      expect(JSON.parse(stdout)).toMatchObject({ streams: 2, changed: [] });
      const names = readdirSync(join(dataOf(creator), 'blobfiles'));
      expect(names.every(isBlobHash)).toBe(true);
      await creator.stop();
      for (const { path } of films.values()) renameSync(path, `${path}.away`);
      const sdk = await SdkDaemon.start(LBRYNET!, [world.hubPort], [], {
        folder: creator.folder,
        settings: { fixed_peers: [], reflect_streams: false, tracker_servers: [] },
      });
      try {
        for (const [name, { bytes }] of films) {
          const { items } = await sdk.call<{ items: readonly (ListedFile & { blobs_remaining: number })[] }>(
            'file_list',
            { claim_name: name },
          );
          expect(items[0]).toMatchObject({ blobs_remaining: 0 });
          const played = await fetch(items[0]!.streaming_url);
          expect(Buffer.from(await played.arrayBuffer()).equals(bytes)).toBe(true);
        }
      } finally {
        await sdk.stop();
      }
      expect(existsSync(join(creator.folder, 'data', 'lbrynet.sqlite'))).toBe(true);
      for (const { path } of films.values()) renameSync(`${path}.away`, path);
      creator = await startCreator();
      expect((await own('kept')).blobs_completed).toBe((await hashesOf('kept')).length - 1);
    },
  );
});
