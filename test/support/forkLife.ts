/** Short chains across the claim forks, with many operations in the blocks around each fork, compared with the naive model. */
import assert from 'node:assert/strict';
import { ClaimStore, type ClaimRules } from '../../src/store/claims/claimStore.js';
import { ClaimCorruptionError, TrieCorruptionError } from '../../src/claimtrie/corruption.js';
import { CLAIM_PREFIX, DROPPED_KEY, NOTED_KEY, SUMMARY_KEY } from '../../src/store/claims/rows/claimKeys.js';
import type { TrieTip } from '../../src/store/claims/claimStore.js';
import { prefixEnd } from '../../src/store/rows/rows.js';
import { fromHex, toHex, type Bytes } from '../../src/util/bytes.js';
import { ClaimLife, randomOf } from './claimLife.js';
import { ClaimModel } from './claimModel.js';
import { MemoryRows, type MemoryTransaction } from './memoryRows.js';

/** One to three letters: prefixes of each other, upper case, composed and decomposed. */
const NAMES = [
  ...['a', 'A', 'ab', 'aB', 'Ab', 'abc', 'aBc', 'abC', 'ABC', 'b', 'B', 'ba', 'bA', 'bac', 'bAc', 'Bac'],
  ...['\u00e9', 'e\u0301', '\u00c9', 'E\u0301', 'a\u00e9', 'ae\u0301', 'aE\u0301', '\u00e9b', 'e\u0301B'],
].map((name) => Buffer.from(name));

/** Rules whose forks have close or equal heights, and the blocks with many operations. */
function drawRules(random: (count: number) => number): { rules: ClaimRules; from: number; last: number } {
  // New claims of a name are delayed after 32 blocks of ownership.
  const from = random(3) === 0 ? 34 + random(40) : 4;
  const fork = (): number => from + 1 + random(4);
  const [normalizationForkHeight, extendedExpirationForkHeight, hashFork] = [fork(), fork(), fork()];
  const originalExpiration = random(2) === 0 ? 1 + random(8) : from - 2 + random(8);
  const rules: ClaimRules = {
    originalExpiration,
    extendedExpiration: originalExpiration + 1 + random(8),
    extendedExpirationForkHeight,
    normalizationForkHeight,
    takeoverWorkaroundMin: -1,
    takeoverWorkaroundMax: -1,
    allClaimsForkHeight: hashFork + 1,
    supportDelay: random(4) === 0 ? 100 : 'proportional',
  };
  return { rules, from, last: from + 7 };
}

class ForkLife {
  readonly rules: ClaimRules;
  readonly model: ClaimModel;
  private readonly life: ClaimLife;
  private readonly rows = new MemoryRows();
  private readonly store: ClaimStore;
  forkBlocks = 0;
  late = 0;
  /** Removed rows, and how often they were missed. */
  removed = 0;
  repairs = 0;

  constructor(seed: number, rules: ClaimRules) {
    const random = randomOf(seed);
    const names = NAMES.filter(() => random(3) === 0);
    this.rules = rules;
    this.model = new ClaimModel(rules);
    this.life = new ClaimLife(seed, names.length > 1 ? names : NAMES);
    this.store = new ClaimStore({ rules, proofWindow: 'all', onLateRead: () => this.late++ });
  }

  async connect(transactions: number): Promise<void> {
    const { rules, model, rows } = this;
    const height = model.tip.height + 1;
    const block = this.life.block(height, transactions);
    const tip = this.tip();
    const wanted = model.connect(block);
    const connect = (): Promise<Bytes> =>
      this.step(async (work) => {
        const { root } = await this.store.connect(work, block);
        if (toHex(root) !== wanted) await this.store.checkBeforeVerdict(rows, tip, block);
        return root;
      }, tip);
    const root = await connect();
    assert.equal(`${height} ${toHex(root)}`, `${height} ${wanted}`);
    const { normalizationForkHeight, extendedExpirationForkHeight, allClaimsForkHeight } = rules;
    const forks = [normalizationForkHeight, extendedExpirationForkHeight, allClaimsForkHeight - 1];
    if (forks.includes(height)) this.forkBlocks++;
  }

  private tip(): TrieTip {
    const { height, root } = this.model.tip;
    return { height, root: fromHex(root) };
  }

  /** Runs a step on the trie after `tip`, and repeats it if rows had to be rebuilt. */
  private async step(run: (work: MemoryTransaction) => Promise<Bytes>, tip: TrieTip): Promise<Bytes> {
    const once = async (): Promise<Bytes> => {
      const work = this.rows.begin();
      const root = await run(work);
      work.commit();
      return root;
    };
    try {
      return await once();
    } catch (error) {
      if (!(error instanceof ClaimCorruptionError)) throw error;
      await assert.rejects(this.store.checkTrie(this.rows, tip), TrieCorruptionError);
      this.repairs++;
      const work = this.rows.begin();
      await this.store.repair(work, tip);
      work.commit();
      return once();
    }
  }

  /** Removes one of the rows that are derived from the names. */
  async removeRow(random: (count: number) => number): Promise<void> {
    const keys: string[] = [];
    for (const prefix of [CLAIM_PREFIX.node, SUMMARY_KEY])
      for await (const [key] of this.rows.range({ gte: prefix, lt: prefixEnd(prefix) }))
        if (key !== DROPPED_KEY && key !== NOTED_KEY) keys.push(key);
    if (keys.length === 0) return;
    this.rows.rows.set(keys[random(keys.length)]!, null);
    this.removed++;
  }

  async disconnect(blocks: number): Promise<void> {
    for (let left = blocks; left > 0; left--) {
      const { height } = this.model.tip;
      const before = this.model.rootBefore();
      const root = await this.step(async (work) => {
        const { root } = await this.store.disconnect(work, height);
        if (toHex(root) !== before)
          throw new ClaimCorruptionError('the trie before the block was not restored');
        return root;
      }, this.tip());
      this.model.disconnect();
      this.life.disconnect();
      assert.equal(`back ${toHex(root)}`, `back ${this.model.tip.root}`);
    }
  }
}

export interface Crossed {
  chains: number;
  /** Removed rows, and how often one was missed and rebuilt. */
  removed: number;
  repairs: number;
}

/**
 * Runs chains, each with its own rules, until `forkBlocks` fork blocks were connected. No chain may read a row that was not
 * prefetched. With `removes`, rows of the trie are removed at random.
 */
export async function crossForks(firstSeed: number, forkBlocks: number, removes = false): Promise<Crossed> {
  let [removed, repairs] = [0, 0];
  let crossed = 0;
  let chains = 0;
  for (let seed = firstSeed; crossed < forkBlocks; seed++, chains++) {
    const random = randomOf(seed ^ 0x5bd1e995);
    const { rules, from, last } = drawRules(random);
    const run = new ForkLife(seed, rules);
    try {
      while (run.model.tip.height < last) {
        const { height } = run.model.tip;
        const isBusy = height < 3 || height >= from - 2;
        if (removes && isBusy && random(2) === 0) await run.removeRow(random);
        await run.connect(isBusy ? 6 : 0);
        if (height > from && random(5) === 0) await run.disconnect(1 + random(Math.min(5, height - 2)));
      }
      assert.equal(run.late, 0, 'a row was read late');
    } catch (error) {
      throw new Error(`chain of seed ${seed}: ${String(error)}`, { cause: error });
    }
    crossed += run.forkBlocks;
    removed += run.removed;
    repairs += run.repairs;
  }
  return { chains, removed, repairs };
}
