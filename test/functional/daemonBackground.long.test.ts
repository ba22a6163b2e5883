/**
 * The background downloader of a daemon, with the DHT and the blobs of another daemon: it keeps within its limit, and cleaning
 * deletes neither own nor pinned content. `fasterClock.mjs` shortens the pauses between announcements and rounds.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { encodeBase58 } from '../../src/script/base58.js';
import { blobHashOf, isBlobHash } from '../../src/daemon/content/blobHash.js';
import { CONTENT_SETTINGS, ContentWorld, filesOf, OFFLINE, type ListedFile } from './support/contentWorld.js';
import type { TestDaemon } from './support/daemon.js';
import { until } from './support/network.js';
import { freePort, HANG_MS } from './support/node.js';

const PRELOAD = fileURLToPath(new URL('./support/fasterClock.mjs', import.meta.url));
const NODE_ID_BYTES = 48;
const USED = ['dht', 'hash_announcer', 'background_downloader'];
const SETTINGS = {
  ...CONTENT_SETTINGS,
  components_to_skip: OFFLINE.filter((name) => !USED.includes(name)),
  fixed_peer_delay: 0,
  // The faster clock divides times by thirty.
  blob_download_timeout: 1200,
  download_timeout: 1200,
};
const MIB = 1_048_576;
/** Sizes of the films: two data blobs; more than the limit; and films that the user downloads or pins. */
const FILMS = { small: 3 * MIB, large: 40 * MIB, chosen: 5 * MIB, pinned: 3 * MIB } as const;
const LIMIT_MIB = 20;

interface Status {
  readonly background_downloader: { available_free_space_mb: number | null; ongoing_download: boolean };
  readonly disk_space: Readonly<Record<string, number>>;
}

let world: ContentWorld;
let creator: TestDaemon;
let keeper: TestDaemon;
let creatorArgs: string[];
const films = new Map<string, ListedFile>();

const environment = { NODE_OPTIONS: `--import ${PRELOAD}` };
const blobFolder = (): string => join(world.folder, 'keeper', 'data', 'blobfiles');
const blobsHere = (): string[] => readdirSync(blobFolder()).filter(isBlobHash).sort();
const statusOf = (): Promise<Status> => keeper.call<Status>('status');

/** Hashes of a film's blobs that the creator has, with the descriptor. */
async function blobsOf(name: string): Promise<string[]> {
  const { items } = await creator.call<{ items: string[] }>('blob_list', {
    sd_hash: films.get(name)!.sd_hash,
    page_size: 100,
  });
  return items;
}

/** Starts the keeper with an id near the descriptor of that film. */
async function startKeeper(near: string): Promise<void> {
  const data = join(world.folder, 'keeper', 'data');
  mkdirSync(data, { recursive: true });
  const id = randomBytes(NODE_ID_BYTES);
  id[0] = Number.parseInt(films.get(near)!.sd_hash.slice(0, 2), 16);
  writeFileSync(join(data, 'node_id'), encodeBase58(id));
  keeper = await world.daemon('keeper', { settings: keeperSettings, environment, args: keeperArgs });
}
let keeperSettings: object;
let keeperArgs: string[];

const startCreator = async (): Promise<void> => {
  creator = await world.daemon('creator', { settings: SETTINGS, environment, args: creatorArgs });
};

beforeAll(async () => {
  world = await ContentWorld.start();
  const [tcpPort, udpPort, keeperUdp] = [await freePort(), await freePort(), await freePort()];
  creatorArgs = [
    `--tcp-port=${tcpPort}`,
    `--udp-port=${udpPort}`,
    `--known-dht-nodes=127.0.0.1:${keeperUdp}`,
  ];
  keeperArgs = ['--verbose', `--udp-port=${keeperUdp}`, `--known-dht-nodes=127.0.0.1:${udpPort}`];
  keeperSettings = {
    ...SETTINGS,
    network_storage_limit: LIMIT_MIB,
    fixed_peers: [`127.0.0.1:${tcpPort}`],
  };
  await startCreator();
  await world.pay(creator);
  for (const [name, bytes] of Object.entries(FILMS)) {
    const path = join(world.folder, `${name}.bin`);
    writeFileSync(path, randomBytes(bytes));
    await creator.call('publish', { name, bid: '0.01', file_path: path, blocking: true });
  }
  await world.mine(creator);
  for (const file of await filesOf(creator)) films.set(file.claim_name!, file);
}, HANG_MS);

afterAll(async () => {
  await keeper?.stop();
  await creator?.stop();
  await world?.stop();
}, HANG_MS);

/** Checks that each blob in the folder matches its hash. */
function expectWholeBlobs(): void {
  for (const name of blobsHere()) expect(blobHashOf(readFileSync(join(blobFolder(), name)))).toBe(name);
}

it(
  'downloads a near stream within the limit, and skips one that does not fit',
  { timeout: HANG_MS },
  async () => {
    await startKeeper('small');
    const wanted = await blobsOf('small');
    await until('the small film is here', () =>
      Promise.resolve(wanted.every((hash) => blobsHere().includes(hash))),
    );
    expectWholeBlobs();
    expect(await filesOf(keeper)).toEqual([]);
    await until('the space is measured again', async () => {
      const { available_free_space_mb: free } = (await statusOf()).background_downloader;
      return free === LIMIT_MIB - Math.ceil(FILMS.small / MIB) - 1;
    });
    await keeper.stop();
    await startKeeper('large');
    // The restarted keeper does not have the announcements of other nodes.
    await creator.call('blob_announce', { sd_hash: films.get('large')!.sd_hash });
    // The downloader gets the descriptor, finds that the film is too large, and deletes the descriptor again.
    await until('the film was too large', () =>
      Promise.resolve(keeper.log.includes('is too large for the remaining disk space')),
    );
    // A single blob of the film may be near the id by chance, and is then downloaded alone.
    const sizes = blobsHere().map((hash) => statSync(join(blobFolder(), hash)).size);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(LIMIT_MIB * MIB);
    expect(wanted.filter((hash) => !blobsHere().includes(hash))).toEqual([]);
  },
);

it('deletes network blobs by the limit, and neither own nor pinned ones', { timeout: HANG_MS }, async () => {
  await world.pay(keeper, 5);
  const path = join(world.folder, 'own.bin');
  writeFileSync(path, randomBytes(3 * MIB));
  await keeper.call('publish', { name: 'own', bid: '0.01', file_path: path, blocking: true });
  await world.mine(creator, keeper);
  for (const uri of ['chosen', 'pinned']) await keeper.call('get', { uri, save_file: true });
  await until('both are saved', async () =>
    (await filesOf(keeper)).every(({ status }) => status === 'finished'),
  );
  const { claim_id } = films.get('pinned')!;
  await keeper.call('file_pin', { claim_id });
  const own = (await filesOf(keeper, { claim_name: 'own' }))[0]!;
  const kept = await Promise.all(
    [own.sd_hash, films.get('pinned')!.sd_hash].map((sd_hash) =>
      keeper.call<{ items: string[] }>('blob_list', { sd_hash, page_size: 100 }),
    ),
  ).then((lists) => lists.flatMap(({ items }) => items));
  const before = blobsHere();
  await keeper.call('blob_clean');
  expect(blobsHere()).toEqual(before);
  await keeper.call('settings_set', { key: 'network_storage_limit', value: 0 });
  await keeper.call('blob_clean');
  const small = await blobsOf('small');
  expect(small.filter((hash) => blobsHere().includes(hash))).toEqual([]);
  expect(await filesOf(keeper)).toHaveLength(3);
  await keeper.call('settings_set', { key: 'blob_storage_limit', value: 1 });
  await keeper.call('blob_clean');
  expect(blobsHere()).toEqual(kept.toSorted());
  expectWholeBlobs();
  const { disk_space: space } = await statusOf();
  expect(space['seed_blobs_storage_used_mb']).toBe(0);
  const chosen = (await filesOf(keeper, { claim_name: 'chosen' }))[0]!;
  expect(readFileSync(chosen.download_path!).equals(readFileSync(join(world.folder, 'chosen.bin')))).toBe(
    true,
  );
  rmSync(chosen.download_path!);
});
