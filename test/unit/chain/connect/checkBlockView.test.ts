/** Tests of the table only. test/differential checks that the verdicts equal those of the readable rules. */
import { describe, expect, it } from 'vitest';
import {
  checkBlockView,
  contextualCheckBlockView,
  transactionAt,
} from '../../../../src/chain/connect/checkBlockView.js';
import { loadBlock } from '../../../../src/chain/blocks/loadedBlock.js';
import { parseBlockBytes } from '../../../../src/primitives/block.js';
import { Random, randomBlock } from '../../../differential/support.js';
import { CONTEXT, DEFECTS, draft, HEIGHT, seal } from '../../../fuzz/support/blockDefects.js';

const RULES = {
  height: HEIGHT,
  bip34Height: 1,
  segwitActive: true,
  lockTimeCutoffSec: CONTEXT.parentMedianTimeSec,
};

describe('a block over its table', () => {
  it('returns each transaction as an object, with its witness', () => {
    const bytes = randomBlock(new Random(680), 12);
    const { raw, parsed } = loadBlock(bytes);
    const transactions = parseBlockBytes(bytes).transactions;
    for (const [i, tx] of transactions.entries()) expect(transactionAt(raw, parsed, i)).toEqual(tx);
  });

  it('is accepted if valid, and its bytes are not changed', () => {
    const bytes = seal(draft(new Random(681)));
    const before = Buffer.from(bytes);
    const block = loadBlock(bytes);
    expect(checkBlockView(block)).toBeNull();
    expect(contextualCheckBlockView(block, RULES)).toBeNull();
    expect(bytes.equals(before)).toBe(true);
  });

  it('names the transaction that failed', () => {
    const random = new Random(682);
    const d = draft(random);
    DEFECTS.find(({ name }) => name === 'a negative output')!.apply(d, random);
    const block = loadBlock(seal(d));
    const id = Buffer.from(block.parsed.txids.subarray(-32)).reverse().toString('hex');
    expect(checkBlockView(block)).toMatchObject({
      reason: 'bad-txns-vout-negative',
      debug: `Transaction check failed (tx hash ${id}) `,
    });
  });

  it('does not check the height of the coinbase below BIP34, and the commitment before segwit', () => {
    const random = new Random(683);
    const d = draft(random);
    DEFECTS.find(({ name }) => name === 'the height of another block')!.apply(d, random);
    const block = loadBlock(seal(d));
    expect(contextualCheckBlockView(block, RULES)?.reason).toBe('bad-cb-height');
    expect(contextualCheckBlockView(block, { ...RULES, bip34Height: HEIGHT + 1 })).toBeNull();
    expect(
      contextualCheckBlockView(block, { ...RULES, bip34Height: HEIGHT + 1, segwitActive: false })?.reason,
    ).toBe('unexpected-witness');
  });
});
