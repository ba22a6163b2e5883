/**
 * A daemon with the reflector role between a creator, lbry-sdk's daemon (LBRYNET names the program) and viewers: uploads by both,
 * quota, block list, incomplete streams, and an object store that is lost in the middle of an upload.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { blobHashOf, isBlobHash } from '../../src/daemon/content/blobHash.js';
import { RawPeer } from '../support/exchangePeers.js';
import { ACCESS_KEY, BUCKET, S3StandIn, SECRET_KEY } from '../support/s3StandIn.js';
import { CONTENT_SETTINGS, ContentWorld, filesOf, type ListedFile } from './support/contentWorld.js';
import { startDaemon, type TestDaemon } from './support/daemon.js';
import { until } from './support/network.js';
import { HANG_MS } from './support/node.js';
import { SdkDaemon } from './support/sdkDaemon.js';

const LBRYNET = process.env['LBRYNET'];
if (!LBRYNET) console.log('skipped: LBRYNET names no lbry-sdk');

const FILM_BYTES = 7_000_000;
const BLOBS = 4;

interface Role {
  readonly upload_port: number;
  readonly peer_port: number;
  readonly http_port: number;
  readonly blobs: number;
  readonly used_bytes: number;
  readonly received_blobs: number;
  readonly blocked_streams: number;
  readonly blob_store?: {
    readonly state: string;
    readonly reason: string | null;
    readonly waiting_blobs: number;
  };
}

let world: ContentWorld;
let creator: TestDaemon;
let reflector: TestDaemon;
const films = new Map<string, Buffer>();

const ROLE_ARGS = ['--reflector', ...['', '-peer', '-http'].map((kind) => `--reflector${kind}-port=0`)];
const roleOf = async (daemon: TestDaemon = reflector): Promise<Role> =>
  (await daemon.call<{ reflector: Role }>('status')).reflector;
const uploadPlace = async (daemon?: TestDaemon): Promise<string> =>
  `127.0.0.1:${(await roleOf(daemon)).upload_port}`;

async function publish(name: string, channel?: string): Promise<string> {
  const [path, bytes] = [join(world.folder, `${name}.bin`), randomBytes(FILM_BYTES)];
  films.set(name, bytes);
  writeFileSync(path, bytes);
  await creator.call('publish', {
    name,
    bid: '0.01',
    file_path: path,
    blocking: true,
    ...(channel !== undefined && { channel_name: channel }),
  });
  return (await filesOf(creator, { claim_name: name }))[0]!.sd_hash;
}
const blobsOf = async (sdHash: string): Promise<string[]> =>
  (await creator.call<{ items: string[] }>('blob_list', { sd_hash: sdHash })).items;
const reflect = async (sdHash: string, daemon?: TestDaemon): Promise<string[]> =>
  creator.call<string[]>('file_reflect', { sd_hash: sdHash, reflector: await uploadPlace(daemon) });

/** Status of `GET /blob` for each blob. The bytes of each served blob are compared. */
async function statuses(hashes: readonly string[], daemon?: TestDaemon): Promise<number[]> {
  const { http_port: port } = await roleOf(daemon);
  return Promise.all(
    hashes.map(async (hash) => {
      const answer = await fetch(`http://127.0.0.1:${port}/blob?hash=${hash}`);
      const bytes = Buffer.from(await answer.arrayBuffer());
      if (answer.status === 200) expect(blobHashOf(bytes)).toBe(hash);
      return answer.status;
    }),
  );
}
/** Hashes that the peer port offers. */
async function offered(hashes: readonly string[]): Promise<unknown> {
  const peer = new RawPeer((await roleOf()).peer_port);
  try {
    peer.send(JSON.stringify({ requested_blobs: hashes.slice(0, 4) }));
    return (await peer.takeJson())['available_blobs'];
  } finally {
    peer.close();
  }
}
/** Uploads only a descriptor, as a client that disconnects after it. */
async function offerDescriptor(sdHash: string): Promise<void> {
  const bytes = readFileSync(join(creator.folder, 'data', 'blobfiles', sdHash));
  const peer = new RawPeer((await roleOf()).upload_port);
  try {
    peer.send('{"version": 1}');
    await peer.takeJson();
    peer.send(JSON.stringify({ sd_blob_hash: sdHash, sd_blob_size: bytes.length }));
    expect(await peer.takeJson()).toEqual({ send_sd_blob: true });
    peer.send(bytes);
    expect(await peer.takeJson()).toEqual({ received_sd_blob: true });
  } finally {
    peer.close();
  }
}
const all = (hashes: readonly string[], status: number): number[] => hashes.map(() => status);

beforeAll(async () => {
  world = await ContentWorld.start();
  creator = await world.daemon('creator');
  reflector = await world.daemon('reflector', { args: ROLE_ARGS });
  await world.pay(creator, 20);
  await creator.call('channel_create', { name: '@creator', bid: '0.01' });
  await world.mine(creator, reflector);
}, HANG_MS);

afterAll(async () => {
  await creator?.stop();
  await reflector?.stop();
  await world?.stop();
}, HANG_MS);

describe('a reflector', () => {
  it('serves no blob of an incomplete stream, and all of a complete one', async () => {
    const sdHash = await publish('whole', '@creator');
    const hashes = await blobsOf(sdHash);
    const [, ...data] = hashes;
    await offerDescriptor(sdHash);
    for (let count = 1; count < data.length; count++) {
      await creator.call('blob_reflect', {
        blob_hashes: data.slice(0, count),
        reflector_server: await uploadPlace(),
      });
      expect((await roleOf()).blobs).toBe(count + 1);
      expect(await statuses(hashes)).toEqual(all(hashes, 404));
      expect(await offered(hashes)).toEqual([]);
    }
    await reflector.kill();
    reflector = await world.daemon('reflector', { args: ROLE_ARGS });
    expect(await statuses(hashes)).toEqual(all(hashes, 404));
    expect(await reflect(sdHash)).toEqual(hashes.slice(-1));
    expect(await statuses(hashes)).toEqual(all(hashes, 200));
    expect(await offered(hashes)).toEqual(hashes.slice(0, 4));
  });

  it.skipIf(!LBRYNET)(
    'takes a stream of lbrynet, which another lbrynet downloads from it',
    { timeout: HANG_MS },
    async () => {
      const settings = { reflector_servers: [await uploadPlace()], tracker_servers: [], fixed_peers: [] };
      const theirs = await SdkDaemon.start(LBRYNET!, [world.hubPort], ['exchange_rate_manager'], {
        settings: { ...settings, reflect_streams: true },
      });
      let other: SdkDaemon | null = null;
      try {
        await world.node.rpc('sendtoaddress', [await theirs.call('address_unused'), 1]);
        await world.mine(creator);
        await theirs.until(
          'it is paid',
          async () => Number((await theirs.call<{ available: string }>('account_balance')).available) > 0,
        );
        const before = (await roleOf()).blobs;
        const bytes = randomBytes(FILM_BYTES);
        const path = theirs.file('theirs.bin', '');
        writeFileSync(path, bytes);
        await theirs.call('publish', { name: 'theirs', bid: '0.01', file_path: path });
        const listed = async () =>
          (await theirs.call<{ items: (ListedFile & { is_fully_reflected: boolean })[] }>('file_list'))
            .items[0];
        await theirs.until('it is reflected', async () => (await listed())?.is_fully_reflected === true);
        expect((await roleOf()).blobs).toBe(before + BLOBS + 1);
        expect(await theirs.call('file_reflect', { claim_name: 'theirs' })).toEqual([]);
        await world.mine(creator);
        await theirs.stop();
        other = await SdkDaemon.start(LBRYNET!, [world.hubPort], ['exchange_rate_manager'], {
          settings: {
            ...settings,
            fixed_peers: [`127.0.0.1:${(await roleOf()).peer_port}`],
            fixed_peer_delay: 0,
            reflect_streams: false,
            save_files: true,
          },
        });
        await other.call('get', { uri: 'theirs', timeout: 60 });
        const file = async () => (await other!.call<{ items: ListedFile[] }>('file_list')).items[0]!;
        await other.until('it is saved', async () => (await file()).status === 'finished');
        expect(readFileSync((await file()).download_path!).equals(bytes)).toBe(true);
      } finally {
        if (other === null) await theirs.stop();
        else await other.stop();
      }
    },
  );

  it('takes no more than its quota, says so, and takes more after a change', async () => {
    const used = Math.floor((await roleOf()).used_bytes / 1_000_000);
    await reflector.call('settings_set', { key: 'reflector_quota', value: used });
    const sdHash = await publish('above');
    await expect(reflect(sdHash)).rejects.toThrow(/quota .*is used up/);
    const [file] = await filesOf(creator, { claim_name: 'above' });
    expect(file).toMatchObject({ is_fully_reflected: false });
    expect((file as unknown as { reflector_error: string }).reflector_error).toContain('quota');
    expect(await statuses(await blobsOf(sdHash))).toEqual(all(await blobsOf(sdHash), 404));
    await reflector.call('settings_set', { key: 'reflector_quota', value: 0 });
    await reflect(sdHash);
    expect(await statuses(await blobsOf(sdHash))).toEqual(all(await blobsOf(sdHash), 200));
  });

  it(
    'neither takes nor serves what its block list names, and serves the rest',
    { timeout: HANG_MS },
    async () => {
      const [ofChannel, single, free] = [
        await publish('of-channel', '@creator'),
        await publish('single'),
        await publish('free'),
      ];
      await world.mine(creator, reflector);
      for (const sdHash of [ofChannel, single, free]) await reflect(sdHash);
      const idOf = async (name: string, type: 'channel_list' | 'stream_list'): Promise<string> =>
        (await creator.call<{ items: { claim_id: string }[] }>(type, { name })).items[0]!.claim_id;
      const ids = [await idOf('@creator', 'channel_list'), await idOf('single', 'stream_list')];
      await reflector.call('settings_set', { key: 'reflector_blocked', value: ids });
      await until('the streams are blocked', async () => (await roleOf()).blocked_streams >= 3);
      for (const sdHash of [ofChannel, single])
        expect(await statuses(await blobsOf(sdHash))).toEqual(all(await blobsOf(sdHash), 404));
      expect(await offered(await blobsOf(single))).toEqual([]);
      expect(await statuses(await blobsOf(free))).toEqual(all(await blobsOf(free), 200));
      await expect(reflect(single)).rejects.toThrow('the stream is blocked');
      // The block list persists over a kill, and is empty when the setting is removed.
      await reflector.kill();
      reflector = await world.daemon('reflector', { args: ROLE_ARGS });
      expect(await statuses(await blobsOf(single))).toEqual(all(await blobsOf(single), 404));
      await reflector.call('settings_set', { key: 'reflector_blocked', value: [] });
      await until('nothing is blocked', async () => (await roleOf()).blocked_streams === 0);
      expect(await statuses(await blobsOf(single))).toEqual(all(await blobsOf(single), 200));
    },
  );
});

describe('a reflector with an object store', () => {
  const environment = { AWS_ACCESS_KEY_ID: ACCESS_KEY, AWS_SECRET_ACCESS_KEY: SECRET_KEY };

  it(
    'loses no acknowledged blob when the store is lost in the middle of an upload',
    { timeout: HANG_MS },
    async () => {
      const engine = new S3StandIn();
      await engine.start();
      const settings = {
        ...CONTENT_SETTINGS,
        blob_store: `s3://${BUCKET}/some`,
        blob_store_endpoint: engine.endpoint,
        blob_store_cache: 100,
      };
      const start = () => world.daemon('offsite', { settings, args: ROLE_ARGS, environment });
      let offsite = await start();
      try {
        let puts = 0;
        engine.fault = (method) => (method === 'PUT' && ++puts === 3 ? 'reset' : null);
        const sdHash = await publish('offsite');
        const hashes = await blobsOf(sdHash);
        const sending = reflect(sdHash, offsite);
        await until('the store has some', () => Promise.resolve(puts >= 3));
        await engine.stop();
        await sending;
        await until(
          'the store is degraded',
          async () => (await roleOf(offsite)).blob_store?.state === 'degraded',
        );
        expect((await roleOf(offsite)).blob_store!.waiting_blobs).toBeGreaterThan(0);
        // It serves the blobs on its disk, and keeps the upload queue over a kill.
        expect(await statuses(hashes, offsite)).toEqual(all(hashes, 200));
        await offsite.kill();
        offsite = await start();
        expect(await statuses(hashes, offsite)).toEqual(all(hashes, 200));
        engine.fault = () => null;
        await engine.start();
        await until('the store has all', async () => {
          const { state, waiting_blobs: waiting } = (await roleOf(offsite)).blob_store!;
          return state === 'ok' && waiting === 0;
        });
        expect([...engine.objects.keys()].map((key) => key.split('/').at(-1)).sort()).toEqual(
          [...hashes].sort(),
        );
        for (const [key, { bytes }] of engine.objects) expect(blobHashOf(bytes)).toBe(key.split('/').at(-1));
      } finally {
        await offsite.stop();
        await engine.stop();
      }
    },
  );

  it.each([
    ['blob_store', 'blobs', /s3:\/\/BUCKET or s3:\/\/BUCKET\/PREFIX/],
    ['blob_store', 's3://blobs/../other', /s3:\/\/BUCKET or s3:\/\/BUCKET\/PREFIX/],
    ['blob_store', 's3://blobs', /needs keys: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY/],
  ])('does not start with %s=%s, and names the reason', async (name, value, words) => {
    const folder = join(world.folder, 'wrong');
    const started = startDaemon({
      hubPorts: [world.hubPort],
      folder,
      settings: CONTENT_SETTINGS,
      args: [...ROLE_ARGS, `--${name.replace('_', '-')}=${value}`],
      environment: { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' },
    });
    await expect(started).rejects.toThrow(words);
    const blobs = join(folder, 'data', 'reflector', 'blobfiles');
    expect(existsSync(blobs) ? readdirSync(blobs).filter(isBlobHash) : []).toEqual([]);
  });
});
