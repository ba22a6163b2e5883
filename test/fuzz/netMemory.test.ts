/** Expensive messages: counts of items that are missing, and payloads with as many items as possible. */
import { describe, expect, it } from 'vitest';
import { provedTransactions } from '../../src/consensus/partialMerkleTree.js';
import { PartialBlock } from '../../src/net/compact/compactBlock.js';
import {
  formatPayload,
  MAX_PAYLOAD_BYTES,
  parsePayload,
  type MessageCodec,
} from '../../src/net/messages/codec.js';
import { MESSAGES, type Command, type Payload } from '../../src/net/messages/table.js';
import { ReadError } from '../../src/util/reader.js';
import { Writer } from '../../src/util/writer.js';
import { memoryOf } from '../support/memory.js';

const MIB = 1 << 20;
/** Size of garbage that was not collected yet. */
const NOISE_BYTES = 32 * MIB;

const codecOf = (command: Command): MessageCodec<unknown> => MESSAGES[command] as MessageCodec<unknown>;

/** Number of bytes before the first count of a message. */
const HEADS: readonly (readonly [Command, number])[] = [
  ['addr', 0],
  ['inv', 0],
  ['getdata', 0],
  ['notfound', 0],
  ['getblocks', 4],
  ['getheaders', 4],
  ['merkleblock', 116],
  ['cmpctblock', 120],
  ['getblocktxn', 32],
  ['blocktxn', 32],
  ['filterload', 0],
  ['filteradd', 0],
  ['reject', 0],
  ['version', 80],
];

describe('counts that exceed the data', () => {
  it.each(HEADS)('of %s are refused at once', async (command, head) => {
    const codec = codecOf(command);
    const use = await memoryOf(() => {
      for (const count of ['fe00000002', 'fe01000002', 'feffffffff', 'ffffffffffffffffff']) {
        const payload = Buffer.concat([Buffer.alloc(head), Buffer.from(count, 'hex'), Buffer.alloc(50)]);
        for (let i = 0; i < 100; i++) expect(() => parsePayload(codec, payload)).toThrow(ReadError);
      }
    });
    expect(use.peakBytes).toBeLessThan(NOISE_BYTES);
  });
});

/** A payload of maximum length: `head` bytes, a count, and this number of copies of `unit`. */
function dense(head: number, unit: Buffer, most = Infinity): Buffer {
  const count = Math.min(most, Math.floor((MAX_PAYLOAD_BYTES - head - 40) / unit.length));
  const body = Buffer.alloc(count * unit.length, unit);
  return Buffer.concat([
    Buffer.alloc(head, 1),
    new Writer().compactSize(count).raw(body).finish(),
    Buffer.alloc(32),
  ]);
}

const NULL_TX = Buffer.from('01000000000000000000', 'hex');
const prefilled = Buffer.concat([Buffer.of(0), NULL_TX]);

describe('payloads with as many items as possible', () => {
  it.each<[Command, Buffer]>([
    ['inv', dense(0, Buffer.alloc(36, 7))],
    ['addr', dense(0, Buffer.alloc(30, 7))],
    ['getheaders', dense(4, Buffer.alloc(32, 7))],
    ['headers', dense(0, Buffer.alloc(113), 2000)],
    ['blocktxn', dense(32, NULL_TX)],
    ['cmpctblock', dense(121, prefilled, 65_535)],
    ['getblocktxn', dense(32, Buffer.of(0), 65_536)],
    ['merkleblock', dense(116, Buffer.alloc(32, 7))],
    ['filteradd', dense(0, Buffer.of(0))],
    ['block', dense(0, Buffer.of(0))],
  ])('of %s are read within bounds', async (command, payload) => {
    if (command === 'cmpctblock') payload[120] = 0;
    const codec = codecOf(command);
    parsePayload(codec, payload);
    const use = await memoryOf(() => {
      const value = parsePayload(codec, payload);
      expect(formatPayload(codec, value).length).toBeLessThanOrEqual(payload.length);
      if (command === 'merkleblock') provedTransactions((value as Payload<'merkleblock'>).tree);
      if (command === 'cmpctblock') PartialBlock.begin(value as Payload<'cmpctblock'>);
    });
    console.log(`4 MB of ${command}: peak ${Math.round(use.peakBytes / MIB)} MiB`);
    expect(use.peakBytes).toBeLessThan(160 * MIB);
    expect(use.keptBytes).toBeLessThan(NOISE_BYTES);
  });
});
