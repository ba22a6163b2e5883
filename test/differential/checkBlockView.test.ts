/**
 * Compares the rules on a block's offset table with the readable rules on objects: the same verdict and text for every defect of
 * the list, for several defects at once, and for intact and mutated recorded blocks.
 */
import { describe, expect, it } from 'vitest';
import {
  checkBlockView,
  contextualCheckBlockView,
  type ContextualRules,
} from '../../src/chain/connect/checkBlockView.js';
import { loadBlock } from '../../src/chain/blocks/loadedBlock.js';
import { checkBlock } from '../../src/consensus/checkBlock.js';
import {
  contextualCheckBlock,
  lockTimeCutoffSec,
  type BlockContext,
} from '../../src/consensus/contextualCheckBlock.js';
import type { ValidationError } from '../../src/consensus/reject.js';
import { merkleRoot } from '../../src/crypto/merkle.js';
import { regtestParams } from '../../src/params/regtest.js';
import { formatBlock, parseBlockBytes } from '../../src/primitives/block.js';
import { hasWitness, txid } from '../../src/primitives/transaction.js';
import { ReadError } from '../../src/util/reader.js';
import { CONTEXT, DEFECTS, HEIGHT, draft, seal } from '../fuzz/support/blockDefects.js';
import { mutateBytes } from '../fuzz/support/mutate.js';
import { recordedChainBlocks } from '../fuzz/support/vectors.js';
import { Random } from './support.js';

/** The verdict of both implementations, which must be equal; null if the block is valid. */
function verdict(bytes: Buffer, context: BlockContext = CONTEXT, bip34Height = 1000): ValidationError | null {
  const loaded = loadBlock(bytes);
  const block = parseBlockBytes(loaded.raw);
  const expected = checkBlock(block, regtestParams, { proofOfWork: false });
  expect(checkBlockView(loaded)).toEqual(expected);
  if (expected !== null) return expected;
  const rules: ContextualRules = {
    height: context.height,
    bip34Height,
    segwitActive: context.segwitActive,
    lockTimeCutoffSec: lockTimeCutoffSec(context, loaded.header.timeSec),
  };
  const contextual = contextualCheckBlock(block, context, { bip34Height });
  expect(contextualCheckBlockView(loaded, rules)).toEqual(contextual);
  return contextual;
}

/** A block with one to three defects; null if one defect removed what the next one changes. */
function withDefects(random: Random, defects: typeof DEFECTS): Buffer | null {
  const d = draft(random);
  try {
    for (let n = 1 + random.below(3); n > 0; n--) random.pick(defects).apply(d, random);
    const bytes = seal(d);
    loadBlock(bytes);
    return bytes;
  } catch (error) {
    if (error instanceof TypeError || error instanceof ReadError) return null;
    throw error;
  }
}

describe('the rules of a block over its table and over objects', () => {
  it.each(DEFECTS.map((defect) => [defect.name, defect] as const))(
    '%s',
    (_name, { reason, apply, heavy }) => {
      for (let seed = 0; seed < (heavy ? 1 : 12); seed++) {
        const random = new Random(700 + seed);
        const d = draft(random);
        apply(d, random);
        const got = verdict(seal(d))?.reason ?? null;
        expect(got).toBe(reason);
      }
    },
  );

  it('several defects at once', () => {
    const light = DEFECTS.filter((defect) => !defect.heavy);
    const random = new Random(800);
    const reasons = new Set<string | null>();
    for (let i = 0; i < 1500; i++) {
      const context = {
        ...CONTEXT,
        height: random.chance(4) ? HEIGHT + 1 : HEIGHT,
        csvActive: !random.chance(4),
        segwitActive: !random.chance(4),
      };
      const bytes = withDefects(random, light);
      if (bytes !== null)
        reasons.add(verdict(bytes, context, random.chance(4) ? HEIGHT + 5 : 1000)?.reason ?? null);
    }
    expect(reasons.size).toBeGreaterThan(18);
  });

  it('generated blocks with corrupt bytes', () => {
    const random = new Random(801);
    const reasons = new Map<string, number>();
    for (let i = 0; i < 1500; i++) {
      const block = seal(draft(random));
      let bytes: Buffer = mutateBytes(random, block);
      // In half of the cases the merkle root is corrected, so that later rules are reached too.
      try {
        if (random.chance(2)) {
          const { header, transactions } = parseBlockBytes(bytes);
          header.merkleRoot = merkleRoot(transactions.map(txid)).root;
          bytes = formatBlock({ header, transactions });
        }
        const reason = verdict(bytes)?.reason ?? 'accepted';
        reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
      } catch (error) {
        if (!(error instanceof ReadError)) throw error;
      }
    }
    expect(reasons.get('bad-txnmrklroot')).toBeGreaterThan(50);
    expect(reasons.size).toBeGreaterThan(5);
  });
});

const recorded = [1, 2, 3, 4, 5].flatMap((chain) => recordedChainBlocks(chain, 9));

describe.skipIf(recorded.length === 0)('recorded blocks (skipped without them)', () => {
  // The height of a recorded block is not known here, so the rule for the height in the coinbase is off. Segwit is active if the
  // block has a witness.
  const contextOf = (block: Buffer): BlockContext => ({
    height: 1_000_000,
    parentMedianTimeSec: 2_000_000_000,
    csvActive: true,
    segwitActive: parseBlockBytes(block).transactions.some(hasWitness),
  });

  it('pass in both forms', () => {
    for (const block of recorded) expect(verdict(block, contextOf(block), 2_000_000)).toBeNull();
  });

  it('get the same verdict when corrupt', () => {
    const random = new Random(802);
    let verdicts = 0;
    for (const block of recorded) {
      for (let i = 0; i < 3; i++) {
        try {
          const { header, transactions } = parseBlockBytes(mutateBytes(random, block, random.pick(recorded)));
          header.merkleRoot = merkleRoot(transactions.map(txid)).root;
          verdict(formatBlock({ header, transactions }), contextOf(block), random.chance(2) ? 0 : 2_000_000);
          verdicts++;
        } catch (error) {
          if (!(error instanceof ReadError)) throw error;
        }
      }
    }
    expect(verdicts).toBeGreaterThan(200);
  });
});
