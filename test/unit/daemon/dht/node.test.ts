/** Nodes over a simulated network on simulated time. The first six mirror lbry-sdk tests/integration/datanetwork/test_dht.py. */
import { afterEach, describe, expect, it } from 'vitest';
import { contactAt, type Contact } from '../../../../src/daemon/dht/contact.js';
import { decodeDatagram, encodeDatagram, pingRequest } from '../../../../src/daemon/dht/datagrams.js';
import { compareDistance } from '../../../../src/daemon/dht/addresses.js';
import type { DhtNode } from '../../../../src/daemon/dht/node.js';
import type { BlobPeer } from '../../../../src/daemon/dht/rpc.js';
import { idOf, memoryPeers, SimulatedDht } from './simulatedNodes.js';
import { longIt } from '../../../support/long.js';

let dht: SimulatedDht;
afterEach(() => dht.stop());

const contactOf = (number: number): Contact =>
  contactAt(idOf(number), dht.addressOf(number), dht.endpointOf(number).udpPort);
const idsIn = (node: DhtNode): string[] => node.table.contacts().map(({ nodeId }) => nodeId.toString('hex'));

async function peersOf(node: DhtNode, hash: Buffer): Promise<BlobPeer[]> {
  const peers: BlobPeer[] = [];
  for await (const found of node.findPeers(hash, new AbortController().signal)) peers.push(...found);
  return peers;
}

describe('DhtNode', () => {
  it('replaces nodes that went away when it refreshes', async () => {
    dht = new SimulatedDht();
    const nodes = await dht.start(20);
    const [node] = nodes as [DhtNode, ...DhtNode[]];
    for (let number = 1; number < 10; number++) {
      node.add(contactOf(number));
      await dht.kill(number, nodes[number]!);
    }
    await dht.clock.advance(300);
    expect(idsIn(node)).toContain(idOf(1).toString('hex'));
    await dht.clock.until(node.refresh());
    await dht.clock.advance(30_000);
    const alive = new Set(nodes.slice(10).map(({ nodeId }) => nodeId.toString('hex')));
    expect(idsIn(node).length).toBeGreaterThan(0);
    expect(idsIn(node).filter((id) => !alive.has(id))).toEqual([]);
  });

  it('locates a node that only others know, and pings it', async () => {
    dht = new SimulatedDht();
    const nodes = await dht.start(40);
    const [node] = nodes as [DhtNode, ...DhtNode[]];
    await dht.clock.advance(300_000);
    const far = nodes.findLast(({ nodeId }) => node.table.get(nodeId) === null)!;
    expect(await dht.clock.until(node.locateAndPing(far.nodeId))).toBe(true);
    expect(await dht.clock.until(node.locateAndPing(Buffer.alloc(48, 0x5a)))).toBe(false);
    dht.network.kill(dht.addressOf(nodes.indexOf(far)), 4444);
    const failed = expect(node.locateAndPing(far.nodeId)).rejects.toMatchObject({ reason: 'timeout' });
    await dht.clock.advance(60_000);
    await failed;
  });

  it('joins again within two seconds when others return', async () => {
    dht = new SimulatedDht();
    const nodes = await dht.start(20, 10);
    const node = nodes.at(-1)!;
    expect(node.table.size).toBeGreaterThan(0);
    for (let number = 0; number < 19; number++) dht.network.kill(dht.addressOf(number), 4444);
    await dht.clock.until(node.refresh());
    await dht.clock.advance(500);
    expect(node.table.size).toBe(0);
    expect(node.isJoined).toBe(false);
    for (let number = 0; number < 19; number++) dht.revive(number);
    await dht.clock.untilTrue(() => node.table.size > 0, 2000);
    await dht.clock.until(node.joined(), 2000);
  });

  it('announces to no node if it is alone', async () => {
    dht = new SimulatedDht();
    const node = dht.node({ number: 0, seeds: [0] });
    node.start();
    await dht.clock.advance(5000);
    expect(await dht.clock.until(node.announce(idOf(1337)))).toEqual({ found: 0, accepted: 0 });
  });

  it('gets a token to announce, and a new one after the other node changed its secret', async () => {
    dht = new SimulatedDht();
    const [one, two] = (await dht.start(2, 2)) as [DhtNode, DhtNode];
    one.book.clearToken(two.nodeId);
    const hash = idOf(1337);
    expect(await dht.clock.until(one.announce(hash))).toEqual({ found: 1, accepted: 1 });
    for (let count = 0; count < 3; count++) {
      two.tokens.rotate();
      two.tokens.rotate();
      expect(await dht.clock.until(one.announce(hash))).toEqual({ found: 1, accepted: 1 });
    }
    const [kept] = two.announcements.peersOf(hash);
    expect(kept).toMatchObject({ tcpPort: 3333, contact: { address: dht.addressOf(0) } });
  });

  it('removes bad nodes as soon as a lookup finds them', async () => {
    dht = new SimulatedDht();
    const [one, two] = (await dht.start(2, 2)) as [DhtNode, DhtNode];
    await dht.kill(1, two);
    expect(one.book.goodness(contactOf(1))).toBe('good');
    for (let count = 0; count < 2; count++) one.book.noteFailure(contactOf(1));
    expect(one.book.goodness(contactOf(1))).toBe('bad');
    expect(one.table.size).toBe(1);
    await dht.clock.until(one.findNodes(two.nodeId));
    expect(one.table.size).toBe(0);
  });

  it('stores peers after joining, and finds the network again with these only', async () => {
    dht = new SimulatedDht();
    const nodes = await dht.start(5, 2);
    const peerStore = memoryPeers();
    const first = dht.node({ number: 5, seeds: [0, 1] }, { peerStore });
    first.start();
    await dht.clock.until(first.joined());
    await dht.clock.advance(1000);
    expect(peerStore.peers.map(({ address }) => address)).toContain(nodes[0]!.nodeId && dht.addressOf(0));
    await first.stop();
    const second = dht.node({ number: 5, seeds: [] }, { peerStore });
    second.start();
    await dht.clock.until(second.joined());
    expect(idsIn(second).sort()).toEqual(idsIn(first).sort());
    expect(second.buckets.map(({ min, max }) => [min, max])).toEqual(
      first.buckets.map(({ min, max }) => [min, max]),
    );
  });

  it('joins through known nodes if all stored peers are dead', async () => {
    dht = new SimulatedDht();
    await dht.start(3);
    const dead = [100, 101, 102].map((number) => ({ ...contactOf(number), tcpPort: null }));
    const node = dht.node({ number: 50, seeds: [0] }, { peerStore: memoryPeers(dead) });
    node.start();
    await dht.clock.until(node.joined(), 2000);
    expect(node.table.get(idOf(0))).not.toBeNull();
  });

  it('does not overwrite stored peers with an empty table', async () => {
    dht = new SimulatedDht();
    const peerStore = memoryPeers([{ ...contactOf(100), tcpPort: null }]);
    const node = dht.node({ number: 0, seeds: [] }, { peerStore });
    node.start();
    await dht.clock.advance(10_000);
    await node.stop();
    expect(peerStore.peers).toHaveLength(1);
  });

  it('works with a loss of a tenth of all datagrams', async () => {
    let count = 0;
    dht = new SimulatedDht({ isLost: () => count++ % 10 === 9 });
    const nodes = await dht.start(20, 2);
    await dht.clock.advance(60_000);
    const hash = idOf('lossy');
    await dht.clock.until(nodes[7]!.announce(hash));
    const peers = await dht.clock.until(peersOf(nodes[13]!, hash));
    expect(peers.map(({ nodeId }) => nodeId.equals(nodes[7]!.nodeId))).toEqual([true]);
  });

  longIt(
    'puts announcements at 80 % of the eight nearest of 100 nodes, and others find them',
    async () => {
      dht = new SimulatedDht();
      const nodes = await dht.start(100, 3);
      await dht.clock.advance(300_000);
      let held = 0;
      const hashes = Array.from({ length: 10 }, (_, index) => idOf(`blob ${index}`));
      for (const [index, hash] of hashes.entries()) {
        const announcing = nodes[index * 7]!;
        const { found, accepted } = await dht.clock.until(announcing.announce(hash));
        expect([found, accepted]).toEqual([8, 8]);
        const others = nodes.filter((node) => node !== announcing);
        const nearest = others.sort((a, b) => compareDistance(hash, a.nodeId, b.nodeId)).slice(0, 8);
        held += nearest.filter((node) => node.announcements.peersOf(hash).length === 1).length;
      }
      expect(held / (8 * hashes.length)).toBeGreaterThanOrEqual(0.8);
      for (const [index, hash] of hashes.entries()) {
        const peers = await dht.clock.until(peersOf(nodes[99 - index]!, hash));
        expect(peers.map(({ nodeId }) => nodeId.toString('hex'))).toEqual([
          nodes[index * 7]!.nodeId.toString('hex'),
        ]);
      }
    },
    120_000,
  );

  it('finds all peers of a popular blob, page by page, each once', async () => {
    dht = new SimulatedDht();
    const nodes = await dht.start(10, 1);
    const hash = idOf('popular');
    for (const node of nodes)
      for (let number = 100; number < 170; number++) node.announcements.add(hash, contactOf(number), 5000);
    const asking = dht.node({ number: 90, seeds: [0] });
    asking.start();
    await dht.clock.until(asking.joined());
    const peers = await dht.clock.until(peersOf(asking, hash));
    expect(peers).toHaveLength(70);
    expect(new Set(peers.map(({ address }) => address)).size).toBe(70);
  });

  it('returns itself as a peer of its own blob with few announcements', async () => {
    dht = new SimulatedDht();
    const hash = idOf('own');
    const seeding = dht.node(
      { number: 0, seeds: [] },
      { hasBlob: (asked) => asked === hash.toString('hex') },
    );
    seeding.start();
    const asking = dht.node({ number: 1, seeds: [0] });
    asking.start();
    await dht.clock.until(asking.joined());
    expect(await dht.clock.until(peersOf(asking, hash))).toEqual([
      { nodeId: seeding.nodeId, address: dht.addressOf(0), tcpPort: 3333 },
    ]);
  });

  it('ends a lookup at once when it is aborted', async () => {
    dht = new SimulatedDht();
    const [one] = (await dht.start(2, 1)) as [DhtNode];
    dht.network.kill(dht.addressOf(1), 4444);
    const abort = new AbortController();
    const search = (async () => {
      for await (const _ of one.findPeers(idOf('x'), abort.signal)) throw new Error('not expected');
    })();
    await dht.clock.advance(100);
    abort.abort();
    await dht.clock.until(search, 1);
  });

  it('adds a node that sent a request only after it answered a ping, soon if the table has a free slot', async () => {
    dht = new SimulatedDht();
    const asked = dht.node({ number: 0, seeds: [] });
    asked.start();
    const asking = dht.node({ number: 1, seeds: [0] });
    asking.start();
    await dht.clock.until(asking.joined());
    expect(asked.table.size).toBe(0);
    await dht.clock.until(asked.joined(), 5000);
    expect(idsIn(asked)).toEqual([asking.nodeId.toString('hex')]);
  });

  it('pings a node that sent a request only after five minutes if the table has no free slot', async () => {
    dht = new SimulatedDht();
    const asked = dht.node({ number: 0, seeds: [] }, { splitBucketsUnderIndex: 0 });
    asked.start();
    const far = (number: number): boolean => (idOf(number)[0]! ^ idOf(0)[0]!) >= 0x80;
    const others = Array.from({ length: 60 }, (_, index) => index + 1).filter(far);
    for (const number of others.slice(0, 8))
      await asked.table.add(contactOf(number), () => Promise.resolve(true));
    const late = others.slice(8).find((number) => !asked.table.hasRoomFor(idOf(number)))!;
    const pings: number[] = [];
    const port = dht.network.port(dht.addressOf(late), 4444);
    port.listen((data) => {
      const datagram = decodeDatagram(data);
      if (datagram.type === 'request') pings.push(dht.clock.nowMs());
    });
    const ids = { rpcId: idOf('rpc').subarray(0, 20), nodeId: idOf(late) };
    port.send(encodeDatagram(pingRequest(ids)), dht.addressOf(0), 4444);
    await dht.clock.advance(290_000);
    expect(pings).toEqual([]);
    await dht.clock.advance(20_000);
    expect(pings).toHaveLength(1);
  });
});
