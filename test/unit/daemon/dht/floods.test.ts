/** Datagrams of unknown nodes: malformed ones, floods, false data. */
import { afterEach, describe, expect, it } from 'vitest';
import { encodeCompactAddress } from '../../../../src/daemon/dht/addresses.js';
import { bencode, type BValue } from '../../../../src/daemon/dht/bencode.js';
import { contactAt } from '../../../../src/daemon/dht/contact.js';
import {
  decodeDatagram,
  encodeDatagram,
  findNodeRequest,
  pingRequest,
  storeRequest,
  type RequestDatagram,
} from '../../../../src/daemon/dht/datagrams.js';
import { FloodGate } from '../../../../src/daemon/dht/floodGate.js';
import type { DhtNode } from '../../../../src/daemon/dht/node.js';
import { FakeClock } from '../../../support/fakeClock.js';
import { idOf, SimulatedDht } from './simulatedNodes.js';

let dht: SimulatedDht;
afterEach(() => dht.stop());

const STRANGER = ['9.9.9.9', 5555] as const;
const ids = (number: number) => ({ rpcId: idOf(`rpc ${number}`).subarray(0, 20), nodeId: idOf('stranger') });
const placeOf = (node: DhtNode): [string, number] => {
  const index = [0, 1, 2, 3].find((number) => idOf(number).equals(node.nodeId))!;
  return [dht.addressOf(index), 4444];
};

function isRead(data: Buffer): boolean {
  try {
    decodeDatagram(data);
    return true;
  } catch {
    return false;
  }
}

/** An unknown node that records the datagrams that it receives. */
function stranger(): { answers: Buffer[] } {
  const answers: Buffer[] = [];
  dht.network.port(...STRANGER).listen((data) => void answers.push(data));
  return { answers };
}

/** A node whose responses the test determines. */
function liar(number: number, respond: (request: RequestDatagram) => BValue): void {
  const place = [dht.addressOf(number), 4444] as const;
  const port = dht.network.port(...place);
  port.listen((data, address, from) => {
    const request = decodeDatagram(data);
    if (request.type !== 'request') return;
    const { rpcId } = request;
    const nodeId = idOf(number);
    port.send(encodeDatagram({ type: 'response', rpcId, nodeId, response: respond(request) }), address, from);
  });
}

describe('a node of the DHT', () => {
  it('ignores malformed datagrams and continues', async () => {
    dht = new SimulatedDht();
    const [node] = (await dht.start(2, 1)) as [DhtNode];
    const { answers } = stranger();
    const ping = encodeDatagram(pingRequest(ids(0)));
    const broken = [
      Buffer.alloc(0),
      Buffer.from('d'),
      Buffer.from('le'),
      Buffer.from('i5e'),
      Buffer.alloc(60_000, 'l'),
      Buffer.alloc(60_000, 'd'),
      bencode(new Map([[0, 0]])),
      ...Array.from({ length: ping.length }, (_, end) => ping.subarray(0, end)),
    ];
    // lbry-sdk reads some datagrams that are cut short at the end.
    const unread = broken.filter((data) => !isRead(data));
    expect(unread.length).toBeGreaterThan(100);
    for (const data of unread) dht.network.send(data, STRANGER, placeOf(node));
    await dht.clock.advance(1000);
    expect(answers).toHaveLength(0);
    dht.network.send(ping, ['9.9.9.8', 5555], placeOf(node));
    await dht.clock.advance(1000);
    expect(await dht.clock.until(node.announce(idOf('still works')))).toMatchObject({ accepted: 1 });
  });

  it('limits answers per second to one address, and answers others meanwhile', async () => {
    dht = new SimulatedDht();
    const [node, other] = (await dht.start(2, 1)) as [DhtNode, DhtNode];
    const { answers } = stranger();
    const request = encodeDatagram(findNodeRequest(ids(1), idOf('any')));
    for (let count = 0; count < 20_000; count++) dht.network.send(request, STRANGER, placeOf(node));
    const ping = other.ping(node.nodeId, ...placeOf(node));
    await dht.clock.until(ping, 1000);
    await dht.clock.advance(100);
    expect(answers.length).toBeGreaterThan(100);
    expect(answers.length).toBeLessThan(1000);
    expect(node.rpc.gate.dropped).toBeGreaterThan(19_000);
  });

  it('admits the responses to its own requests during a flood from many addresses', () => {
    const gate = new FloodGate(new FakeClock());
    gate.expect('1.2.3.4', 4444);
    for (let count = 0; count < 20_000; count++) gate.admits(`9.9.${count % 200}.${count % 2}`, 5555);
    expect(gate.dropped).toBeGreaterThan(9000);
    expect([gate.admits('1.2.3.4', 4444), gate.admits('1.2.3.4', 4444)]).toEqual([true, false]);
  });

  it('refuses announcements without a token of its own, also right after its start', async () => {
    dht = new SimulatedDht();
    const alone = dht.node({ number: 3, seeds: [] });
    alone.start();
    const { answers } = stranger();
    const store = storeRequest(ids(2), idOf('blob'), idOf('not a token'), 3333);
    dht.network.send(encodeDatagram(store), STRANGER, placeOf(alone));
    await dht.clock.advance(100);
    expect(answers.map((data) => decodeDatagram(data))).toMatchObject([
      { type: 'error', exceptionType: "<class 'ValueError'>", text: 'Invalid token' },
    ]);
    expect(alone.announcements.total).toBe(0);
  });

  it('accepts a token of the previous secret, and none of earlier ones', async () => {
    dht = new SimulatedDht();
    const node = dht.node({ number: 0, seeds: [] });
    node.start();
    const { answers } = stranger();
    const token = node.tokens.tokenFor(STRANGER[0]);
    const store = encodeDatagram(storeRequest(ids(3), idOf('blob'), token, 3333));
    const kept: number[] = [];
    for (let round = 0; round < 3; round++) {
      dht.network.send(store, STRANGER, placeOf(node));
      await dht.clock.advance(100);
      kept.push(answers.filter((data) => decodeDatagram(data).type === 'response').length);
      await dht.clock.advance(300_000);
    }
    expect(kept).toEqual([1, 2, 2]);
  });

  it('ignores unsolicited answers, and answers from other addresses', async () => {
    dht = new SimulatedDht();
    const [node] = (await dht.start(2, 1)) as [DhtNode];
    const response = { type: 'response', ...ids(4), response: Buffer.from('pong') } as const;
    dht.network.send(encodeDatagram(response), STRANGER, placeOf(node));
    await dht.clock.advance(1000);
    expect(node.table.get(idOf('stranger'))).toBeNull();
  });

  it('does not remove a working node after a spoofed malformed datagram', async () => {
    dht = new SimulatedDht();
    const [node, other] = (await dht.start(2, 2)) as [DhtNode, DhtNode];
    for (let count = 0; count < 10; count++)
      dht.network.send(Buffer.from('nonsense'), placeOf(other), placeOf(node));
    await dht.clock.advance(1000);
    expect(node.book.goodness(contactAt(other.nodeId, ...placeOf(other)))).toBe('good');
  });

  it('ends a lookup among nodes that always return nearer nodes', async () => {
    dht = new SimulatedDht();
    const [node] = (await dht.start(2, 1)) as [DhtNode];
    let reported = 1000;
    const contacts = (): BValue =>
      Array.from({ length: 8 }, () => {
        const number = reported++;
        liar(number, contacts);
        return [idOf(number), dht.addressOf(number), 4444];
      });
    liar(1, contacts);
    node.add(contactAt(idOf(1), dht.addressOf(1), 4444));
    await dht.clock.until(node.findNodes(idOf('target')), 600_000);
    expect(reported).toBeLessThan(10_000);
  });

  it('ignores an answer with an impossible address', async () => {
    dht = new SimulatedDht();
    const [node] = (await dht.start(2, 1)) as [DhtNode];
    const key = idOf('blob');
    const good = encodeCompactAddress({ nodeId: idOf(5), address: '8.8.8.8', port: 4444 });
    const bad = encodeCompactAddress({ nodeId: idOf(6), address: '192.168.1.1', port: 4444 });
    liar(
      1,
      () =>
        new Map<string, BValue>([
          ['token', idOf('token')],
          ['p', 1_000_000],
          [key.toString('latin1'), [good, bad]],
        ]),
    );
    const found: unknown[] = [];
    const search = (async () => {
      for await (const peers of node.findPeers(key, new AbortController().signal)) found.push(peers);
    })();
    await dht.clock.until(search);
    expect(found).toEqual([]);
  });

  it.each<[string, BValue]>([
    ['a number', 5],
    ['bytes', Buffer.from('contacts')],
    ['a list of numbers', [1, 2, 3]],
    ['a list of short lists', [[Buffer.alloc(48)], []]],
    ['a dictionary without a token', new Map()],
    [
      'values that are not a list',
      new Map<string, BValue>([
        ['token', idOf('t')],
        [idOf('blob').toString('latin1'), 7],
      ]),
    ],
  ])('ends lookups whose answer is %s', async (_, answer) => {
    dht = new SimulatedDht();
    const [node] = (await dht.start(2, 1)) as [DhtNode];
    liar(1, () => answer);
    await dht.clock.until(node.findNodes(idOf('blob')));
    const search = (async () => {
      for await (const peers of node.findPeers(idOf('blob'), new AbortController().signal))
        throw new Error(`not expected: ${JSON.stringify(peers)}`);
    })();
    await dht.clock.until(search);
    await dht.clock.until(node.announce(idOf('blob')));
  });
});
