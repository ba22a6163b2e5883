/** The block list of a reflector: streams of claims and channels that a hub names, over restarts and without a hub. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Settings } from '../../../../src/daemon/api/settings.js';
import { systemClock, systemRandom, type Clock } from '../../../../src/daemon/base/clock.js';
import { Bandwidth } from '../../../../src/daemon/exchange/bandwidth.js';
import { dialTcp } from '../../../../src/daemon/exchange/links.js';
import { RateLimiter } from '../../../../src/daemon/exchange/rateLimiter.js';
import { Reflecting } from '../../../../src/daemon/exchange/reflecting.js';
import { ReflectorRole } from '../../../../src/daemon/main/parts/reflectorRole.js';
import type { Resolver } from '../../../../src/daemon/resolve/resolver.js';
import type { Txo } from '../../../../src/daemon/txo/txo.js';
import { SILENT_LOGGER } from '../../../../src/util/logging.js';
import { encryptPiece } from '../../../../src/daemon/blobs/cipher.js';
import { descriptorBytes, streamHashOf } from '../../../../src/daemon/content/descriptor.js';
import { hashToHex } from '../../../../src/util/bytes.js';
import { MemoryBlobs } from '../../../support/exchangePeers.js';
import { channel, claim } from '../resolve/claimWorld.js';

type Query = Readonly<{
  claim_ids?: readonly string[];
  channel_ids?: readonly string[];
  offset: number;
  limit: number;
}>;

let folder: string;
let values: Record<string, unknown>;
let onBlocked: () => void;
/** Claims of the hub; null while no hub is connected. */
let claims: Txo[] | null;
let queries: Query[];
let role: ReflectorRole;
let ours: MemoryBlobs;

/** Pauses between attempts take no time. */
const hurried: Clock = {
  ...systemClock,
  after: (delayMs, task) => systemClock.after(delayMs < 30_000 ? 1 : delayMs, task),
};
const unlimited = new RateLimiter(systemClock, () => 0);
const bandwidth = new Bandwidth(systemClock, () => false);

const resolver = {
  search: (query: Query) => {
    queries.push(query);
    const found = claims!.filter(
      (txo) =>
        (query.claim_ids?.includes(hashToHex(txo.claimId!)) ?? false) ||
        (txo.channelId !== null && (query.channel_ids?.includes(hashToHex(txo.channelId)) ?? false)),
    );
    return Promise.resolve({ rows: found.slice(query.offset, query.offset + query.limit) });
  },
} as unknown as Resolver;

const settings = {
  get: (name: string) => values[name],
  onChange: (_name: string, listener: () => void) => (onBlocked = listener),
} as unknown as Settings;

async function start(): Promise<void> {
  role = new ReflectorRole({
    settings,
    log: SILENT_LOGGER,
    clock: systemClock,
    bandwidth,
    rates: { up: unlimited, down: unlimited },
    resolver: () => (claims === null ? null : resolver),
    environment: {},
  });
  await role.start();
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lbcnet-reflector-'));
  [claims, queries, ours, onBlocked] = [[], [], new MemoryBlobs(), () => undefined];
  values = {
    data_dir: folder,
    network_interface: '127.0.0.1',
    reflector_port: 0,
    reflector_peer_port: 0,
    reflector_http_port: 0,
    reflector_quota: 0,
    reflector_blocked: [],
    blob_store: '',
    max_peer_connections: 10,
    max_peer_connections_per_address: 10,
  };
});
afterEach(async () => {
  await role.stop();
  rmSync(folder, { recursive: true });
});

const statusOf = () => role.status() as Record<string, number>;

/** A stream of one blob in our memory, and a claim of it. */
function published(name: string, signer?: Txo): { sdHash: string; claimId: string } {
  const [key, iv] = [randomBytes(16), randomBytes(16)];
  const bytes = encryptPiece(randomBytes(100), key, iv);
  const blobs = [
    { blobHash: ours.put(bytes), blobNum: 0, iv: iv.toString('hex'), length: bytes.length },
    { blobHash: null, blobNum: 1, iv: iv.toString('hex'), length: 0 },
  ];
  const stream = { streamName: name, suggestedFileName: name, key: key.toString('hex'), blobs };
  const sdHash = ours.put(descriptorBytes({ ...stream, streamHash: streamHashOf(stream) }));
  const source = { sdHash: Buffer.from(sdHash, 'hex') };
  const txo = claim(name, { case: 'stream', value: { source } }, signer);
  claims?.push(txo);
  return { sdHash, claimId: hashToHex(txo.claimId!) };
}

async function send(sdHash: string): Promise<boolean> {
  const reflecting = new Reflecting({
    blobs: ours,
    notes: {
      streamsToReflect: () => Promise.resolve({ hashes: [], next: null }),
      noteReflected: () => Promise.resolve(),
    },
    dial: dialTcp,
    clock: hurried,
    random: systemRandom,
    bandwidth,
    rate: unlimited,
    settings: () => ({ isOn: true, servers: [], concurrent: 1 }),
    debug: () => undefined,
  });
  try {
    const place = { host: '127.0.0.1', port: statusOf()['upload_port']! };
    return (await reflecting.reflectStream(sdHash, place)).isComplete;
  } finally {
    await reflecting.stop();
  }
}

const isGiven = async (hash: string): Promise<boolean> => {
  const response = await fetch(`http://127.0.0.1:${statusOf()['http_port']}/blob?hash=${hash}`);
  await response.arrayBuffer();
  return response.ok;
};

async function block(ids: readonly string[], count: number): Promise<void> {
  values['reflector_blocked'] = ids;
  onBlocked();
  await expect.poll(() => statusOf()['blocked_streams']).toBe(count);
}

describe('a reflector', () => {
  it('stops serving the streams of a claim and of a channel when these are blocked', async () => {
    await start();
    const [alone, signed, free] = [published('alone'), published('signed', channel), published('free')];
    for (const { sdHash } of [alone, signed, free]) expect(await send(sdHash)).toBe(true);
    expect(await Promise.all([alone, signed, free].map(({ sdHash }) => isGiven(sdHash)))).toEqual([
      true,
      true,
      true,
    ]);
    await block([alone.claimId, hashToHex(channel.claimId!)], 2);
    await expect.poll(() => isGiven(alone.sdHash)).toBe(false);
    expect(await Promise.all([alone, signed, free].map(({ sdHash }) => isGiven(sdHash)))).toEqual([
      false,
      false,
      true,
    ]);
    await block([], 0);
    await expect.poll(() => isGiven(signed.sdHash)).toBe(true);
  });

  it('refuses blocked streams, and finds those of a channel page by page', async () => {
    await start();
    const many = Array.from({ length: 120 }, (_, n) => published(`s${n}`, channel));
    await block([hashToHex(channel.claimId!)], 120);
    expect(queries.filter(({ channel_ids: ids }) => ids).map(({ offset }) => offset)).toEqual([0, 50, 100]);
    expect(await send(many[119]!.sdHash)).toBe(false);
    expect(statusOf()).toMatchObject({ blobs: 0, received_blobs: 0 });
  });

  it('remembers blocked streams without a hub, and after a claim was abandoned', async () => {
    await start();
    const { sdHash, claimId } = published('gone');
    expect(await send(sdHash)).toBe(true);
    await block([claimId], 1);
    await role.stop();
    claims = null;
    await start();
    expect(statusOf()).toMatchObject({ blocked_streams: 1 });
    expect(await isGiven(sdHash)).toBe(false);
    await role.stop();
    claims = [];
    await start();
    await expect.poll(() => queries.length).toBeGreaterThan(2);
    expect(await isGiven(sdHash)).toBe(false);
  });

  it('starts with a corrupt list, and asks the hub for it', async () => {
    mkdirSync(join(folder, 'reflector'), { recursive: true });
    writeFileSync(join(folder, 'reflector', 'blocked.json'), '["abc", 5, {');
    const { sdHash, claimId } = published('a');
    values['reflector_blocked'] = [claimId];
    await start();
    await expect.poll(() => statusOf()['blocked_streams']).toBe(1);
    await expect
      .poll(() => readFileSync(join(folder, 'reflector', 'blocked.json'), 'utf8'))
      .toBe(JSON.stringify([sdHash]));
  });
});
