/** Daemons that find each other and their blobs over the DHT and a tracker, by their API. */
import { createHash } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openUdpSocket } from '../../src/daemon/dht/udpPort.js';
import { TrackerServer } from '../support/trackerServer.js';
import { startDaemon, type TestDaemon } from './support/daemon.js';

const LOOK_MS = 50;
const SKIPPED = ['wallet', 'wallet_server_payments', 'file_manager'];
const LIMIT_MS = 60_000;

async function freeUdpPort(): Promise<number> {
  const socket = createSocket('udp4');
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  const { port } = socket.address();
  await new Promise<void>((resolve) => socket.close(() => resolve()));
  return port;
}

interface Table {
  readonly node_id: string;
  readonly buckets: Record<
    string,
    { node_id: string; address: string; udp_port: number; tcp_port: number }[]
  >;
}

const contacts = ({ buckets }: Table) => Object.values(buckets).flat();

async function until<T>(look: () => Promise<T | null>): Promise<T> {
  const endMs = Date.now() + LIMIT_MS;
  for (;;) {
    const seen = await look();
    if (seen !== null) return seen;
    if (Date.now() > endMs) throw new Error('it did not come');
    await sleep(LOOK_MS);
  }
}

describe('daemons on a DHT', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lbcnode-peers-'));
  const blob = Buffer.from('a blob');
  const hash = createHash('sha384').update(blob).digest('hex');
  let tracker: TrackerServer;
  let [first, second]: TestDaemon[] = [];
  let firstPort: number;

  const start = (name: string, args: readonly string[]): Promise<TestDaemon> => {
    const home = join(folder, name);
    mkdirSync(home, { recursive: true });
    return startDaemon({
      hubPorts: [],
      folder: home,
      args,
      settings: { components_to_skip: SKIPPED, fixed_peers: [] },
    });
  };

  beforeAll(async () => {
    const port = await openUdpSocket(0, '127.0.0.1', { what: 'tracker', settings: '' });
    tracker = new TrackerServer(port);
    firstPort = await freeUdpPort();
    const trackers = `--tracker-servers=127.0.0.1:${port.port}`;
    first = await start('first', [`--udp-port=${firstPort}`, trackers]);
    mkdirSync(join(folder, 'second', 'data', 'blobfiles'), { recursive: true });
    writeFileSync(join(folder, 'second', 'data', 'blobfiles', hash), blob);
    second = await start('second', [`--known-dht-nodes=127.0.0.1:${firstPort}`, trackers]);
  });

  afterAll(async () => {
    await first?.stop();
    await second?.stop();
    await tracker?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('join each other and report it', async () => {
    const known = await until(async () => {
      const [entry] = contacts(await first!.call<Table>('routing_table_get'));
      return entry ?? null;
    });
    const table = await second!.call<Table>('routing_table_get');
    expect(known).toMatchObject({ address: '127.0.0.1', node_id: table.node_id });
    expect(contacts(table)).toMatchObject([{ udp_port: firstPort }]);
    const status = await first!.call<{
      dht: unknown;
      hash_announcer: unknown;
      upnp: unknown;
      startup_status: object;
    }>('status');
    const own = (await first!.call<Table>('routing_table_get')).node_id;
    expect(status.dht).toEqual({ node_id: own, peers_in_routing_table: 1 });
    expect(status.hash_announcer).toEqual({ announce_queue_size: 0 });
    expect(status.upnp).toMatchObject({
      gateway: 'No gateway found',
      redirects: {},
      dht_redirect_set: false,
      peer_redirect_set: false,
      external_ip: '127.0.0.1',
    });
    expect(status.startup_status).toMatchObject({
      dht: true,
      hash_announcer: true,
      tracker_announcer_component: true,
      upnp: true,
    });
    const file = readFileSync(join(folder, 'first', 'data', 'node_id'), 'utf8');
    expect(file).toMatch(/^[1-9A-HJ-NP-Za-km-z]+$/);
  });

  it('find a blob of the other node without an announcement', async () => {
    const { items } = await until(async () => {
      const page = await first!.call<{ items: unknown[] }>('peer_list', { blob_hash: hash });
      return page.items.length > 0 ? page : null;
    });
    const { node_id, udp_port } = contacts(await first!.call<Table>('routing_table_get'))[0]!;
    const { peer_protocol_server: server } = await second!.call<{ peer_protocol_server: { port: number } }>(
      'status',
    );
    expect(items).toEqual([{ address: '127.0.0.1', tcp_port: server.port, udp_port, node_id }]);
  });

  it('download a blob that they find through the DHT', async () => {
    await first!.call('blob_get', { blob_hash: hash, timeout: LIMIT_MS / 1000 });
    expect(readFileSync(join(folder, 'first', 'data', 'blobfiles', hash)).equals(blob)).toBe(true);
  });

  it('list peers of trackers without announcing themselves', async () => {
    const other = createHash('sha384').update('other').digest();
    tracker.addPeer(other.subarray(0, 20), '127.0.0.1', 5000);
    const page = await first!.call('peer_list', { blob_hash: other.toString('hex'), page_size: 1 });
    expect(page).toEqual({
      items: [{ address: '127.0.0.1', tcp_port: 5000, udp_port: null, node_id: null }],
      page: 1,
      page_size: 1,
      total_items: 1,
      total_pages: 1,
    });
    expect(tracker.peersOf(other.subarray(0, 20)).sort()).toEqual(['127.0.0.1:0', '127.0.0.1:5000']);
  });

  it('ping each other, and report other results as errors', async () => {
    const { node_id } = await second!.call<Table>('routing_table_get');
    const { udp_port: port } = await until(
      async () => contacts(await first!.call<Table>('routing_table_get'))[0] ?? null,
    );
    const ping = (params: object): Promise<unknown> =>
      first!.call('peer_ping', { node_id, address: '127.0.0.1', port, ...params });
    expect(await ping({})).toBe('pong');
    expect(await ping({ port: 0 })).toEqual({ error: 'peer not found' });
    expect(await ping({ node_id: '' })).toEqual({ error: 'peer not found' });
    await expect(ping({ address: '10.0.0.1' })).rejects.toMatchObject({
      errorName: 'ValueError',
      message: "peer_ping: invalid ip address: '10.0.0.1'",
    });
    await expect(ping({ port: 80 })).rejects.toThrow('invalid udp port: 127.0.0.1:80');
    await expect(ping({ node_id: 'abcd' })).rejects.toThrow('invalid node_id: abcd');
    await expect(ping({ node_id: 'x' })).rejects.toThrow('node_id must be hexadecimal digits');
    // Without address and port the peer is located first.
    expect(await first!.call('peer_ping', { node_id })).toBe('pong');
    expect(await first!.call('peer_ping', { node_id: 'ab'.repeat(48) })).toEqual({ error: 'peer not found' });
    await expect(ping({ port: null })).rejects.toThrow('address and port must be given together');
    await first!.call('settings_set', { key: 'node_rpc_timeout', value: 0.1 });
    expect(await ping({ port: await freeUdpPort() })).toEqual({ error: 'timeout' });
  });

  it('refuse what is not a hash', async () => {
    await expect(first!.call('peer_list', { blob_hash: 'abc' })).rejects.toThrow('invalid blob hash');
  });

  it('find each other after a restart by the peers that were stored', async () => {
    await second!.stop();
    second = await start('second', [
      '--components-to-skip=tracker_announcer_component',
      ...SKIPPED.map((name) => `--components-to-skip=${name}`),
    ]);
    const known = await until(async () => {
      const table = contacts(await second!.call<Table>('routing_table_get'));
      return table.length > 0 ? table : null;
    });
    expect(known).toMatchObject([{ udp_port: firstPort }]);
  });

  it('report that neither DHT nor trackers run', async () => {
    await second!.stop();
    const skipped = [
      ...SKIPPED,
      'dht',
      'hash_announcer',
      'tracker_announcer_component',
      'background_downloader',
    ];
    second = await start(
      'second',
      skipped.map((name) => `--components-to-skip=${name}`),
    );
    await expect(second.call('peer_list', { blob_hash: hash })).rejects.toThrow(
      'Peer list needs, at least, either a DHT component or a Tracker component for discovery.',
    );
    await expect(second.call('routing_table_get')).rejects.toThrow(
      /dht is not a known Component: it is skipped/,
    );
  });
});
