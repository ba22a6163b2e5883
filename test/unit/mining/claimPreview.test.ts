import { describe, expect, it } from 'vitest';
import type { ClaimRules, ClaimTx } from '../../../src/claimtrie/types.js';
import { ClaimPreview } from '../../../src/mining/claimPreview.js';
import { ClaimStore } from '../../../src/store/claims/claimStore.js';
import { toHex } from '../../../src/util/bytes.js';
import { SMALL_RULES } from '../../support/claimComparison.js';
import { ClaimLife, LIFE_NAMES, randomOf } from '../../support/claimLife.js';
import { MemoryRows } from '../../support/memoryRows.js';
import { IS_LONG } from '../../support/long.js';

const PLAIN_NAMES = LIFE_NAMES.filter((name) => /^[a-zA-Z]*$/.test(name.toString()));

/** A store that counts how often a whole block is computed. */
class CountingStore extends ClaimStore {
  whole = 0;

  override connect(...args: Parameters<ClaimStore['connect']>): ReturnType<ClaimStore['connect']> {
    this.whole++;
    return super.connect(...args);
  }
}

/**
 * Connects random blocks. Before each block, requests the claim roots of growing and shrinking prefixes of its transactions.
 * Returns the number of requested roots above the forks, and for how many of them the whole block was computed.
 */
async function compare(
  seed: number,
  rules: ClaimRules,
  names: readonly Buffer[],
  blocks: number,
): Promise<{ asked: number; whole: number }> {
  const rows = new MemoryRows();
  const scratch = { begin: () => rows.begin(), discard: () => Promise.resolve() };
  const store = new CountingStore({ rules, proofWindow: 10 });
  const life = new ClaimLife(seed, names);
  const random = randomOf(seed + 1);
  const rootOf = async (height: number, transactions: ClaimTx[]): Promise<string> =>
    toHex(
      (await new ClaimStore({ rules, proofWindow: 10 }).connect(rows.begin(), { height, transactions })).root,
    );
  const forks = Math.max(rules.normalizationForkHeight, rules.allClaimsForkHeight);
  const figures = { asked: 0, whole: 0 };
  for (let height = 1; height <= blocks; height++) {
    const block = life.block(height, 8);
    const { transactions } = block;
    const preview = new ClaimPreview(scratch, store, height);
    const before = height % 30 === 0 ? rows.dump() : null;
    store.whole = 0;
    const all = transactions.length;
    const lengths = [0, random(all + 1), all, random(all + 1)];
    if (IS_LONG) lengths.push(all, random(all + 1));
    const roots = new Map<number, string>();
    for (const length of lengths) {
      const some = transactions.slice(0, length);
      if (!roots.has(length)) roots.set(length, await rootOf(height, some));
      expect(toHex(await preview.root(some)), `height ${height}, ${length} of ${all}`).toBe(
        roots.get(length),
      );
      if (height > forks) figures.asked++;
    }
    if (height > forks) figures.whole += store.whole;
    if (before) expect(rows.dump()).toEqual(before);
    const own = rows.begin();
    await store.connect(own, block);
    own.commit();
  }
  return figures;
}

/** Names of rules of `SMALL_RULES`. The fast tests use only these. */
const FEW = ['forks as on regtest', 'forks from the start'];

describe('the claim root of a block to come', () => {
  for (const [title, rules] of Object.entries(SMALL_RULES)) {
    it.runIf(IS_LONG || FEW.includes(title))(`equals that after connecting it: ${title}`, async () => {
      await compare(7, rules, LIFE_NAMES, 270);
    });
  }

  it('is mostly computed name by name after the forks', async () => {
    const { asked, whole } = await compare(11, SMALL_RULES['forks from the start']!, PLAIN_NAMES, 300);
    expect(asked).toBeGreaterThan(1000);
    expect(whole / asked).toBeLessThan(0.25);
  });
});
