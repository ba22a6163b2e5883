import { describe, expect, it } from 'vitest';
import {
  FoundPayments,
  scanPayments,
  scanPaymentsFallback,
  type BlockRun,
  type SettledPayments,
} from '../../src/chain/blocks/paymentScan.js';
import { merkleRoot } from '../../src/crypto/merkle.js';
import { sha256dPair } from '../../src/crypto/hash.js';
import { parseBlockFallback } from '../../src/primitives/blockScan.js';
import { headerHash } from '../../src/primitives/header.js';
import { formatTransaction } from '../../src/primitives/transaction.js';
import { enterSlot, slotsFor, wordAt } from '../../src/util/hashSlots.js';
import { addHash } from '../../src/util/prefixFilter.js';
import {
  Random,
  addon,
  coinbaseTx,
  formatRawBlock,
  mutate,
  native,
  randomOutPoint,
  randomTx,
} from './support.js';

const MERKLE_ROOT_AT = 36;

/** A block with a valid merkle root. Most have witnesses and a commitment to them. */
function soundBlock(random: Random, txCount: number): Buffer {
  const coinbase = coinbaseTx(random);
  const others = Array.from({ length: txCount - 1 }, () =>
    randomTx(random, {
      inputs: Array.from({ length: 1 + random.below(3) }, () => randomOutPoint(random)),
      outputs: 1 + random.below(4),
      witness: random.chance(2),
    }),
  );
  const reserved = random.bytes(32);
  coinbase.inputs[0]!.witness = random.chance(6) ? [] : [reserved];
  coinbase.outputs.push({ value: 0n, script: Buffer.alloc(38 + random.below(2)) });
  const build = (): Buffer =>
    formatRawBlock(
      random,
      [coinbase, ...others].map((tx) => formatTransaction(tx)),
    );
  const root = parseBlockFallback(build()).witnessMerkleRoot;
  const commitment = Buffer.concat([Buffer.from('6a24aa21a9ed', 'hex'), sha256dPair(root, reserved)]);
  const script = coinbase.outputs.at(-1)!.script as Buffer;
  commitment.copy(script);
  const block = build();
  const { txids, txCount: count } = parseBlockFallback(block);
  const ids = Array.from({ length: count }, (_, n) => txids.subarray(32 * n, 32 * n + 32));
  merkleRoot(ids).root.copy(block, MERKLE_ROOT_AT);
  return block;
}

function runOf(random: Random, blocks: readonly Buffer[]): BlockRun {
  const places: number[] = [];
  const pieces: Buffer[] = [];
  let at = 0;
  for (const block of blocks) {
    const gap = random.bytes(random.below(9));
    pieces.push(gap, block);
    places.push(at + gap.length, at + gap.length + block.length);
    at += gap.length + block.length;
  }
  return {
    bytes: Buffer.concat(pieces),
    places: Uint32Array.from(places),
    ids: Buffer.concat(blocks.map((block) => headerHash(block.subarray(0, 112)))),
    segwitFrom: random.chance(5) ? random.below(blocks.length + 1) : 0,
  };
}

interface Sought {
  scripts: Uint32Array;
  txids: Uint32Array;
  settled: SettledPayments | null;
}

/** Entries for some transactions of the blocks as settled: many are correct, others have another block, position or kind. */
function someSettled(random: Random, run: BlockRun): SettledPayments | null {
  if (random.chance(3)) return null;
  const rows: { id: Buffer; block: number; place: number }[] = [];
  for (let block = 0; block < run.places.length / 2; block++) {
    const { txids, txCount } = parseBlockFallback(
      run.bytes.subarray(run.places[2 * block], run.places[2 * block + 1]),
    );
    for (let place = 0; place < txCount; place++)
      if (!random.chance(3)) rows.push({ id: txids.subarray(32 * place, 32 * place + 32), block, place });
  }
  const ids = Buffer.concat(rows.map(({ id }) => id));
  const idSlots = slotsFor(rows.length);
  rows.forEach((_, n) => enterSlot(idSlots, wordAt(ids, 32 * n), n));
  return {
    ids,
    idSlots,
    blocks: Buffer.from(run.ids),
    blockOf: Uint32Array.from(rows, ({ block }) =>
      random.chance(6) ? random.below(run.ids.length / 32 + 1) : block,
    ),
    places: Int32Array.from(rows, ({ place }) => (random.chance(6) ? random.below(4) - 1 : place)),
    kinds: Uint8Array.from(rows, () => random.below(3)),
  };
}

/** Filter words that contain some of the scripts and transactions of the blocks. */
function someSought(random: Random, run: BlockRun): Sought {
  const scripts = new Uint32Array(2048);
  const txids = new Uint32Array(1024);
  for (let n = 0; n < 60; n++) {
    const at = random.below(run.bytes.length - 32);
    addHash(random.chance(2) ? scripts : txids, run.bytes, at);
  }
  // Sets random bits, so that the filter matches many other hashes too.
  if (random.chance(3)) for (let n = 0; n < scripts.length; n++) scripts[n]! |= random.u32();
  return { scripts, txids, settled: null };
}

describe.skipIf(!native)('payment scan of the addon and the fallback', () => {
  const compare = (run: BlockRun, { scripts, txids, settled }: Sought): Uint32Array => {
    const fallback = scanPaymentsFallback(run, { scripts, txids, settled });
    const { bytes, places, ids, segwitFrom } = run;
    expect(addon().scanPayments(bytes, places, ids, segwitFrom, scripts, txids, settled)).toEqual(fallback);
    return fallback;
  };

  it('finds the same outputs in valid blocks', async () => {
    const random = new Random(41);
    let looked = 0;
    let found = 0;
    let skipped = 0;
    for (let n = 0; n < 60; n++) {
      const run = runOf(
        random,
        Array.from({ length: 1 + random.below(6) }, () => soundBlock(random, 1 + random.below(12))),
      );
      const sought = someSought(random, run);
      const answer = compare(run, sought);
      looked += answer[0]!;
      found += (answer.length - 1) / 13;
      const aside = await addon().scanPaymentsAside(
        run.bytes,
        run.places,
        run.ids,
        run.segwitFrom,
        sought.scripts,
        sought.txids,
        sought.settled,
      );
      expect(aside).toEqual(answer);
      const all = { ...sought, scripts: sought.scripts.map(() => ~0) };
      const settled = someSettled(random, run);
      skipped += (compare(run, all).length - compare(run, { ...all, settled }).length) / 13;
    }
    expect(looked).toBeGreaterThan(100);
    expect(found).toBeGreaterThan(20);
    expect(skipped).toBeGreaterThan(20);
  });

  it('stops at the same corrupt block', () => {
    const random = new Random(42);
    let stopped = 0;
    for (let n = 0; n < 400; n++) {
      const blocks = Array.from({ length: 3 }, () => soundBlock(random, 1 + random.below(4)));
      const run = runOf(random, blocks);
      const at = 2 * random.below(3);
      const [start, end] = [run.places[at]!, run.places[at + 1]!];
      const corrupt = mutate(random, run.bytes.subarray(start, end));
      corrupt.copy(run.bytes, start, 0, end - start);
      const answer = compare(run, someSought(random, run));
      if (answer[0]! < 3) stopped++;
    }
    expect(stopped).toBeGreaterThan(200);
  });

  it('finds the spends of found transactions', async () => {
    const random = new Random(43);
    const hash = Buffer.alloc(20, 3);
    const script = Buffer.concat([Buffer.of(0x76, 0xa9, 20), hash, Buffer.of(0x88, 0xac)]);
    const paid = randomTx(random, { inputs: [randomOutPoint(random)], outputs: 0, witness: false });
    paid.outputs.push({ value: 1n, script });
    const paidBytes = formatTransaction(paid);
    const block = (txs: Buffer[]): Buffer => {
      const bytes = formatRawBlock(random, txs);
      parseBlockFallback(bytes).merkleRoot.copy(bytes, MERKLE_ROOT_AT);
      return bytes;
    };
    const coinbase = (): Buffer => {
      const tx = coinbaseTx(random);
      tx.inputs[0]!.witness = [];
      return formatTransaction(tx);
    };
    const first = block([coinbase(), paidBytes]);
    const txid = parseBlockFallback(first).txids.subarray(32, 64);
    const spends = randomTx(random, { inputs: [{ hash: txid, index: 0 }], outputs: 1, witness: false });
    const run = { ...runOf(random, [first, block([coinbase(), formatTransaction(spends)])]), segwitFrom: 2 };
    const sought = { scripts: new Uint32Array(2048), txids: new Uint32Array(2048), settled: null };
    addHash(sought.scripts, hash, 0);
    compare(run, sought);
    const found = await scanPayments(run, sought);
    expect(found.blockCount).toBe(2);
    const rows = Array.from({ length: found.count }, (_, n) => [found.block(n), found.index(n)]);
    expect(rows).toEqual([
      [0, 1],
      [1, 1],
    ]);
    expect(found.txBytes(0).equals(paidBytes)).toBe(true);
    expect(found).toBeInstanceOf(FoundPayments);
  });

  it('refuses invalid positions and filters', () => {
    const words = new Uint32Array(2048);
    const scan = (places: number[], ids: number, filter = words, settled?: SettledPayments): unknown =>
      addon().scanPayments(
        Buffer.alloc(100),
        Uint32Array.from(places),
        Buffer.alloc(ids),
        0,
        filter,
        words,
        settled ?? null,
      );
    expect(() => scan([0, 101], 32)).toThrow('do not fit');
    expect(() => scan([2, 1], 32)).toThrow('do not fit');
    expect(() => scan([0, 100], 31)).toThrow('do not fit');
    expect(() => scan([0, 100], 32, new Uint32Array(3))).toThrow('do not fit');
    expect(scan([0, 100], 32)).toEqual(Uint32Array.of(0));
    const settled = {
      ids: Buffer.alloc(32),
      idSlots: slotsFor(1),
      blockOf: Uint32Array.of(0),
      blocks: Buffer.alloc(32),
      places: Int32Array.of(0),
      kinds: Uint8Array.of(1),
    };
    expect(scan([0, 100], 32, words, settled)).toEqual(Uint32Array.of(0));
    expect(() => scan([0, 100], 32, words, { ...settled, ids: Buffer.alloc(31) })).toThrow('do not fit');
    expect(() => scan([0, 100], 32, words, { ...settled, idSlots: new Int32Array(3) })).toThrow('do not fit');
    expect(() => scan([0, 100], 32, words, { ...settled, kinds: new Uint8Array(2) })).toThrow('do not fit');
  });
});
