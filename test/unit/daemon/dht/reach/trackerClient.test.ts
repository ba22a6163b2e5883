/** The tracker client in simulated time. Contains the cases of lbry-sdk tests/unit/torrent/test_tracker.py and others. */
import { isIPv4 } from 'node:net';
import { describe, expect, it } from 'vitest';
import {
  TrackerClient,
  type TrackerServer as Place,
} from '../../../../../src/daemon/dht/reach/trackerClient.js';
import { trackerPeerId } from '../../../../../src/daemon/dht/reach/trackerPackets.js';
import { FakeClock } from '../../../../support/fakeClock.js';
import { SimulatedNetwork } from '../../../../support/simulatedNetwork.js';
import { TrackerServer, type TrackerServerOptions } from '../../../../support/trackerServer.js';
import { idOf, seededRandom } from '../simulatedNodes.js';

const OWN = ['8.1.1.1', 7000] as const;
const HASH = idOf('stream');
const INFO_HASH = HASH.subarray(0, 20);

function world(...trackers: (TrackerServerOptions | 'dead')[]) {
  const clock = new FakeClock();
  const network = new SimulatedNetwork({ clock });
  const places: Place[] = trackers.map((_, index) => [`tracker${index}.example`, 6969]);
  const servers = trackers.map((options, index) =>
    options === 'dead' ? null : new TrackerServer(network.port(`8.2.2.${index}`, 6969), options),
  );
  const client = new TrackerClient({
    clock,
    random: seededRandom('tracker client'),
    port: network.port(...OWN),
    peerId: trackerPeerId(idOf('node').toString('hex'), '0.113.0'),
    announcedPort: () => 3333,
    servers: () => places,
    resolve: (host) => {
      const index = places.findIndex(([name]) => name === host);
      if (isIPv4(host)) return Promise.resolve(host);
      return host.includes('nowhere')
        ? Promise.reject(new Error('ENOTFOUND'))
        : Promise.resolve(`8.2.2.${index}`);
    },
  });
  const search = async (announces = true, hash = HASH): Promise<string[]> => {
    const found: string[] = [];
    for await (const peers of client.search(hash, new AbortController().signal, { announces }))
      for (const { address, tcpPort } of peers) found.push(`${address}:${tcpPort}`);
    return found;
  };
  return { clock, network, places, servers, client, search };
}

describe('TrackerClient', () => {
  it('announces its port and learns peers', async () => {
    const { clock, servers, search } = world({});
    servers[0]!.addPeer(INFO_HASH, '8.9.9.9', 4444);
    const found = await clock.until(search());
    expect(found.sort()).toEqual(['8.1.1.1:3333', '8.9.9.9:4444']);
    expect(servers[0]!.peersOf(INFO_HASH)).toContain('8.1.1.1:3333');
  });

  it('queries without announcing itself, and drops peers with ports up to 1024', async () => {
    const { clock, servers, search } = world({});
    servers[0]!.addPeer(INFO_HASH, '8.9.9.9', 1024);
    servers[0]!.addPeer(INFO_HASH, '8.9.9.9', 1025);
    expect(await clock.until(search(false))).toEqual(['8.9.9.9:1025']);
    expect(servers[0]!.peersOf(INFO_HASH)).toContain('8.1.1.1:0');
  });

  it('queries a tracker once in its interval and returns its last answer meanwhile', async () => {
    const { clock, servers, search, client } = world({ intervalSec: 1700 });
    servers[0]!.addPeer(INFO_HASH, '8.9.9.9', 4444);
    const first = await clock.until(search());
    await clock.advance(1_690_000);
    expect(await clock.until(search())).toEqual(first);
    await clock.until(client.announce([HASH]));
    expect(servers[0]!.counts.announce).toBe(1);
    await clock.advance(20_000);
    await clock.until(client.announce([HASH]));
    expect(servers[0]!.counts.announce).toBe(2);
  });

  it('shares a connection for 50 seconds', async () => {
    const { clock, servers, client } = world({});
    await clock.until(client.announce([idOf('a'), idOf('b'), idOf('c')]));
    expect(servers[0]!.counts).toEqual({ connect: 1, announce: 3 });
    await clock.advance(51_000);
    await clock.until(client.announce([idOf('d')]));
    expect(servers[0]!.counts).toEqual({ connect: 2, announce: 4 });
  });

  it('queries all trackers, even if some are silent, unknown by name or refuse', async () => {
    const { clock, servers, places, search } = world({}, 'dead', { error: 'go away' }, {});
    places.push(['nowhere.example', 6969]);
    servers[0]!.addPeer(INFO_HASH, '8.9.9.1', 4444);
    servers[3]!.addPeer(INFO_HASH, '8.9.9.2', 4444);
    const found = await clock.until(search(false));
    expect(found.sort()).toEqual(['8.9.9.1:4444', '8.9.9.2:4444']);
    expect(clock.nowMs()).toBeLessThan(11_000);
  });

  it('queries a silent or refusing tracker again after a minute', async () => {
    const { clock, servers, search } = world({ error: 'go away' });
    await clock.until(search());
    await clock.until(search());
    expect(servers[0]!.counts.announce).toBe(1);
    await clock.advance(61_000);
    await clock.until(search());
    expect(servers[0]!.counts.announce).toBe(2);
  });

  it('sends requests again whose datagrams are lost, and stops when the answer has come', async () => {
    const { clock, network, servers, search } = world({});
    servers[0]!.addPeer(INFO_HASH, '8.9.9.9', 4444);
    network.kill('8.2.2.0', 6969);
    const searching = search(false);
    await clock.advance(1000);
    network.revive('8.2.2.0', 6969);
    expect(await clock.until(searching)).toEqual(['8.9.9.9:4444']);
    expect(clock.nowMs()).toBeLessThan(5000);
    await clock.advance(20_000);
    expect(servers[0]!.counts).toEqual({ connect: 1, announce: 1 });
  });

  it('asks a tracker without delay while another does not answer hundreds of announcements', async () => {
    const { clock, network, client, servers, search } = world({}, {});
    // The second tracker answers connect requests but no announcements.
    network.port('8.2.2.1', 6969).listen((data, address, port) => {
      if (data.readUInt32BE(8) === 0)
        network.send(
          Buffer.concat([Buffer.alloc(4), data.subarray(12, 16), Buffer.alloc(8)]),
          ['8.2.2.1', 6969],
          [address, port],
        );
    });
    const done = client.announce(Array.from({ length: 500 }, (_, index) => idOf(`many ${index}`)));
    await clock.advance(100);
    servers[0]!.addPeer(INFO_HASH, '8.9.9.9', 4444);
    const from = clock.nowMs();
    const first = client.search(HASH, new AbortController().signal, { announces: false });
    expect(await clock.until(first.next())).toMatchObject({ done: false });
    expect(clock.nowMs() - from).toBeLessThan(1000);
    await clock.until(first.return(undefined));
    await clock.until(done);
    expect(servers[0]!.counts.announce).toBe(501);
    // The first group of announcements has waited for the silent one, the others have not.
    expect(clock.nowMs()).toBeLessThan(25_000);
    expect(await clock.until(search(false))).toEqual(['8.9.9.9:4444']);
  });

  it('uses the current servers of the setting', async () => {
    const { clock, places, servers, client } = world({}, {});
    const [, second] = places.splice(1);
    expect(second).toBeUndefined();
    await clock.until(client.announce([HASH]));
    expect(servers.map((server) => server!.counts.announce)).toEqual([1, 0]);
    places.push(['tracker1.example', 6969]);
    await clock.until(client.announce([HASH]));
    expect(servers.map((server) => server!.counts.announce)).toEqual([1, 1]);
  });

  it('ignores answers from other addresses, truncated ones and answers to other requests', async () => {
    const { clock, network, search } = world('dead');
    network.port('8.2.2.0', 6969).listen((data, address, port) => {
      const id = data.subarray(12, 16);
      const connect = Buffer.concat([Buffer.alloc(4), id, Buffer.alloc(8)]);
      network.send(connect, ['8.6.6.6', 6969], [address, port]);
      network.send(connect.subarray(0, 10), ['8.2.2.0', 6969], [address, port]);
    });
    expect(await clock.until(search())).toEqual([]);
    await clock.advance(61_000);
    network.port('8.2.2.0', 6969).listen((data, address, port) => {
      const wrong = Buffer.concat([Buffer.from([0, 0, 0, 2]), data.subarray(12, 16), Buffer.alloc(8)]);
      network.send(wrong, ['8.2.2.0', 6969], [address, port]);
    });
    expect(await clock.until(search())).toEqual([]);
  });

  it('drops peers in local networks that a public tracker reports', async () => {
    const { clock, servers, search } = world({});
    for (const address of ['127.0.0.1', '10.1.2.3', '192.168.1.1', '0.0.0.0', '224.0.0.1', '8.9.9.9'])
      servers[0]!.addPeer(INFO_HASH, address, 5279);
    expect(await clock.until(search(false))).toEqual(['8.9.9.9:5279']);
  });

  it('keeps peers in local networks that a tracker of a local network reports', async () => {
    const { clock, network, places, search } = world({});
    places.splice(0, 1, ['192.168.0.1', 6969]);
    const server = new TrackerServer(network.port('192.168.0.1', 6969));
    server.addPeer(INFO_HASH, '192.168.1.1', 4444);
    expect(await clock.until(search(false))).toEqual(['192.168.1.1:4444']);
  });

  it('stores peers of the last answers only, and queries again for others', async () => {
    const { clock, servers, client, search } = world({});
    servers[0]!.addPeer(INFO_HASH, '8.9.9.9', 4444);
    await clock.until(search());
    const others = Array.from({ length: 1100 }, (_, index) => idOf(`other ${index}`));
    await clock.until(client.announce([...others, HASH]));
    expect(servers[0]!.counts.announce).toBe(1101);
    expect(await clock.until(search())).toContain('8.9.9.9:4444');
    expect(servers[0]!.counts.announce).toBe(1102);
  });

  it('limits an absurd interval to a day', async () => {
    const { clock, servers, search } = world({ intervalSec: 0xffffffff });
    await clock.until(search());
    await clock.advance(86_401_000);
    await clock.until(search());
    expect(servers[0]!.counts.announce).toBe(2);
  });

  it('has at most 100 concurrent requests and completes all of them', async () => {
    const { clock, client, servers, network } = world({});
    const hashes = Array.from({ length: 500 }, (_, index) => idOf(`many ${index}`));
    const done = client.announce(hashes);
    await clock.advance(50);
    expect(network.sent).toBeLessThanOrEqual(2 + 100);
    await clock.until(done);
    expect(servers[0]!.counts.announce).toBe(500);
  });

  it('ends waiting requests when it is closed', async () => {
    const { clock, client, search } = world('dead');
    const searching = search();
    await clock.advance(10);
    await client.close();
    expect(await clock.until(searching, 1)).toEqual([]);
  });
});
