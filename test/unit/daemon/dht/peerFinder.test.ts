import { afterEach, describe, expect, it } from 'vitest';
import { contactAt } from '../../../../src/daemon/dht/contact.js';
import type { DhtNode } from '../../../../src/daemon/dht/node.js';
import {
  guessedUdpPort,
  PeerFinder,
  type FoundPeer,
  type TrackerSearch,
} from '../../../../src/daemon/dht/peerFinder.js';
import { idOf, SimulatedDht } from './simulatedNodes.js';

let dht: SimulatedDht | null = null;
afterEach(async () => {
  await dht?.stop();
  dht = null;
});

const HASH = idOf('stream');

async function search(finder: PeerFinder, signal = new AbortController().signal): Promise<FoundPeer[]> {
  const found: FoundPeer[] = [];
  for await (const peer of finder.peersFor(HASH.toString('hex'), signal)) found.push(peer);
  return found;
}

const trackers = (...peers: [string, number][]): TrackerSearch => ({
  async *search() {
    await Promise.resolve();
    yield peers.map(([address, tcpPort]) => ({ address, tcpPort }));
  },
});
const unknownPlace = (): { address: string | null; tcpPort: number } => ({ address: null, tcpPort: 3333 });

describe('PeerFinder', () => {
  it('finds announced peers, without itself', async () => {
    dht = new SimulatedDht();
    const nodes = await dht.start(10, 2);
    await dht.clock.advance(60_000);
    for (const index of [2, 3, 4]) await dht.clock.until(nodes[index]!.announce(HASH));
    const external = () => ({ address: dht!.addressOf(3), tcpPort: 3333 });
    const finder = new PeerFinder({ node: nodes[3]!, trackers: null, external });
    const found = await dht.clock.until(search(finder));
    expect(found.map(({ address }) => address).sort()).toEqual([2, 4].map((index) => dht!.addressOf(index)));
    expect(found[0]).toMatchObject({ tcpPort: 3333, udpPort: 4444 });
    expect([2, 4].map((index) => nodes[index]!.nodeId.toString('hex'))).toContain(
      found[0]!.nodeId?.toString('hex'),
    );
  });

  it('waits for pings of unknown peers, and leaves silent ones out', async () => {
    dht = new SimulatedDht();
    const [node, other] = (await dht.start(2, 1)) as [DhtNode, DhtNode];
    // Two announced peers with this TCP port. Only node 50 listens.
    for (const [number, tcpPort] of [
      [50, 3333],
      [51, 3333],
    ] as const)
      other.announcements.add(HASH, contactAt(idOf(number), dht.addressOf(number), 4444), tcpPort);
    dht.node({ number: 50, seeds: [] });
    const finder = new PeerFinder({ node, trackers: null, external: unknownPlace });
    const found = await dht.clock.until(search(finder));
    expect(found).toMatchObject([{ address: dht.addressOf(50), tcpPort: 3333, udpPort: 4444 }]);
  });

  it('returns peers of trackers and of the DHT, each once, without its own address', async () => {
    dht = new SimulatedDht();
    const nodes = await dht.start(4, 1);
    await dht.clock.until(nodes[2]!.announce(HASH));
    const finder = new PeerFinder({
      node: nodes[1]!,
      trackers: trackers([dht.addressOf(2), 3333], ['8.7.7.7', 5000], [dht.addressOf(1), 3333]),
      external: () => ({ address: dht!.addressOf(1), tcpPort: 3333 }),
    });
    const found = await dht.clock.until(search(finder));
    expect(found.map(({ address, tcpPort }) => `${address}:${tcpPort}`).sort()).toEqual(
      [`${dht.addressOf(2)}:3333`, '8.7.7.7:5000'].sort(),
    );
  });

  it('works with trackers alone, and with neither', async () => {
    const alone = new PeerFinder({
      node: null,
      trackers: trackers(['8.7.7.7', 5000]),
      external: unknownPlace,
    });
    expect(await search(alone)).toEqual([{ address: '8.7.7.7', tcpPort: 5000, udpPort: null }]);
    expect(await search(new PeerFinder({ node: null, trackers: null, external: unknownPlace }))).toEqual([]);
  });

  it('ends at once when it is aborted', async () => {
    dht = new SimulatedDht();
    const [node] = (await dht.start(2, 1)) as [DhtNode];
    dht.network.kill(dht.addressOf(1), 4444);
    const abort = new AbortController();
    const searching = search(new PeerFinder({ node, trackers: null, external: unknownPlace }), abort.signal);
    await dht.clock.advance(50);
    abort.abort();
    expect(await dht.clock.until(searching, 1)).toEqual([]);
    const aborted = new PeerFinder({ node, trackers: trackers(['8.7.7.7', 5000]), external: unknownPlace });
    expect(await search(aborted, abort.signal)).toEqual([]);
  });

  it('guesses UDP ports as lbry-sdk does', () => {
    expect([3332, 3333, 3334, 3399, 3400, 4444].map(guessedUdpPort)).toEqual([
      3332, 4444, 4445, 4510, 3400, 4444,
    ]);
  });
});
