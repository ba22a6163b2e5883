/** Outbound connections of the node: their number, their networks, and feelers, with a fake clock. */
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PeerAddressBook } from '../../../../src/net/addressBook/peerAddressBook.js';
import { DialError, type Dialer } from '../../../../src/net/dial.js';
import {
  addressKey,
  formatNetAddress,
  groupOf,
  parseNetAddress,
  type NetAddress,
} from '../../../../src/net/netAddress.js';
import type { ConnectionKind } from '../../../../src/net/messageHandler.js';
import { Connector, type ConnectorDeps, type ConnectorOptions } from '../../../../src/net/peers/connector.js';
import type { PeerManager } from '../../../../src/net/peers/peerManager.js';
import { NODE } from '../../../../src/net/services.js';
import { SILENT_LOGGER } from '../../../../src/util/logging.js';
import { at, makeBook, seededRandom, START_SEC, type TestBook } from '../addressBook/support.js';

const PORT = 9246;
const MINUTE_MS = 60_000;
const GOOD_SERVICES = NODE.network | NODE.bloom | NODE.witness;

interface Connection {
  readonly kind: ConnectionKind;
  readonly remote: NetAddress;
  readonly name: string;
  readonly isInbound: boolean;
  readonly isWhitelisted?: boolean;
  readonly isGone?: boolean;
}

describe('outbound connections', () => {
  let nowMs: number;
  let test: TestBook;
  let book: PeerAddressBook;
  let connections: Connection[];
  /** Every attempt, in order. */
  let tried: { name: string; kind?: ConnectionKind }[];
  let unreachable: (address: NetAddress) => boolean;
  let waiting: { dueMs: number; wake: () => void }[];
  let connector: Connector | null;
  const bugs: unknown[] = [];

  beforeEach(() => {
    nowMs = 0;
    test = makeBook(seededRandom(3));
    book = test.book;
    connections = [];
    tried = [];
    unreachable = () => false;
    waiting = [];
    bugs.length = 0;
  });
  afterEach(async () => {
    const stopped = connector?.stop();
    await settle();
    await stopped;
    expect(bugs).toEqual([]);
  });

  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  const sleep: NonNullable<ConnectorDeps['sleep']> = (ms, signal) =>
    new Promise((resolve, reject) => {
      const fail = (): void => reject(new Error('aborted'));
      if (signal.aborted) fail();
      signal.addEventListener('abort', fail);
      const wake = (): void => {
        signal.removeEventListener('abort', fail);
        resolve(undefined);
      };
      waiting.push({ dueMs: nowMs + ms, wake });
    });
  /** Advances the time to the end of one sleep after the other. */
  async function pass(ms: number): Promise<void> {
    const end = nowMs + ms;
    for (;;) {
      await settle();
      waiting.sort((a, b) => a.dueMs - b.dueMs);
      const next = waiting[0];
      if (next === undefined || next.dueMs > end) break;
      waiting.shift();
      test.clock.nowSec += (next.dueMs - nowMs) / 1000;
      nowMs = next.dueMs;
      next.wake();
    }
    test.clock.nowSec += (end - nowMs) / 1000;
    nowMs = end;
  }

  function start(options: Partial<ConnectorOptions> = {}, deps: Partial<ConnectorDeps> = {}): void {
    const peers = {
      isActive: true,
      peers: () => connections.values(),
      countOf: (...kinds: ConnectionKind[]) => connections.filter(({ kind }) => kinds.includes(kind)).length,
      add: (
        _socket: Socket,
        what: Pick<Connection, 'kind' | 'remote' | 'isWhitelisted'> & { name?: string },
      ) => {
        const name = what.name ?? formatNetAddress(what.remote);
        tried.at(-1)!.kind = what.kind;
        const connection: Connection = {
          ...what,
          name,
          isInbound: false,
          get isGone() {
            return !connections.includes(connection);
          },
        };
        connections.push(connection);
        return connection;
      },
    };
    const dialer = {
      locate: (text: string) => Promise.resolve({ address: parseNetAddress(text, PORT) }),
      connect: ({ address }: { address: NetAddress }) => {
        tried.push({ name: formatNetAddress(address) });
        if (unreachable(address)) return Promise.reject(new DialError('refused'));
        return Promise.resolve({ destroy: () => undefined } as unknown as Socket);
      },
    };
    connector = new Connector(
      {
        connect: null,
        addNodes: [],
        seedNodes: [],
        maxConnections: 125,
        maxOutbound: 8,
        defaultPort: PORT,
        ...options,
      },
      {
        peers: peers as unknown as PeerManager,
        book,
        log: SILENT_LOGGER,
        random: seededRandom(4),
        nowMs: () => nowMs,
        adjustedTimeSec: () => test.clock.nowSec,
        isBanned: () => false,
        isOwn: () => false,
        isLimited: () => false,
        wantsExtraOutbound: () => false,
        addFixedSeeds: () => undefined,
        dialer: dialer as unknown as Dialer,
        sleep,
        ...deps,
      },
    );
    connector.start((error) => bugs.push(error));
  }

  /** Adds addresses of this number of groups to the book, with the present time. */
  function know(count: number, { services = GOOD_SERVICES, port = PORT, first = 60 } = {}): NetAddress[] {
    const addresses = Array.from({ length: count }, (_, i) =>
      at(`${first + (i % 60)}.${1 + (i >> 5)}.1.1`, port),
    );
    addresses.forEach((address, i) =>
      book.add([{ address, services, timeSec: START_SEC }], at(`${20 + i}.3.1.1`)),
    );
    return addresses;
  }
  const kinds = (): ConnectionKind[] => connections.map(({ kind }) => kind);
  const drop = (kind: ConnectionKind): void => {
    connections = connections.filter((connection) => connection.kind !== kind);
  };

  it('are eight, each in a network group of its own', async () => {
    for (let i = 0; i < 40; i++) {
      const address = at(`${70 + (i % 4)}.5.${i}.1`, PORT);
      book.add([{ address, services: GOOD_SERVICES, timeSec: START_SEC }], at(`${20 + i}.3.1.1`));
    }
    start();
    await pass(2 * MINUTE_MS);
    // The book has addresses of four groups only.
    expect(kinds()).toEqual(Array(4).fill('outbound'));
    know(40);
    await pass(2 * MINUTE_MS);
    expect(connections.filter(({ kind }) => kind === 'outbound')).toHaveLength(8);
    const groups = connections.map(({ remote }) => groupOf(remote).toString('hex'));
    expect(new Set(groups).size).toBe(connections.length);
  });

  it('include a feeler about every two minutes once there are eight', async () => {
    // Half of them answered an hour ago. A feeler connects to those that remain in the new table.
    const answered = know(60).filter((_, i) => i % 2 === 0);
    for (const address of answered) book.good(address);
    test.clock.nowSec += 3600;
    start();
    await pass(10_000);
    expect(kinds()).toEqual(Array(8).fill('outbound'));
    for (const { remote } of connections) book.good(remote);
    const atFirst = book.triedCount;
    const seen = new Set([...answered, ...connections.map(({ remote }) => remote)].map(addressKey));
    tried.length = 0;
    let feelers = 0;
    for (let minute = 0; minute < 30; minute++) {
      await pass(MINUTE_MS);
      for (const { kind, remote } of connections) {
        if (kind !== 'feeler') continue;
        feelers++;
        expect(seen.has(addressKey(remote))).toBe(false);
        seen.add(addressKey(remote));
        book.good(remote);
      }
      // The session does this when the version message has arrived.
      drop('feeler');
    }
    expect(tried.every(({ kind }) => kind === 'feeler')).toBe(true);
    expect(feelers).toBe(tried.length);
    expect(feelers).toBeGreaterThan(5);
    expect(feelers).toBeLessThan(30);
    expect(book.triedCount).toBe(atFirst + feelers);
  });

  it('test an address whose position is contested', async () => {
    know(40);
    start();
    await pass(10_000);
    expect(kinds()).toEqual(Array(8).fill('outbound'));
    const contested = {
      address: at('130.9.1.1', PORT),
      services: GOOD_SERVICES,
      timeSec: START_SEC,
      lastTrySec: 0,
    };
    book.selectTriedCollision = () => contested;
    tried.length = 0;
    await pass(15 * MINUTE_MS);
    expect(tried[0]).toEqual({ name: '130.9.1.1:9246', kind: 'feeler' });
  });

  it('include no feeler without free connections, and none at all if none are allowed', async () => {
    know(40);
    start({ maxConnections: 2, maxOutbound: 2 });
    await pass(15 * MINUTE_MS);
    expect(kinds()).toEqual(['outbound', 'outbound']);
    await connector!.stop();
    connections = [];
    start({ maxConnections: 0, maxOutbound: 0 });
    await pass(15 * MINUTE_MS);
    expect(connections).toEqual([]);
  });

  it('are one more while the tip is stale', async () => {
    know(60);
    start({}, { wantsExtraOutbound: () => true });
    await pass(15 * MINUTE_MS);
    expect(kinds()).toEqual(Array(9).fill('outbound'));
  });

  it('go to no peer that is connected, banned, this node or unreachable', async () => {
    const known = know(12);
    const text = (i: number): string => formatNetAddress(known[i]!);
    const [there, banned, own, limited] = [0, 1, 2, 3].map(text);
    // The peer connected to us from another port.
    connections.push({ kind: 'inbound', remote: { ...known[0]!, port: 50_000 }, name: 'x', isInbound: true });
    know(8, { services: NODE.witness, first: 150 });
    start(
      {},
      {
        isBanned: (address) => formatNetAddress(address) === banned,
        isOwn: (address) => formatNetAddress(address) === own,
        isLimited: (address) => formatNetAddress(address) === limited,
      },
    );
    await pass(10 * MINUTE_MS);
    const names = tried.map(({ name }) => name);
    for (const name of [there, banned, own, limited]) expect(names).not.toContain(name);
    expect(names.some((name) => name.startsWith('15'))).toBe(false);
    expect(connections.filter(({ kind }) => kind === 'outbound').length).toBe(8);
  });

  it('count a failure only if other peers could be reached', async () => {
    const known = know(3);
    unreachable = () => true;
    start();
    await pass(10 * MINUTE_MS);
    const attempts = (): number[] => book.snapshot().fresh.map(({ attempts: count }) => count);
    expect(tried.length).toBeGreaterThan(3);
    expect(attempts()).toEqual(known.map(() => 0));
    await connector!.stop();
    for (const third of ['1', '2']) {
      const remote = at(`9${third}.1.1.1`, PORT);
      connections.push({ kind: 'outbound', remote, name: formatNetAddress(remote), isInbound: false });
    }
    start();
    await pass(15 * MINUTE_MS);
    expect(attempts().every((count) => count > 0)).toBe(true);
  });

  it('use the fixed seeds if there are no other addresses for a minute', async () => {
    let added = 0;
    start(
      {},
      {
        addFixedSeeds: () => {
          added++;
          know(10);
        },
      },
    );
    await pass(MINUTE_MS);
    expect(added).toBe(0);
    await pass(30_000);
    expect(added).toBe(1);
    expect(kinds()).toEqual(Array(8).fill('outbound'));
  });

  it('fetch addresses from -seednode, once', async () => {
    start({ seedNodes: ['1.2.3.4', '1.2.3.5:7'] });
    await pass(10_000);
    expect(tried).toEqual([
      { name: '1.2.3.4:9246', kind: 'oneShot' },
      { name: '1.2.3.5:7', kind: 'oneShot' },
    ]);
    connections = [];
    await pass(10 * MINUTE_MS);
    expect(tried).toHaveLength(2);
  });

  it('are only those of -connect, with retries', async () => {
    know(20);
    start({ connect: ['1.2.3.4'] });
    await pass(5000);
    expect(kinds()).toEqual(['manual']);
    connections = [];
    await pass(30_000);
    expect(tried.map(({ name }) => name)).toEqual(['1.2.3.4:9246', '1.2.3.4:9246']);
  });

  it('keep those of -addnode, besides the others', async () => {
    know(40);
    start({ addNodes: ['1.2.3.4'] });
    await pass(10_000);
    expect(connector!.addNode('1.2.3.4')).toBe(false);
    expect(connector!.addNode('1.2.3.9')).toBe(true);
    await pass(2 * MINUTE_MS);
    expect(connections.filter(({ kind }) => kind === 'manual').map(({ name }) => name)).toEqual([
      '1.2.3.4',
      '1.2.3.9',
    ]);
    expect(connections.filter(({ kind }) => kind === 'outbound')).toHaveLength(8);
    expect(connector!.addedNodes()).toEqual([
      { name: '1.2.3.4', connected: { address: '1.2.3.4:9246', inbound: false } },
      { name: '1.2.3.9', connected: { address: '1.2.3.9:9246', inbound: false } },
    ]);
    expect(connections.some(({ isWhitelisted }) => isWhitelisted)).toBe(false);
    expect(connector!.removeNode('1.2.3.4')).toBe(true);
    drop('manual');
    await pass(3 * MINUTE_MS);
    expect(connections.filter(({ kind }) => kind === 'manual').map(({ name }) => name)).toEqual(['1.2.3.9']);
  });

  it('of -addnode are eight at a time, besides others of the operator', async () => {
    const added = Array.from({ length: 10 }, (_, i) => `1.2.4.${i + 1}`);
    const named = Array.from({ length: 9 }, (_, i) => `1.2.5.${i + 1}`);
    start({ connect: [], addNodes: added });
    await Promise.all(named.map((name) => connector!.tryOnce(name)));
    await pass(2 * MINUTE_MS);
    const open = (): string[] => connections.map(({ name }) => name).filter((name) => added.includes(name));
    expect(connections).toHaveLength(9 + 8);
    expect(open()).toEqual(added.slice(0, 8));
    connections = connections.filter(({ name }) => name !== added[3]);
    await pass(2 * MINUTE_MS);
    expect(open()).toHaveLength(8);
  });
});
