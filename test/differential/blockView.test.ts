import { describe, expect, it } from 'vitest';
import type { ParsedBlock } from '../../src/native/binding.js';
import { TX_EMPTY_MARKER, TX_FLAGS } from '../../src/primitives/blockLayout.js';
import { parseBlockFallback, parseTxFallback, scanTxFallback } from '../../src/primitives/blockScan.js';
import { formatTransaction } from '../../src/primitives/transaction.js';
import { ReadError } from '../../src/util/reader.js';
import {
  Random,
  addon,
  mutate,
  native,
  randomBlock,
  randomOutPoint,
  randomTx,
  recordedBlocks,
} from './support.js';

/** The table that the parser returns, or the text of its error. */
function outcome(parse: (bytes: Buffer) => ParsedBlock, bytes: Buffer): ParsedBlock | string {
  try {
    return parse(bytes);
  } catch (error) {
    expect(error).toBeInstanceOf(Error);
    expect(['Error', 'ReadError']).toContain((error as Error).name);
    return (error as Error).message;
  }
}

/** The tables without the memory that holds them. The fallback lacks this memory. */
function tablesOf({ packed, ...tables }: ParsedBlock): ParsedBlock {
  expect(packed).toBeInstanceOf(Buffer);
  return tables;
}

function compareBlock(bytes: Buffer): ParsedBlock | string {
  const fallback = outcome(parseBlockFallback, bytes);
  expect(outcome((b) => tablesOf(addon().parseBlock(b)), bytes)).toEqual(fallback);
  return fallback;
}

function compareTx(bytes: Buffer): ParsedBlock | string {
  const fallback = outcome(parseTxFallback, bytes);
  expect(outcome((b) => tablesOf(addon().parseTx(b)), bytes)).toEqual(fallback);
  const ids = [Buffer.alloc(64), Buffer.alloc(64)] as const;
  const length = scanTxFallback(bytes, ids[0]);
  expect([addon().scanTx(bytes, ids[1]), ids[1]]).toEqual([length, ids[0]]);
  if (typeof fallback === 'string') expect([length, ids[0]]).toEqual([0, Buffer.alloc(64)]);
  else
    expect([length, ids[0]]).toEqual([
      fallback.consumedBytes,
      Buffer.concat([fallback.txids, fallback.wtxids]),
    ]);
  return fallback;
}

describe.skipIf(!native)('native block parser against the fallback', () => {
  it('parses random blocks alike', () => {
    const random = new Random(10);
    for (let i = 0; i < 60; i++) {
      const parsed = compareBlock(randomBlock(random, 1 + random.below(25)));
      expect(typeof parsed).toBe('object');
    }
  });

  it('treats corrupt blocks alike, accepted or refused', () => {
    const random = new Random(11);
    let refused = 0;
    let accepted = 0;
    for (let i = 0; i < 3000; i++) {
      const block = randomBlock(random, 1 + random.below(4));
      if (typeof compareBlock(mutate(random, block)) === 'string') refused++;
      else accepted++;
    }
    expect(refused).toBeGreaterThan(500);
    expect(accepted).toBeGreaterThan(500);
  });

  it('treats corrupt transactions alike', () => {
    const random = new Random(12);
    for (let i = 0; i < 3000; i++) {
      const tx = randomTx(random, {
        inputs: Array.from({ length: random.below(3) }, () => randomOutPoint(random)),
        outputs: random.below(3),
        witness: random.chance(2),
      });
      const bytes = formatTransaction(tx);
      compareTx(bytes);
      compareTx(mutate(random, bytes));
      // The first bytes contain the marker and the first count, so they are mutated more often.
      const head = Buffer.from(bytes);
      head[4 + random.below(3)] = random.pick([0, 1, 2, 3, 0xfd]);
      compareTx(head);
    }
  });

  it('rejects every prefix of a block like the fallback', () => {
    const block = randomBlock(new Random(13), 3);
    for (let end = 0; end < block.length; end++) {
      expect(typeof compareBlock(block.subarray(0, end))).toBe('string');
    }
  });

  it('interprets an empty witness marker like the fallback', () => {
    const random = new Random(14);
    const tx = randomTx(random, { inputs: [randomOutPoint(random)], outputs: 1, witness: false });
    const plain = formatTransaction(tx);
    const marked = Buffer.concat([
      plain.subarray(0, 4),
      Buffer.of(0, 1),
      plain.subarray(4, plain.length - 4),
      Buffer.of(0),
      plain.subarray(plain.length - 4),
    ]);
    const parsed = compareTx(marked) as ParsedBlock;
    expect(parsed.txs[TX_FLAGS]! & TX_EMPTY_MARKER).toBe(TX_EMPTY_MARKER);
    expect(parsed.sizeBytes).toBe(plain.length);
    expect(parsed.consumedBytes).toBe(marked.length);
    expect(parsed.txids.equals((compareTx(plain) as ParsedBlock).txids)).toBe(true);
  });

  it('throws only errors that the caller can convert to ReadError', () => {
    expect(() => addon().parseBlock(Buffer.alloc(0))).toThrow(Error);
    expect(() => addon().parseBlock(Buffer.alloc(0))).not.toThrow(ReadError);
    expect(() => addon().parseBlock('' as unknown as Buffer)).toThrow(TypeError);
  });
});

const recorded = native ? recordedBlocks() : [];

describe.skipIf(recorded.length === 0)(
  'native block parser on recorded blocks (skipped without them)',
  () => {
    it('agrees with the fallback and with the header', () => {
      for (const block of recorded.filter((_, i) => i % 7 === 0)) {
        const parsed = compareBlock(block) as ParsedBlock;
        expect(parsed.merkleRoot.equals(block.subarray(36, 68))).toBe(true);
        expect(parsed.sizeBytes).toBe(block.length);
        expect(parsed.mutated).toBe(false);
      }
    });
  },
);
