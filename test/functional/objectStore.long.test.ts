/**
 * Reflectors whose blobs are in a real object store, OpenStack Swift with its S3 API: uploads while the store or a reflector is
 * killed, a second reflector on the same bucket, and a small cache. `apt-get install swift-proxy swift-account swift-container
 * swift-object` installs Swift; the test starts it in a folder of its own.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock, systemRandom } from '../../src/daemon/base/clock.js';
import { encryptPiece } from '../../src/daemon/blobs/cipher.js';
import { descriptorBytes, streamHashOf } from '../../src/daemon/content/descriptor.js';
import { Bandwidth } from '../../src/daemon/exchange/bandwidth.js';
import { dialTcp } from '../../src/daemon/exchange/links.js';
import { RateLimiter } from '../../src/daemon/exchange/rateLimiter.js';
import { Reflecting } from '../../src/daemon/exchange/reflecting.js';
import { MemoryBlobs } from '../support/exchangePeers.js';
import { startDaemon, type TestDaemon } from './support/daemon.js';
import { HANG_MS } from './support/node.js';
import { hasSwift, SWIFT_KEYS, SWIFT_REGION, SwiftEngine } from './support/swiftEngine.js';

const SKIPPED = [
  'wallet',
  'dht',
  'hash_announcer',
  'upnp',
  'tracker_announcer_component',
  'background_downloader',
];
const STREAMS = 8;
const BLOBS = 6;
const BLOB_BYTES = 600_000;
const CACHE_BYTES = 16_000_000;
const LIMIT_MS = 5 * HANG_MS;

interface StoreStatus {
  readonly state: string;
  readonly reason: string | null;
  readonly stored_blobs: number;
  readonly waiting_blobs: number;
  readonly fetched_blobs: number;
  readonly disk_bytes: number;
}
interface ReflectorStatus {
  readonly upload_port: number;
  readonly http_port: number;
  readonly received_blobs: number;
  readonly blob_store: StoreStatus;
}

const unlimited = new RateLimiter(systemClock, () => 0);

describe.skipIf(!hasSwift)('reflectors on Swift', { timeout: LIMIT_MS }, () => {
  const ours = new MemoryBlobs();
  const streams: string[] = [];
  let swift: SwiftEngine;
  let folders: string[];
  let first: TestDaemon;
  let second: TestDaemon | null = null;
  /** Enough for all blobs until a test reduces it. Blobs that are not uploaded yet must fit while the store is down. */
  let cacheBytes = 10 * CACHE_BYTES;

  function start(folder: string): Promise<TestDaemon> {
    return startDaemon({
      hubPorts: [],
      folder,
      settings: {
        components_to_skip: SKIPPED,
        fixed_peers: [],
        http_blob_servers: [],
        reflect_streams: false,
        blob_store: 's3://blobs/of/streams',
        blob_store_endpoint: swift.endpoint,
        blob_store_cache: cacheBytes / 1_000_000,
      },
      args: ['--reflector', ...['', '-peer', '-http'].map((kind) => `--reflector${kind}-port=0`)],
      environment: {
        AWS_ACCESS_KEY_ID: SWIFT_KEYS.accessKey,
        AWS_SECRET_ACCESS_KEY: SWIFT_KEYS.secretKey,
        AWS_REGION: SWIFT_REGION,
      },
    });
  }

  const statusOf = async (daemon: TestDaemon): Promise<ReflectorStatus> =>
    (await daemon.call<{ reflector: ReflectorStatus }>('status')).reflector;
  const storeOf = async (daemon: TestDaemon): Promise<StoreStatus> => (await statusOf(daemon)).blob_store;

  function addStream(): string {
    const key = randomBytes(16);
    const rows = Array.from({ length: BLOBS }, (_, blobNum) => {
      const iv = randomBytes(16);
      const bytes = encryptPiece(randomBytes(BLOB_BYTES), key, iv);
      return { blobHash: ours.put(bytes), blobNum, iv: iv.toString('hex'), length: bytes.length };
    });
    const end = { blobHash: null, blobNum: BLOBS, iv: randomBytes(16).toString('hex'), length: 0 };
    const stream = {
      streamName: 'a',
      suggestedFileName: 'a',
      key: key.toString('hex'),
      blobs: [...rows, end],
    };
    const sdHash = ours.put(descriptorBytes({ ...stream, streamHash: streamHashOf(stream) }));
    streams.push(sdHash);
    return sdHash;
  }

  async function send(sdHash: string, daemon: TestDaemon): Promise<boolean> {
    const reflecting = new Reflecting({
      blobs: ours,
      notes: {
        streamsToReflect: () => Promise.resolve({ hashes: [], next: null }),
        noteReflected: () => Promise.resolve(),
      },
      dial: dialTcp,
      clock: systemClock,
      random: systemRandom,
      bandwidth: new Bandwidth(systemClock, () => false),
      rate: unlimited,
      settings: () => ({ isOn: true, servers: [], concurrent: 1 }),
      debug: () => undefined,
    });
    try {
      const place = { host: '127.0.0.1', port: (await statusOf(daemon)).upload_port };
      return (await reflecting.reflectStream(sdHash, place)).isComplete;
    } finally {
      await reflecting.stop();
    }
  }

  /** Whether a reflector gives out the right bytes of all blobs over HTTP. */
  async function givesAll(daemon: TestDaemon): Promise<void> {
    const { http_port: port } = await statusOf(daemon);
    for (const [hash, bytes] of ours.blobs) {
      const answer = await fetch(`http://127.0.0.1:${port}/blob?hash=${hash}`);
      expect([hash, answer.status]).toEqual([hash, 200]);
      expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true);
    }
  }

  const settled = (daemon: TestDaemon) =>
    expect
      .poll(
        async () => {
          const { state, waiting_blobs: waiting } = await storeOf(daemon);
          return [state, waiting];
        },
        { timeout: LIMIT_MS, interval: 200 },
      )
      .toEqual(['ok', 0]);

  beforeAll(async () => {
    swift = await SwiftEngine.create();
    await swift.makeBucket('blobs');
    folders = ['a', 'b'].map((name) => mkdtempSync(join(tmpdir(), `lbcnode-reflector-${name}-`)));
    first = await start(folders[0]!);
  }, LIMIT_MS);

  afterAll(async () => {
    await first?.stop();
    await second?.stop();
    await swift?.remove();
    for (const folder of folders ?? []) rmSync(folder, { recursive: true, force: true });
  }, LIMIT_MS);

  it('store streams there', async () => {
    for (let n = 0; n < 2; n++) expect(await send(addStream(), first)).toBe(true);
    await settled(first);
    expect(await storeOf(first)).toMatchObject({ reason: null, stored_blobs: 2 * (BLOBS + 1) });
    for (const hash of ours.blobs.keys()) expect(await swift.head('blobs', `of/streams/${hash}`)).toBe(200);
  });

  it('receive streams while the store and then they themselves are killed during uploads, and lose nothing', async () => {
    const sending = Promise.all(Array.from({ length: STREAMS - 4 }, () => send(addStream(), first)));
    const before = (await storeOf(first)).stored_blobs;
    // The kill must come when some uploads have ended and others are running.
    await expect
      .poll(async () => (await storeOf(first)).stored_blobs, { timeout: LIMIT_MS, interval: 10 })
      .toBeGreaterThan(before + 2);
    await swift.kill();
    expect(await sending).toEqual(Array.from({ length: STREAMS - 4 }, () => true));
    await expect
      .poll(async () => (await storeOf(first)).state, { timeout: LIMIT_MS, interval: 100 })
      .toBe('degraded');
    const { waiting_blobs: waiting, reason } = await storeOf(first);
    expect(waiting).toBeGreaterThan(0);
    expect(reason).not.toBeNull();
    expect((await first.call<{ warnings: string[] }>('status')).warnings.join('\n')).toContain(
      `${waiting} blobs`,
    );
    expect(first.log).toContain('The blob store s3://blobs/of/streams fails');
    expect(first.log).not.toContain(SWIFT_KEYS.secretKey + '\n');
    await first.kill();
    first = await start(folders[0]!);
    expect((await storeOf(first)).waiting_blobs).toBeGreaterThanOrEqual(waiting);
    await swift.start();
    await settled(first);
    for (const hash of ours.blobs.keys()) expect(await swift.head('blobs', `of/streams/${hash}`)).toBe(200);
    await givesAll(first);
  });

  it('are killed in the middle of uploads while the store works, and lose nothing', async () => {
    for (let n = 0; n < 2; n++) {
      expect(await send(addStream(), first)).toBe(true);
      await first.kill();
      first = await start(folders[0]!);
    }
    await settled(first);
    for (const hash of ours.blobs.keys()) expect(await swift.head('blobs', `of/streams/${hash}`)).toBe(200);
  });

  it('keep the disk within its bound', async () => {
    const allBytes = [...ours.blobs.values()].reduce((sum, { length }) => sum + length, 0);
    expect(allBytes).toBeGreaterThan(1.5 * CACHE_BYTES);
    await first.stop();
    cacheBytes = CACHE_BYTES;
    first = await start(folders[0]!);
    await expect
      .poll(async () => (await storeOf(first)).disk_bytes, { timeout: LIMIT_MS, interval: 200 })
      .toBeLessThanOrEqual(CACHE_BYTES);
    const folder = join(folders[0]!, 'data', 'reflector', 'blobfiles');
    const onDisk = readdirSync(folder).map((name) => statSync(join(folder, name)).size);
    expect(onDisk.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(CACHE_BYTES);
    await givesAll(first);
    expect((await storeOf(first)).fetched_blobs).toBeGreaterThan(0);
  });

  it('serve streams that another reflector stored, and report an unreadable store', async () => {
    second = await start(folders[1]!);
    await givesAll(second);
    const { blob_store: store, received_blobs: received } = await statusOf(second);
    expect([received, store.stored_blobs]).toEqual([0, ours.blobs.size]);
    expect(await send(streams[0]!, second)).toBe(true);
    expect((await statusOf(second)).received_blobs).toBe(0);
    const folder = join(folders[1]!, 'data', 'reflector', 'blobfiles');
    const away = [...ours.blobs.keys()].find((hash) => !existsSync(join(folder, hash)))!;
    await swift.kill();
    const { http_port: port } = await statusOf(second);
    expect((await fetch(`http://127.0.0.1:${port}/blob?hash=${away}`)).status).toBe(503);
    await swift.start();
    await expect
      .poll(async () => (await fetch(`http://127.0.0.1:${port}/blob?hash=${away}`)).status, {
        timeout: LIMIT_MS,
        interval: 200,
      })
      .toBe(200);
  });
});
