/** Hostile data for a daemon that downloads: false descriptors, and peers and servers that violate the protocol. */
import { createCipheriv, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { blobHashOf, isBlobHash, MAX_BLOB_BYTES } from '../../src/daemon/content/blobHash.js';
import { descriptorBytes, streamHashOf, type DescriptorBlob } from '../../src/daemon/content/descriptor.js';
import { ContentWorld, filesOf, type ListedFile } from './support/contentWorld.js';
import type { TestDaemon } from './support/daemon.js';
import {
  blobPeer,
  hostileHttpServer,
  hostilePeer,
  HTTP_VIOLATIONS,
  PEER_VIOLATIONS,
  type HostileServer,
} from './support/hostilePeers.js';
import { until } from './support/network.js';
import { freePort, HANG_MS } from './support/node.js';
import { peakBytes, resetPeak } from './support/residentMemory.js';

const MIB = 1024 * 1024;
const FILM_BYTES = 5_000_000;
/** Limit of the daemon's additional memory while it receives hostile data. */
const MEMORY_BYTES = 160 * MIB;

let world: ContentWorld;
let creator: TestDaemon;
let viewer: TestDaemon;
let film: Buffer;
let peerPort: number;
const servers: HostileServer[] = [];

const blobNames = (daemon: TestDaemon): string[] =>
  readdirSync(join(daemon.folder, 'data', 'blobfiles')).sort();
const set = (key: string, value: unknown) => viewer.call('settings_set', { key, value });

beforeAll(async () => {
  world = await ContentWorld.start();
  peerPort = await freePort();
  creator = await world.daemon('creator', { args: [`--tcp-port=${peerPort}`] });
  viewer = await world.daemon('viewer', {
    settings: { blob_download_timeout: 20, fixed_peer_delay: 0, blob_lru_cache_size: 0 },
  });
  await world.pay(creator);
  film = randomBytes(FILM_BYTES);
  const path = join(world.folder, 'film.bin');
  writeFileSync(path, film);
  await creator.call('publish', { name: 'film', bid: '0.01', file_path: path, blocking: true });
  await world.mine(creator, viewer);
}, HANG_MS);

afterAll(async () => {
  await viewer?.stop();
  await creator?.stop();
  await world?.stop();
}, HANG_MS);

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
  await set('fixed_peers', []);
  await set('http_blob_servers', []);
  for (const { sd_hash } of await filesOf(viewer))
    await viewer.call('file_delete', { sd_hash, delete_from_download_dir: true });
});

async function whileLiedTo(work: () => Promise<void>): Promise<number> {
  const before = peakBytes(viewer.pid);
  resetPeak(viewer.pid);
  await work();
  await viewer.call('status');
  return peakBytes(viewer.pid) - Math.min(before, peakBytes(viewer.pid));
}

async function savedBytes(): Promise<Buffer> {
  let [file] = await filesOf(viewer);
  while (file?.status !== 'finished') [file] = await filesOf(viewer);
  return readFileSync(file.download_path!);
}

describe('a daemon that downloads', () => {
  const VIOLATIONS = [
    ...Object.keys(PEER_VIOLATIONS).map((name) => ['peer', name] as const),
    ...Object.keys(HTTP_VIOLATIONS).map((name) => ['server', name] as const),
  ];
  const start = (kind: 'peer' | 'server', violation: string): Promise<HostileServer> =>
    kind === 'peer' ? hostilePeer(violation) : hostileHttpServer(violation);

  it.each(VIOLATIONS)('stores nothing from a %s that sends %s, and disconnects', async (kind, violation) => {
    const hostile = await start(kind, violation);
    servers.push(hostile);
    const place = `127.0.0.1:${hostile.port}`;
    await (kind === 'peer' ? set('fixed_peers', [place]) : set('http_blob_servers', [`http://${place}`]));
    const blob_hash = blobHashOf(randomBytes(16));
    const grown = await whileLiedTo(async () => {
      await expect(viewer.call('blob_get', { blob_hash, timeout: 2 })).rejects.toThrow(
        `Failed to download blob ${blob_hash} within 2 seconds.`,
      );
    });
    expect(hostile.requests()).toBeGreaterThan(0);
    expect(grown).toBeLessThan(MEMORY_BYTES);
    expect(readdirSync(join(viewer.folder, 'data', 'blobfiles'))).toEqual([]);
    await until('the connections are closed', () => Promise.resolve(hostile.connections() === 0));
  });

  it('downloads a film from the only honest peer among these', async () => {
    for (const [kind, violation] of VIOLATIONS) servers.push(await start(kind, violation));
    const places = servers.map(({ port }) => `127.0.0.1:${port}`);
    const peers = Object.keys(PEER_VIOLATIONS).length;
    await set('fixed_peers', [...places.slice(0, peers), `127.0.0.1:${peerPort}`]);
    await set(
      'http_blob_servers',
      places.slice(peers).map((place) => `http://${place}`),
    );
    const grown = await whileLiedTo(async () => {
      const { error } = await viewer.call<ListedFile>('get', { uri: 'film', save_file: true, timeout: 60 });
      expect(error).toBeUndefined();
      expect((await savedBytes()).equals(film)).toBe(true);
    });
    expect(grown).toBeLessThan(MEMORY_BYTES);
  });
});

interface Described {
  readonly sd: Buffer;
  readonly blobs?: ReadonlyMap<string, Uint8Array>;
  /** The error of `get`; undefined if the stream is saved. */
  readonly error?: RegExp;
  readonly saved?: Buffer;
}

const KEY = '11'.repeat(16);
const IV = '22'.repeat(16);

function encrypted(bytes: Buffer): Buffer {
  const cipher = createCipheriv('aes-128-cbc', Buffer.from(KEY, 'hex'), Buffer.from(IV, 'hex'));
  return Buffer.concat([cipher.update(bytes), cipher.final()]);
}

/** A descriptor of these blobs. */
function described(
  parts: readonly (readonly [hash: string, length: number])[],
  { name = 'film.bin', key = KEY, iv = IV } = {},
): Buffer {
  const blobs: DescriptorBlob[] = parts.map(([blobHash, length], blobNum) => ({
    blobHash,
    length,
    blobNum,
    iv,
  }));
  blobs.push({ blobHash: null, blobNum: blobs.length, iv, length: 0 });
  const stream = { streamName: name, key, suggestedFileName: name, blobs };
  return descriptorBytes({ ...stream, streamHash: streamHashOf(stream) });
}

const filled = (start: string, one: string, end: string): Buffer =>
  Buffer.from(
    start + one.repeat(Math.floor((MAX_BLOB_BYTES - start.length - end.length) / one.length)) + end,
  );

const nowhere = (n: number): string => blobHashOf(Buffer.from(`nowhere ${n}`));
const SMALL = encrypted(Buffer.from('small'));
const LARGE = encrypted(randomBytes(MAX_BLOB_BYTES - 1));
const GARBAGE = Buffer.from('00'.repeat(64), 'hex');
const mapOf = (...blobs: readonly Buffer[]): ReadonlyMap<string, Uint8Array> =>
  new Map(blobs.map((bytes) => [blobHashOf(bytes), bytes]));

const INVALID = /./;
const LATE = /^Failed to download data blobs for sd hash/;

const DESCRIPTORS: Readonly<Record<string, () => Described>> = {
  'a million entries': () => ({ sd: filled('{"blobs": [', '{},', '{}]}'), error: INVALID }),
  'lists within lists': () => ({ sd: filled('{"blobs": ', '[', ''), error: INVALID }),
  'a number of two million digits': () => ({
    sd: filled('{"blobs": [{"length": ', '9', '}]}'),
    error: INVALID,
  }),
  'bytes that are not JSON': () => ({ sd: randomBytes(MAX_BLOB_BYTES), error: INVALID }),
  'as many entries as fit': () => ({
    sd: described(Array.from({ length: 10_400 }, (_, n) => [nowhere(n), MAX_BLOB_BYTES] as const)),
    error: LATE,
  }),
  'one blob a hundred times': () => ({
    sd: described(Array.from({ length: 100 }, () => [blobHashOf(SMALL), SMALL.length] as const)),
    blobs: mapOf(SMALL),
    saved: Buffer.from('small'.repeat(100)),
  }),
  'a length above that of the blob': () => ({
    sd: described([[blobHashOf(SMALL), MAX_BLOB_BYTES]]),
    blobs: mapOf(SMALL),
    error: LATE,
  }),
  'a length below that of the blob': () => ({
    sd: described([[blobHashOf(LARGE), 16]]),
    blobs: mapOf(LARGE),
    error: LATE,
  }),
  'a length of 2^53': () => ({ sd: described([[blobHashOf(SMALL), 2 ** 53]]), error: INVALID }),
  'a negative length': () => ({ sd: described([[blobHashOf(SMALL), -16]]), error: INVALID }),
  'a blob that does not decrypt': () => ({
    sd: described([[blobHashOf(GARBAGE), GARBAGE.length]]),
    blobs: mapOf(GARBAGE),
    error: /cannot be decrypted/,
  }),
  'a blob that does not decrypt after one that does': () => ({
    sd: described([
      [blobHashOf(SMALL), SMALL.length],
      [blobHashOf(GARBAGE), GARBAGE.length],
    ]),
    blobs: mapOf(SMALL, GARBAGE),
  }),
  'a name that leads out of the folder': () => ({
    sd: described([[blobHashOf(SMALL), SMALL.length]], { name: '../../../../out' }),
    blobs: mapOf(SMALL),
    saved: Buffer.from('small'),
  }),
  'a name of ten thousand characters': () => ({
    sd: described([[blobHashOf(SMALL), SMALL.length]], { name: 'x'.repeat(10_000) }),
    blobs: mapOf(SMALL),
    saved: Buffer.from('small'),
  }),
  'a name of control characters': () => ({
    sd: described([[blobHashOf(SMALL), SMALL.length]], { name: '\u0000\n..' }),
    blobs: mapOf(SMALL),
    saved: Buffer.from('small'),
  }),
};

describe('a descriptor with', () => {
  it.each(Object.keys(DESCRIPTORS))('%s', async (what) => {
    const { sd, blobs = new Map<string, Uint8Array>(), error, saved } = DESCRIPTORS[what]!();
    const sd_hash = blobHashOf(sd);
    const name = `d${Object.keys(DESCRIPTORS).indexOf(what)}`;
    await creator.call('stream_create', { name, bid: '0.01', sd_hash, file_name: 'a.bin', file_size: 10 });
    await world.mine(creator, viewer);
    const peer = await blobPeer(new Map([[sd_hash, sd], ...blobs]));
    servers.push(peer);
    await set('fixed_peers', [`127.0.0.1:${peer.port}`]);
    let answer: ListedFile | undefined;
    const grown = await whileLiedTo(async () => {
      answer = await viewer.call<ListedFile>('get', { uri: name, save_file: true, timeout: 5 });
    });
    expect(grown).toBeLessThan(MEMORY_BYTES);
    for (const one of blobNames(viewer).filter(isBlobHash))
      expect(blobHashOf(readFileSync(join(viewer.folder, 'data', 'blobfiles', one)))).toBe(one);
    if (error !== undefined) {
      expect(answer?.error).toMatch(error);
      expect(readdirSync(join(viewer.folder, 'files'))).toEqual([]);
    } else if (saved !== undefined) {
      expect(answer?.error).toBeUndefined();
      expect((await savedBytes()).equals(saved)).toBe(true);
      expect(readdirSync(join(viewer.folder, 'files')).length).toBe(1);
    }
    await filesOf(viewer);
  });
});
