/** Random valid messages of every kind, as seeds for mutations. */
import { loadBlock, type LoadedBlock } from '../../../src/chain/blocks/loadedBlock.js';
import { buildCompactBlock } from '../../../src/net/compact/compactBlock.js';
import type { InventoryMessage } from '../../../src/net/inventory.js';
import { buildMerkleBlock } from '../../../src/net/merkleBlock.js';
import { formatPayload, type MessageCodec } from '../../../src/net/messages/codec.js';
import type { LocatorMessage } from '../../../src/net/messages/getblocks.js';
import { MESSAGES, type Command, type Payload } from '../../../src/net/messages/table.js';
import { internalAddress, parseNetAddress, type NetAddress } from '../../../src/net/netAddress.js';
import { txBytes } from '../../../src/primitives/blockView.js';
import { atOnce, type Slices } from '../../../src/util/slices.js';
import { Random, randomBlock } from '../../differential/support.js';

export interface SentMessage {
  readonly command: Command;
  readonly payload: Buffer;
}

const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));

/** A few blocks that all messages share, because generating a block takes longer than a hundred messages. */
const BLOCKS: readonly LoadedBlock[] = many(24, (i) => {
  const { raw, parsed } = loadBlock(randomBlock(new Random(i + 1), 1 + (i % 7)));
  parsed.merkleRoot.copy(raw, 36);
  return loadBlock(raw);
});

export function anyBlock(random: Random): LoadedBlock {
  return random.pick(BLOCKS);
}

function rawTx(random: Random): Buffer {
  const { raw, parsed } = anyBlock(random);
  return txBytes(raw, parsed, random.below(parsed.txCount));
}

const u64 = (random: Random): bigint =>
  random.pick([0n, 1n, 0xffffffffffffffffn, (BigInt(random.u32()) << 32n) | BigInt(random.u32())]);

function address(random: Random): NetAddress {
  const kinds: (() => NetAddress)[] = [
    () => parseNetAddress(many(4, () => random.below(256)).join('.'), random.below(65_536))!,
    () => ({ ip: random.bytes(16), port: random.below(65_536) }),
    () => ({ ip: Buffer.concat([Buffer.from('fd87d87eeb43', 'hex'), random.bytes(10)]), port: 1 }),
    () => internalAddress(String(random.u32())),
    () => ({ ip: Buffer.alloc(16), port: 0 }),
    () => ({ ip: Buffer.concat([random.pick(PREFIXES), random.bytes(16)]).subarray(0, 16), port: 9246 }),
  ];
  return random.pick(kinds)();
}

/** Prefixes of addresses that the node handles separately. */
const PREFIXES = ['2002', '20010000', '20010db8', '20010470', '2001001', 'fe80', '0064ff9b', 'fc', '00'].map(
  (hex) => Buffer.from(hex.padEnd(16, '0').slice(0, hex.length + (hex.length % 2)), 'hex'),
);

const inventory = (random: Random): InventoryMessage => ({
  items: many(random.below(20), () => ({
    type: random.pick([1, 2, 3, 4, 0x40000001, 0x40000002, random.u32()]),
    hash: random.bytes(32),
  })),
});

const locator = (random: Random): LocatorMessage => ({
  version: random.u32() | 0,
  locator: many(random.below(random.chance(10) ? 103 : 12), () => random.bytes(32)),
  stopHash: random.bytes(32),
});

const text = (random: Random, limit: number): string =>
  random.bytes(random.below(limit + 1)).toString('latin1');

function reject(random: Random): Payload<'reject'> {
  const message = random.pick(['tx', 'block', 'version', text(random, 12)]);
  const hash = message === 'tx' || message === 'block' ? random.bytes(32) : null;
  return { message, code: random.below(256), reason: text(random, 111), hash };
}

function filterRange(random: Random): Payload<'getcfilters'> {
  return { filterType: random.below(256), startHeight: random.u32(), stopHash: random.bytes(32) };
}

function ascending(random: Random, count: number): number[] {
  let next = 0;
  return many(count, () => (next += 1 + random.below(random.chance(9) ? 3000 : 3)) - 1);
}

/** The generator of each message. The type requires every command. */
const MAKERS: { readonly [C in Command]: (random: Random) => Payload<C> } = {
  version: (random) => ({
    version: random.pick([70015, 300, random.u32() | 0]),
    services: u64(random),
    timeSec: BigInt.asIntN(64, u64(random)),
    receiver: address(random),
    receiverServices: u64(random),
    sender: address(random),
    senderServices: u64(random),
    nonce: u64(random),
    userAgent: text(random, random.chance(2) ? 256 : 20),
    startHeight: random.u32() | 0,
    relay: random.chance(2),
  }),
  verack: () => null,
  getaddr: () => null,
  mempool: () => null,
  sendheaders: () => null,
  filterclear: () => null,
  ping: (random) => ({ nonce: random.chance(9) ? null : u64(random) }),
  pong: (random) => ({ nonce: random.chance(9) ? null : u64(random) }),
  addr: (random) => ({
    addresses: many(random.below(30), () => ({
      timeSec: random.u32(),
      services: u64(random),
      address: address(random),
    })),
  }),
  inv: inventory,
  getdata: inventory,
  notfound: inventory,
  getblocks: locator,
  getheaders: locator,
  headers: (random) => ({ headers: many(random.below(10), () => random.bytes(112)) }),
  block: (random) => ({ raw: anyBlock(random).raw }),
  tx: (random) => ({ raw: rawTx(random) }),
  feefilter: (random) => ({ feeRatePerKb: BigInt.asIntN(64, u64(random)) }),
  sendcmpct: (random) => ({ announce: random.chance(2), version: u64(random) }),
  cmpctblock: (random) => buildCompactBlock(anyBlock(random), u64(random), random.chance(2)),
  getblocktxn: (random) => ({ blockHash: random.bytes(32), indexes: ascending(random, random.below(20)) }),
  blocktxn: (random) => ({ blockHash: random.bytes(32), txs: many(random.below(6), () => rawTx(random)) }),
  getcfilters: filterRange,
  getcfheaders: filterRange,
  getcfcheckpt: (random) => ({ filterType: random.below(256), stopHash: random.bytes(32) }),
  cfilter: (random) => ({
    filterType: random.below(256),
    blockHash: random.bytes(32),
    filter: random.bytes(random.below(300)),
  }),
  cfheaders: (random) => ({
    filterType: random.below(256),
    stopHash: random.bytes(32),
    previousHeader: random.bytes(32),
    filterHashes: many(random.below(9), () => random.bytes(32)),
  }),
  cfcheckpt: (random) => ({
    filterType: random.below(256),
    stopHash: random.bytes(32),
    filterHeaders: many(random.below(9), () => random.bytes(32)),
  }),
  filterload: (random) => ({
    data: random.bytes(random.below(random.chance(5) ? 2000 : 40)),
    hashFunctions: random.chance(9) ? random.u32() : random.below(60),
    tweak: random.u32(),
    flags: random.below(256),
  }),
  filteradd: (random) => ({ data: random.bytes(random.below(random.chance(9) ? 21_000 : 60)) }),
  merkleblock: (random) => {
    const isMatch = function* (): Slices<boolean> {
      yield;
      return random.chance(2);
    };
    return atOnce(buildMerkleBlock(anyBlock(random), isMatch)).message;
  },
  reject,
};

const COMMANDS = Object.keys(MAKERS) as Command[];

export function randomMessage(random: Random): SentMessage {
  const command = random.pick(COMMANDS);
  const codec = MESSAGES[command] as MessageCodec<unknown>;
  return { command, payload: Buffer.from(formatPayload(codec, MAKERS[command](random))) };
}
