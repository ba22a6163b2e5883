/** Daemons with misbehaving trackers and an honest one. The daemons find each other soon and with little memory. */
import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openUdpSocket } from '../../src/daemon/dht/udpPort.js';
import { TrackerServer } from '../support/trackerServer.js';
import { ContentWorld, filesOf, OFFLINE, type ListedFile } from './support/contentWorld.js';
import type { TestDaemon } from './support/daemon.js';
import { until } from './support/network.js';
import { freePort, HANG_MS } from './support/node.js';
import { peakBytes, resetPeak } from './support/residentMemory.js';

const FILM_BYTES = 5_000_000;
const MEMORY_BYTES = 64 * 1024 * 1024;
type Port = Awaited<ReturnType<typeof openUdpSocket>>;

const CONNECT = 0;
const ANNOUNCE = 1;
const ERROR = 3;

function answer(action: number, transactionId: number, ...words: readonly (number | Buffer)[]): Buffer {
  const parts = [action, transactionId, ...words].map((word) => {
    if (typeof word !== 'number') return word;
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(word >>> 0);
    return bytes;
  });
  return Buffer.concat(parts);
}
const connected = (id: number): Buffer => answer(CONNECT, id, Buffer.alloc(8, 7));
/** Peers at ports of this machine on which no program listens. */
function nowhere(count: number): Buffer {
  const bytes = Buffer.alloc(count * 6);
  for (let n = 0; n < count; n++) {
    Buffer.from([127, (n >> 14) & 255, (n >> 7) & 127, 1 + (n & 127)]).copy(bytes, n * 6);
    bytes.writeUInt16BE(2000 + (n % 7), n * 6 + 4);
  }
  return bytes;
}

interface Request {
  readonly action: number;
  readonly id: number;
  /** Sends bytes back to the client. */
  readonly reply: (bytes: Buffer) => void;
}
const honestConnect =
  (act: (request: Request) => void) =>
  (request: Request): void =>
    request.action === CONNECT ? request.reply(connected(request.id)) : act(request);

const LIES: Readonly<Record<string, (request: Request) => void>> = {
  silence: () => undefined,
  'silence to announcements': honestConnect(() => undefined),
  'another transaction id': ({ action, id, reply }) =>
    reply(action === CONNECT ? connected(id + 1) : answer(ANNOUNCE, id + 1, 60, 0, 1, nowhere(1))),
  'another transaction id for announcements': honestConnect(({ id, reply }) =>
    reply(answer(ANNOUNCE, id ^ 1, 60, 0, 1, nowhere(1))),
  ),
  'the answer to another question': ({ action, id, reply }) =>
    reply(action === CONNECT ? answer(ANNOUNCE, id, 60, 0, 1, nowhere(1)) : connected(id)),
  'empty datagrams': ({ reply }) => reply(Buffer.alloc(0)),
  'a truncated connection id': ({ id, reply }) => reply(connected(id).subarray(0, 11)),
  'a truncated head': honestConnect(({ id, reply }) => reply(answer(ANNOUNCE, id, 60).subarray(0, 10))),
  'a truncated peer': honestConnect(({ id, reply }) =>
    reply(answer(ANNOUNCE, id, 60, 0, 2, nowhere(2)).subarray(0, 29)),
  ),
  'a count without peers': honestConnect(({ id, reply }) => reply(answer(ANNOUNCE, id, 60, -1, -1))),
  'the largest datagram, full of peers that do not exist': honestConnect(({ id, reply }) =>
    reply(answer(ANNOUNCE, id, 60, 0, 10_000, nowhere(10_900))),
  ),
  'ten thousand answers': honestConnect(({ id, reply }) => {
    for (let n = 0; n < 10_000; n++) reply(answer(ANNOUNCE, id, 60, 0, 60, nowhere(60)));
  }),
  'an interval of zero': honestConnect(({ id, reply }) => reply(answer(ANNOUNCE, id, 0, 0, 3, nowhere(3)))),
  'an interval without end': honestConnect(({ id, reply }) =>
    reply(answer(ANNOUNCE, id, -1, 0, 3, nowhere(3))),
  ),
  'addresses that no peer has': honestConnect(({ id, reply }) =>
    reply(answer(ANNOUNCE, id, 60, 0, 3, Buffer.from('00000000138800000000ffff7f0000010000', 'hex'))),
  ),
  'errors of 60 kB': ({ id, reply }) => reply(answer(ERROR, id, Buffer.alloc(60_000, 0xff))),
  'an error without a text': honestConnect(({ id, reply }) => reply(answer(ERROR, id))),
  noise: ({ reply }) => reply(randomBytes(1400)),
};

class LyingTracker {
  readonly port: Port;
  requests = 0;

  constructor(port: Port, lie: (request: Request) => void) {
    this.port = port;
    port.listen((data, address, from) => {
      if (data.length < 16) return;
      this.requests++;
      lie({
        action: data.readUInt32BE(8),
        id: data.readUInt32BE(12),
        reply: (bytes) => port.send(bytes, address, from),
      });
    });
  }
}

let world: ContentWorld;
let creator: TestDaemon;
let viewer: TestDaemon;
let honest: TrackerServer;
let film: Buffer;
let peerPort: number;
let trackers: string[];
const liars = new Map<string, LyingTracker>();

const words = { what: 'tracker', settings: '' };

beforeAll(async () => {
  world = await ContentWorld.start();
  const honestPort = await openUdpSocket(0, '127.0.0.1', words);
  honest = new TrackerServer(honestPort);
  for (const [name, lie] of Object.entries(LIES))
    liars.set(name, new LyingTracker(await openUdpSocket(0, '127.0.0.1', words), lie));
  trackers = [...[...liars.values()].map(({ port }) => port.port), honestPort.port].map(
    (port) => `127.0.0.1:${port}`,
  );
  const components_to_skip = OFFLINE.filter((name) => name !== 'tracker_announcer_component');
  peerPort = await freePort();
  const settings = { components_to_skip, tracker_servers: trackers };
  creator = await world.daemon('creator', { settings, args: [`--tcp-port=${peerPort}`] });
  viewer = await world.daemon('viewer', { settings });
  await world.pay(creator, 5);
  film = randomBytes(FILM_BYTES);
  const path = join(world.folder, 'film.bin');
  writeFileSync(path, film);
  await creator.call('publish', { name: 'film', bid: '0.01', file_path: path, blocking: true });
  await world.mine(creator, viewer);
}, HANG_MS);

afterAll(async () => {
  await viewer?.stop();
  await creator?.stop();
  for (const { port } of liars.values()) await port.close();
  await honest?.close();
  await world?.stop();
}, HANG_MS);

describe('a daemon with misbehaving trackers', () => {
  it('announces its file to the honest one', async () => {
    const [{ sd_hash }] = (await filesOf(creator)) as readonly [ListedFile];
    const hash = Buffer.from(sd_hash, 'hex').subarray(0, 20);
    await until('the file is announced', () =>
      Promise.resolve(honest.peersOf(hash).includes(`127.0.0.1:${peerPort}`)),
    );
  });

  it('downloads the film from the peer that the honest one names', async () => {
    const before = peakBytes(viewer.pid);
    resetPeak(viewer.pid);
    const { error } = await viewer.call<ListedFile>('get', { uri: 'film', save_file: true, timeout: 60 });
    expect(error).toBeUndefined();
    await until('the film is saved', async () => (await filesOf(viewer))[0]?.status === 'finished');
    const [{ download_path: path }] = (await filesOf(viewer)) as readonly [ListedFile];
    expect(readFileSync(path!).equals(film)).toBe(true);
    expect(peakBytes(viewer.pid) - Math.min(before, peakBytes(viewer.pid))).toBeLessThan(MEMORY_BYTES);
    for (const [name, { requests }] of liars) expect(requests, name).toBeGreaterThan(0);
    // After a malformed answer, the daemon waits before its next request.
    for (const [name, { requests }] of liars) expect(requests, name).toBeLessThan(20);
  });

  it('lists the peer, and no more peers than a tracker may name', async () => {
    const [{ sd_hash }] = (await filesOf(creator)) as readonly [ListedFile];
    const { items, total_items: total } = await viewer.call<{
      items: { tcp_port: number }[];
      total_items: number;
    }>('peer_list', { blob_hash: sd_hash, page_size: 10_000 });
    const ports = items.map(({ tcp_port: port }) => port);
    expect(ports).toContain(peerPort);
    expect(Math.min(...ports)).toBeGreaterThan(1024);
    expect(total).toBe(items.length);
    expect(total).toBeLessThanOrEqual(100 * trackers.length);
  });

  it('does not accept answers from another port than that of the tracker', async () => {
    const socket = createSocket('udp4');
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
    const actions: number[] = [];
    const tracker = new LyingTracker(await openUdpSocket(0, '127.0.0.1', words), () => undefined);
    tracker.port.listen((data, address, from) => {
      actions.push(data.readUInt32BE(8));
      socket.send(connected(data.readUInt32BE(12)), from, address);
    });
    try {
      await viewer.call('settings_set', {
        key: 'tracker_servers',
        value: [`127.0.0.1:${tracker.port.port}`],
      });
      const page = await viewer.call('peer_list', { blob_hash: 'ab'.repeat(48) });
      expect(page).toMatchObject({ items: [], total_items: 0 });
      // Only connect requests were sent, because the answers came from another port and were ignored.
      expect(new Set(actions)).toEqual(new Set([CONNECT]));
    } finally {
      await tracker.port.close();
      socket.close();
    }
  });
});
