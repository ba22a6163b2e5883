/**
 * Fifty peers that send as fast as the node accepts, and mostly do not read. The node's memory must be bounded, and it must fetch
 * blocks from an honest peer meanwhile. Then twenty whitelisted peers in another process flood with each kind of message, while
 * the times of RPC calls and of the honest peer's blocks are measured. Finally, sockets that use all inbound connections and send
 * almost nothing.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MESSAGES } from '../../src/net/messages/table.js';
import { manyAddresses } from './scenarios/limits.js';
import { addressOf, peersOf, startPeer, until } from './support/network.js';
import { ADDRESS, type RegtestNode } from './support/node.js';
import { mineHeaders, placeAt, transaction } from './support/rawChain.js';
import {
  addresses,
  blocktxn,
  cmpctblock,
  count,
  filterload,
  getblocktxn,
  headers,
  INV_BLOCK,
  INV_TX,
  INV_WITNESS_BLOCK,
  inventory,
  locator,
  NO_HASH,
  one,
  sendcmpct,
  sha256d,
  text,
  u32,
  u64,
  version,
  withLength,
  type Item,
} from './support/rawMessages.js';
import { frame, RawPeer } from './support/rawPeer.js';
import { peakWhile, residentBytes } from './support/residentMemory.js';
import { CAN_TELL, UnbrakedPeers } from './support/unbraked.js';

const SOCKETS = 50;
const full = process.env['LBCNODE_FULL'] === '1';
const MIB = 1 << 20;
/**
 * Maximum heap of the node. Unbounded memory ends the node. Without a maximum, V8 would collect garbage rarely, and the size of
 * the process would not show whether memory is bounded.
 */
const HEAP_MIB = 256;
/**
 * Maximum growth of the node's memory through all floods: its heap, and bytes outside it. Received messages that are not
 * processed yet: 64 MiB of all peers together, and for each peer the message that is being received (at most 4 MB). Bytes that
 * a peer does not accept: -maxsendbuffer, 1 MB, and the answer that exceeds it, here a list of at most 2 MB.
 */
const BOUND = (HEAP_MIB + 64 + SOCKETS * 7) * MIB;
/** Inbound connections: -maxconnections less eight outbound connections and a feeler. */
const PLACES = 125 - 8 - 1;
const BLOCKS = 50;

const items = (length: number, make: (i: number) => Item): Buffer =>
  inventory(Array.from({ length }, (_, i) => make(i)));
/** The maximum number of items, all with unknown hashes. */
function unknownItems(type: number): Buffer {
  const hashes = randomBytes(32 * 50_000);
  return items(50_000, (i) => ({ type, hash: hashes.subarray(32 * i, 32 * i + 32) }));
}
const times = (count: number, make: () => Buffer): Buffer =>
  Buffer.concat(Array.from({ length: count }, make));
/** A transaction with an unknown parent and about `size` bytes in its output. */
const orphan = (size: number): Buffer =>
  frame('tx', transaction([{ txid: randomBytes(32) }], [{ valueSat: 1000n, script: Buffer.alloc(size, 1) }]));

describe('floods', () => {
  let node: RegtestNode;
  let honest: RegtestNode;
  let atFirst: number;
  /** Hashes of the first blocks. */
  const hashes: Buffer[] = [];
  const heightOf = (): Promise<number> => node.rpc<number>('getblockcount');
  beforeAll(async () => {
    const env = { NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}` };
    honest = await startPeer();
    await honest.rpc('generatetoaddress', [700, ADDRESS]);
    // With -connect the node reconnects if it disconnected the peer. On regtest it disconnects a peer that needs more than a
    // second for a block.
    node = await startPeer({ args: [`-connect=${addressOf(honest)}`], env });
    await until('the first sync', async () => (await heightOf()) === 700, 300_000);
    for (let height = 1; height <= 50; height++) hashes.push((await placeAt(node, height)).hash);
    atFirst = residentBytes(node.pid);
  });
  afterAll(async () => {
    await Promise.all([node.stop(), honest.stop()]);
  });

  interface Ways {
    /** It takes the answers. */
    reads?: boolean;
    /** Whether each peer sends the bytes only once. */
    once?: boolean;
  }
  /** The bytes that each peer sends repeatedly. */
  const floods: [string, (peer: number) => Buffer | Promise<Buffer>, Ways?][] = [
    ['ids of transactions', () => frame('inv', unknownItems(INV_TX))],
    [
      'ids of transactions by peers that read the questions',
      () => frame('inv', unknownItems(INV_TX)),
      { reads: true },
    ],
    ['ids of blocks', () => frame('inv', unknownItems(INV_BLOCK))],
    ['questions for what is not here', () => frame('getdata', unknownItems(INV_TX))],
    [
      'questions for blocks',
      () =>
        frame(
          'getdata',
          items(50_000, (i) => ({ type: INV_WITNESS_BLOCK, hash: hashes[i % 50]! })),
        ),
    ],
    [
      'questions for headers and ids',
      () =>
        times(250, () =>
          Buffer.concat(['getheaders', 'getblocks'].map((ask) => frame(ask, locator([NO_HASH])))),
        ),
    ],
    [
      'small messages',
      () =>
        times(10_000, () => Buffer.concat([frame('ping', Buffer.alloc(8, 1)), frame('x', Buffer.alloc(0))])),
    ],
    [
      'all but the last byte of a message',
      () => frame('inv', Buffer.alloc(4_000_000)).subarray(0, -1),
      { once: true },
    ],
    [
      'large messages that mean nothing',
      () => Buffer.concat([frame('x', Buffer.alloc(4_000_000)), frame('block', Buffer.alloc(1_000_000))]),
    ],
    [
      'transactions without parents',
      () => Buffer.concat([times(1000, () => orphan(0)), times(10, () => orphan(90_000))]),
    ],
    [
      'addresses',
      (peer) => frame('addr', addresses(manyAddresses(peer * 1000, 1000, Math.floor(Date.now() / 1000)))),
    ],
    ['the largest filters', () => frame('filterload', filterload(Buffer.alloc(36_000, 1), 50))],
    ['known headers', async () => frame('headers', headers(mineHeaders(await placeAt(node, 0), 200)))],
  ];

  it.each(floods)('of %s', async (what, make, { reads = false, once = false } = {}) => {
    const goal = (await heightOf()) + BLOCKS;
    let isOver = false;
    let sent = 0;
    const floodsOf = await Promise.all(Array.from({ length: SOCKETS }, (_, i) => make(i)));
    let attacking = 0;
    const attack = async (bytes: Buffer): Promise<void> => {
      for (let times = 0; !isOver;) {
        const peer = await RawPeer.greet(node.p2pPort).catch(() => null);
        if (!peer) continue;
        if (!reads) peer.socket.pause();
        for (let round = 0; !isOver && !peer.isClosed && !peer.socket.destroyed; round++) {
          if (peer.socket.writableLength === 0 && !(once && round > 0)) {
            peer.sendBytes(bytes);
            sent += bytes.length;
            if (times++ === 0) attacking++;
          }
          peer.inbox.length = 0;
          await sleep(20);
        }
        peer.close();
      }
    };
    const start = performance.now();
    const peak = await peakWhile(node.pid, async () => {
      const attackers = floodsOf.map(attack);
      await until('all attacks', () => Promise.resolve(attacking === SOCKETS), 300_000);
      await sleep(2000);
      await honest.rpc('generatetoaddress', [BLOCKS, ADDRESS]);
      await until('the blocks of the honest peer', async () => (await heightOf()) === goal, 300_000);
      isOver = true;
      await Promise.all(attackers);
    });
    const grown = Math.round((peak - atFirst) / MIB);
    const seconds = Math.round((performance.now() - start) / 1000);
    console.log(
      `${what}: ${grown} MiB more than at first; ${Math.round(sent / MIB)} MiB sent in ${seconds} s`,
    );
    expect(peak - atFirst).toBeLessThan(BOUND);
    // Waits until the last messages of the peers were processed.
    await until('quiet', async () => (await node.rpc<number>('getconnectioncount')) <= 1, 300_000);
  });

  it('of sockets that send slowly or nothing keep no one out, and end after a minute', async () => {
    const greeting = frame('version', version());
    const sockets: RawPeer[] = [];
    for (let i = 0; i < PLACES; i++) sockets.push(await RawPeer.open(node.p2pPort));
    await until('all places taken', async () => (await peersOf(node)).length >= PLACES);
    let at = 0;
    const dripping = setInterval(() => {
      // Half of the sockets send one byte of the greeting per second, the others nothing.
      sockets.forEach((socket, i) => i % 2 === 0 && socket.sendBytes(greeting.subarray(at, at + 1)));
      at++;
    }, 1000);
    const visitor = await RawPeer.greet(node.p2pPort);
    await until(
      'the end of all who did not greet',
      async () => (await peersOf(node)).every(({ version: reported }) => reported > 0),
      180_000,
    );
    clearInterval(dripping);
    await until('the end of their connections', async () => sockets.every(({ isClosed }) => isClosed));
    expect(await visitor.settled()).toBeDefined();
    visitor.close();
  });
});

describe.runIf(CAN_TELL).each([true, false])(
  'peers without flow control, whitelisted %s',
  (isWhitelisted) => {
    let peers: UnbrakedPeers;
    beforeAll(async () => {
      const honest = await startPeer();
      await honest.rpc('generatetoaddress', [110, ADDRESS]);
      peers = await UnbrakedPeers.start(honest, { isWhitelisted });
    });
    afterAll(() => peers.stop());

    const unknownHash = Buffer.alloc(32, 7);
    const NOTHING = Buffer.alloc(0);
    const BASIC = Buffer.of(0);
    /** A request for the filters of all blocks. */
    const filterRange = (last: Buffer): Buffer => Buffer.concat([BASIC, u32(0), sha256d(last)]);
    const corrupt = (bytes: Buffer): Buffer => {
      const copy = Buffer.from(bytes);
      copy[20]! ^= 1;
      return copy;
    };
    /** One message of each command, most of them small. */
    const small = (tip: { header: Buffer }): [string, Buffer][] => [
      ['version', frame('version', version())],
      ['verack', frame('verack', NOTHING)],
      ['addr', frame('addr', addresses(manyAddresses(1, 2, Math.floor(Date.now() / 1000))))],
      ['inv', frame('inv', one(INV_TX, unknownHash))],
      ['getdata', frame('getdata', one(INV_TX, unknownHash))],
      ['merkleblock', frame('merkleblock', Buffer.alloc(120))],
      ['getblocks', frame('getblocks', locator([NO_HASH]))],
      ['getheaders', frame('getheaders', locator([NO_HASH]))],
      ['tx', frame('tx', Buffer.alloc(60, 1))],
      ['headers', frame('headers', headers([tip.header]))],
      ['block', frame('block', Buffer.concat([tip.header, Buffer.of(0)]))],
      ['getaddr', frame('getaddr', NOTHING)],
      ['mempool', frame('mempool', NOTHING)],
      ['ping', frame('ping', Buffer.alloc(8, 1))],
      ['pong', frame('pong', Buffer.alloc(8, 1))],
      ['notfound', frame('notfound', one(INV_TX, unknownHash))],
      ['filterload', frame('filterload', filterload(Buffer.alloc(10_000, 1), 50))],
      ['filteradd', frame('filteradd', withLength(Buffer.alloc(32, 1)))],
      ['filterclear', frame('filterclear', NOTHING)],
      ['reject', frame('reject', Buffer.concat([text('tx'), Buffer.of(0x10), text('bad'), unknownHash]))],
      ['sendheaders', frame('sendheaders', NOTHING)],
      ['feefilter', frame('feefilter', u64(1000n))],
      ['sendcmpct', frame('sendcmpct', sendcmpct(false, 2))],
      ['cmpctblock', frame('cmpctblock', cmpctblock(tip.header, 1n, [Buffer.alloc(6, 1)], []))],
      ['getblocktxn', frame('getblocktxn', getblocktxn(unknownHash, [0]))],
      ['blocktxn', frame('blocktxn', blocktxn(unknownHash, []))],
      ['getcfilters', frame('getcfilters', filterRange(tip.header))],
      ['cfilter', frame('cfilter', Buffer.concat([BASIC, unknownHash, withLength(NOTHING)]))],
      ['getcfheaders', frame('getcfheaders', filterRange(tip.header))],
      ['cfheaders', frame('cfheaders', Buffer.concat([BASIC, unknownHash, unknownHash, count(0)]))],
      ['getcfcheckpt', frame('getcfcheckpt', Buffer.concat([BASIC, sha256d(tip.header)]))],
      ['cfcheckpt', frame('cfcheckpt', Buffer.concat([BASIC, unknownHash, count(0)]))],
      ['unknown ones', frame('nonsense', NOTHING)],
      ['long unknown ones', frame('nonsense', Buffer.alloc(1_000_000))],
      ['ones with a wrong checksum', corrupt(frame('ping', Buffer.alloc(8, 1)))],
      ['ones that cannot be parsed', frame('inv', count(50_000))],
    ];
    const names = small({ header: Buffer.alloc(112) }).map(([name]) => name);

    it('are tried with every command', () => {
      expect(names).toEqual(expect.arrayContaining(Object.keys(MESSAGES)));
    });

    // Peers that are not whitelisted are disconnected for most messages and reconnect, which takes long. Without LBCNODE_FULL,
    // only a tenth of the messages is tested with them.
    const chosen = names.filter((_, n) => isWhitelisted || full || n % 10 === 0);
    it.each(chosen)('do not delay others with messages: %s', (name) =>
      peers.expectToStand(name, async () => {
        const { node } = peers;
        const tip = await node.rpc<string>('getbestblockhash');
        const header = Buffer.from(await node.rpc<string>('getblockheader', [tip, false]), 'hex');
        return small({ header }).find(([known]) => known === name)![1];
      }),
    );
  },
);
