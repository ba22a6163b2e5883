import { describe, expect, it } from 'vitest';
import { loadBlock, type LoadedBlock } from '../../../../src/chain/blocks/loadedBlock.js';
import { sha256 } from '../../../../src/crypto/hash.js';
import {
  buildCompactBlock,
  PartialBlock,
  pickTransactions,
  shortIdHash,
  type Candidate,
} from '../../../../src/net/compact/compactBlock.js';
import { ShortIdTable } from '../../../../src/net/compact/shortIdTable.js';
import { sipHash } from '../../../../src/crypto/sipHash.js';
import type { CompactBlockMessage } from '../../../../src/net/messages/cmpctblock.js';
import { txidAt, wtxidAt } from '../../../../src/primitives/blockView.js';
import { formatTransaction, hasWitness, parseTransaction } from '../../../../src/primitives/transaction.js';
import { Reader } from '../../../../src/util/reader.js';
import { Random, randomBlock } from '../../../differential/support.js';

const TXS = 6;

/** A block whose header commits to its transactions. */
function makeBlock(seed: number, txCount = TXS): LoadedBlock {
  const { raw, parsed } = loadBlock(randomBlock(new Random(seed), txCount));
  parsed.merkleRoot.copy(raw, 36);
  return loadBlock(raw);
}

const block = makeBlock(1);

const txOf = (loaded: LoadedBlock, index: number): Buffer => pickTransactions(loaded, [index], true)![0]!;
const candidate = (index: number, loaded = block): Candidate => ({
  wtxid: wtxidAt(loaded.parsed, index),
  bytes: txOf(loaded, index),
});
const stranger = (fill: number): Candidate => ({
  wtxid: Buffer.alloc(32, fill),
  bytes: Buffer.alloc(10, fill),
});

function begin(message: CompactBlockMessage): PartialBlock {
  const result = PartialBlock.begin(message);
  if (result.status !== 'ok') throw new Error(result.status);
  return result.partial;
}

function bytesOf(partial: PartialBlock, missing: readonly Buffer[]): Buffer {
  const result = partial.complete(missing);
  if (result.status !== 'ok') throw new Error(result.status);
  return result.block.raw;
}

/** A compact block made by the test: positions of the prefilled transactions, and of those with short ids. */
function messageOf(
  prefilled: readonly number[],
  byShortId: readonly number[],
  nonce = 5n,
): CompactBlockMessage {
  const made = buildCompactBlock(block, nonce, true);
  const sip = shortIdHash(made.header, nonce);
  const shortIds = Buffer.concat(
    byShortId.map((index) => {
      const id = Buffer.alloc(8);
      id.writeBigUInt64LE(sip.hash(wtxidAt(block.parsed, index)));
      return id.subarray(0, 6);
    }),
  );
  return {
    header: made.header,
    nonce,
    shortIds,
    prefilled: prefilled.map((index) => ({ index, raw: txOf(block, index) })),
  };
}

describe('building a compact block', () => {
  it('computes short ids by header and nonce, of wtxids or txids', () => {
    const nonce = 0xfedcba9876543210n;
    const tail = Buffer.from('1032547698badcfe', 'hex');
    const key = sha256(Buffer.concat([block.raw.subarray(0, 112), tail])).subarray(0, 16);
    for (const [withWitness, idAt] of [
      [true, wtxidAt],
      [false, txidAt],
    ] as const) {
      const { header, shortIds, prefilled, nonce: sent } = buildCompactBlock(block, nonce, withWitness);
      expect([header.equals(block.raw.subarray(0, 112)), sent, shortIds.length]).toEqual([
        true,
        nonce,
        6 * (TXS - 1),
      ]);
      for (let i = 1; i < TXS; i++) {
        const expected = sipHash(key, idAt(block.parsed, i)) & 0xffffffffffffn;
        expect(BigInt(shortIds.readUIntLE(6 * (i - 1), 6))).toBe(expected);
      }
      expect(prefilled.map(({ index }) => index)).toEqual([0]);
    }
  });

  it('sends transactions with witness or without', () => {
    const all = Array.from({ length: TXS }, (_, i) => i);
    const whole = pickTransactions(block, all, true)!;
    const parsed = whole.map((raw) => parseTransaction(new Reader(raw)));
    expect(parsed.some(hasWitness)).toBe(true);
    expect(Buffer.concat(whole).equals(block.raw.subarray(113))).toBe(true);
    expect(pickTransactions(block, all, false)).toEqual(parsed.map((tx) => formatTransaction(tx, false)));
    expect(buildCompactBlock(block, 1n, false).prefilled[0]!.raw).toEqual(
      formatTransaction(parsed[0]!, false),
    );
  });

  it('has no transactions out of range', () => {
    expect(pickTransactions(block, [0, TXS], true)).toBeNull();
    expect(pickTransactions(block, [], true)).toEqual([]);
  });
});

// After blockencodings_tests.cpp.
describe('assembling a block', () => {
  it('uses the mempool first and requests the rest (SimpleRoundTripTest)', () => {
    const partial = begin(buildCompactBlock(block, 1n, true));
    expect(partial.missing()).toEqual([1, 2, 3, 4, 5]);
    expect(partial.fill([stranger(1), candidate(2), stranger(2), candidate(5)])).toBe(true);
    expect(partial.missing()).toEqual([1, 3, 4]);
    expect(partial.counts).toEqual({ prefilled: 1, found: 2, total: TXS });
    expect(
      bytesOf(
        partial,
        [1, 3, 4].map((i) => txOf(block, i)),
      ).equals(block.raw),
    ).toBe(true);
  });

  it('tests candidates in batches, and stops when all are found', () => {
    const partial = begin(buildCompactBlock(block, 1n, true));
    expect(partial.fill([candidate(1), candidate(2)])).toBe(true);
    let taken = 0;
    function* rest(): Generator<Candidate> {
      for (const index of [3, 4, 5, 1]) {
        taken++;
        yield candidate(index);
      }
    }
    expect(partial.fill(rest())).toBe(false);
    expect(taken).toBe(3);
    expect(partial.fill(rest())).toBe(false);
    expect(taken).toBe(3);
    expect(bytesOf(partial, []).equals(block.raw)).toBe(true);
  });

  it('accepts prefilled transactions at any position (NonCoinbasePreforwardRTTest, SufficientPreforwardRTTest)', () => {
    const middle = begin(messageOf([1, 4], [0, 2, 3, 5]));
    expect(middle.missing()).toEqual([0, 2, 3, 5]);
    middle.fill([candidate(3), candidate(0), candidate(1)]);
    expect(middle.missing()).toEqual([2, 5]);
    expect(bytesOf(middle, [txOf(block, 2), txOf(block, 5)]).equals(block.raw)).toBe(true);
    const all = begin(messageOf([0, 1, 2, 3, 4, 5], []));
    expect(all.missing()).toEqual([]);
    expect(bytesOf(all, []).equals(block.raw)).toBe(true);
  });

  it('handles a block with only a coinbase (EmptyBlockRoundTripTest)', () => {
    const small = makeBlock(9, 1);
    const partial = begin(buildCompactBlock(small, 7n, true));
    expect(partial.fill([stranger(1)])).toBe(false);
    expect(bytesOf(partial, []).equals(small.raw)).toBe(true);
  });

  it('requests a transaction with two candidates', () => {
    const partial = begin(buildCompactBlock(block, 1n, true));
    // Two ids with the same short id cannot be found in a test. So both candidates have the same wtxid, and that of the first
    // one is changed while the second one is added.
    const first = candidate(2);
    const counterpart: Candidate = { wtxid: Buffer.from(first.wtxid), bytes: Buffer.alloc(10) };
    partial.fill([first, candidate(2)]);
    expect(partial.missing()).toEqual([1, 3, 4, 5]);
    first.wtxid[0]! ^= 1;
    partial.fill([counterpart]);
    first.wtxid[0]! ^= 1;
    expect(partial.missing()).toEqual([1, 2, 3, 4, 5]);
    partial.fill([candidate(2)]);
    expect(partial.missing()).toEqual([1, 2, 3, 4, 5]);
    expect(partial.counts.found).toBe(0);
  });

  it('is invalid with too few or too many transactions', () => {
    const missing = [1, 2, 3, 4, 5].map((i) => txOf(block, i));
    for (const txs of [missing.slice(1), [...missing, txOf(block, 1)], []]) {
      expect(begin(buildCompactBlock(block, 1n, true)).complete(txs)).toEqual({ status: 'invalid' });
    }
  });

  it('fails with other transactions than those of the block', () => {
    const missing = [1, 2, 3, 4, 5].map((i) => txOf(block, i));
    const swapped = [missing[1]!, missing[0]!, ...missing.slice(2)];
    expect(begin(buildCompactBlock(block, 1n, true)).complete(swapped)).toEqual({ status: 'failed' });
    const partial = begin(buildCompactBlock(block, 1n, true));
    partial.fill([{ wtxid: wtxidAt(block.parsed, 3), bytes: txOf(block, 4) }]);
    expect(partial.complete([1, 2, 4, 5].map((i) => txOf(block, i)))).toEqual({ status: 'failed' });
  });

  it('fails if transactions are duplicated to the same merkle root (CVE-2012-2459)', () => {
    const odd = makeBlock(4, 3);
    const made = buildCompactBlock(odd, 1n, true);
    const message = {
      ...made,
      prefilled: [0, 1, 2, 3].map((i) => ({ index: i, raw: txOf(odd, Math.min(i, 2)) })),
    };
    const result = begin({ ...message, shortIds: Buffer.alloc(0) }).complete([]);
    expect(result).toEqual({ status: 'failed' });
  });

  it('fails above the size of a block, without building it', () => {
    const partial = begin(buildCompactBlock(block, 1n, true));
    const large = { wtxid: wtxidAt(block.parsed, 1), bytes: Buffer.alloc(8_000_000) };
    partial.fill([large]);
    expect(partial.complete([2, 3, 4, 5].map((i) => txOf(block, i)))).toEqual({ status: 'failed' });
  });

  it('uses a transaction with a needless witness marker like one without', () => {
    const plain = pickTransactions(block, [0, 1, 2, 3, 4, 5], false)!;
    const stripped = loadBlock(Buffer.concat([block.raw.subarray(0, 113), ...plain]));
    const raw = plain[0]!;
    const marked = Buffer.concat([
      raw.subarray(0, 4),
      Buffer.of(0, 1),
      raw.subarray(4, -4),
      Buffer.of(0),
      raw.subarray(-4),
    ]);
    const message = buildCompactBlock(stripped, 1n, true);
    const partial = begin({ ...message, prefilled: [{ index: 0, raw: marked }] });
    expect(bytesOf(partial, plain.slice(1)).equals(stripped.raw)).toBe(true);
  });

  it('is invalid if a transaction has outputs and no inputs, which cannot be stored', () => {
    const odd = Buffer.from(`01000000000100${'01'}${'00'.repeat(8)}0000000000`, 'hex');
    const message = buildCompactBlock(block, 1n, true);
    const partial = begin({ ...message, prefilled: [{ index: 0, raw: odd }], shortIds: Buffer.alloc(0) });
    expect(partial.complete([])).toEqual({ status: 'invalid' });
  });

  it('is done once', () => {
    const partial = begin(messageOf([0, 1, 2, 3, 4, 5], []));
    partial.complete([]);
    expect(() => partial.complete([])).toThrow('once');
  });
});

describe('an invalid compact block', () => {
  const good = buildCompactBlock(block, 1n, true);
  const NULL_TX = Buffer.from('01000000000000000000', 'hex');

  it.each<[string, Partial<CompactBlockMessage>]>([
    ['no difficulty', { header: Buffer.alloc(112) }],
    ['no transactions', { prefilled: [], shortIds: Buffer.alloc(0) }],
    ['a null transaction', { prefilled: [{ index: 0, raw: NULL_TX }] }],
    ['a place that nothing reaches', { prefilled: [{ index: 6, raw: txOf(block, 0) }] }],
    [
      'a place above 65,535',
      {
        prefilled: [
          { index: 65535, raw: txOf(block, 0) },
          { index: 65536, raw: txOf(block, 0) },
        ],
      },
    ],
  ])('has %s', (_name, change) => {
    expect(PartialBlock.begin({ ...good, ...change })).toEqual({ status: 'invalid' });
  });

  it('may have its last transaction prefilled', () => {
    const prefilled = [{ index: 5, raw: txOf(block, 0) }];
    expect(PartialBlock.begin({ ...good, prefilled }).status).toBe('ok');
  });

  it('fails with a duplicate short id', () => {
    const shortIds = Buffer.from(good.shortIds);
    shortIds.copy(shortIds, 6, 0, 6);
    expect(PartialBlock.begin({ ...good, shortIds })).toEqual({ status: 'failed' });
  });
});

describe('the table of short ids', () => {
  const idsOf = (ids: readonly number[]): Buffer => {
    const bytes = Buffer.alloc(ids.length * 6);
    for (const [i, id] of ids.entries()) bytes.writeUIntLE(id, i * 6, 6);
    return bytes;
  };
  const find = (table: ShortIdTable, id: number): number =>
    table.find(id % 2 ** 32, Math.floor(id / 2 ** 32));

  it('finds every id and no other', () => {
    const random = new Random(8);
    const ids = Array.from({ length: 16_000 }, () => random.bytes(6).readUIntLE(0, 6));
    const table = ShortIdTable.build(idsOf(ids))!;
    for (const [i, id] of ids.entries()) expect(find(table, id)).toBe(i);
    for (const id of ids.slice(0, 1000)) expect(find(table, id % 2 === 0 ? id + 1 : id - 1)).toBe(-1);
    expect(find(ShortIdTable.build(Buffer.alloc(0))!, 0)).toBe(-1);
  });

  it('distinguishes ids by all of their bits', () => {
    const ids = [0, 1, 2 ** 31, 2 ** 32, 2 ** 47, 2 ** 48 - 1];
    const table = ShortIdTable.build(idsOf(ids))!;
    expect(ids.map((id) => find(table, id))).toEqual([0, 1, 2, 3, 4, 5]);
    expect(find(table, 2 ** 33)).toBe(-1);
  });

  it('is refused if more than twelve ids share a bucket, as an attacker may cause', () => {
    const meeting = (count: number): number[] => Array.from({ length: count }, (_, i) => i * 2 ** 20);
    const apart = Array.from({ length: 100 }, (_, i) => i + 1);
    expect(ShortIdTable.build(idsOf([...apart, ...meeting(12)]))).not.toBeNull();
    expect(ShortIdTable.build(idsOf([...apart, ...meeting(13)]))).toBeNull();
    expect(ShortIdTable.build(idsOf(meeting(65_535)))).toBeNull();
  });
});
