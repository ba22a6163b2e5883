/** Short chains across the forks of claims, with busy blocks around each fork, against the naive model. */
import assert from 'node:assert/strict';
import { ClaimStore, type ClaimRules } from '../../src/store/claims/claimStore.js';
import { toHex } from '../../src/util/bytes.js';
import { ClaimLife, randomOf } from './claimLife.js';
import { ClaimModel } from './claimModel.js';
import { MemoryRows } from './memoryRows.js';

/** One to three letters: prefixes of each other, upper case, composed and decomposed. */
const NAMES = [
  ...['a', 'A', 'ab', 'aB', 'Ab', 'abc', 'aBc', 'abC', 'ABC', 'b', 'B', 'ba', 'bA', 'bac', 'bAc', 'Bac'],
  ...['\u00e9', 'e\u0301', '\u00c9', 'E\u0301', 'a\u00e9', 'ae\u0301', 'aE\u0301', '\u00e9b', 'e\u0301B'],
].map((name) => Buffer.from(name));

/** Rules whose forks stand near one another, or in one block, after some blocks; and the busy blocks. */
function drawRules(random: (count: number) => number): { rules: ClaimRules; from: number; last: number } {
  // After 32 blocks of ownership new claims of a name wait.
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
    const wanted = model.connect(block);
    const work = rows.begin();
    const { root } = await this.store.connect(work, block);
    work.commit();
    assert.equal(`${height} ${toHex(root)}`, `${height} ${wanted}`);
    const { normalizationForkHeight, extendedExpirationForkHeight, allClaimsForkHeight } = rules;
    const forks = [normalizationForkHeight, extendedExpirationForkHeight, allClaimsForkHeight - 1];
    if (forks.includes(height)) this.forkBlocks++;
  }

  async disconnect(blocks: number): Promise<void> {
    for (let left = blocks; left > 0; left--) {
      const work = this.rows.begin();
      const { root } = await this.store.disconnect(work, this.model.tip.height);
      work.commit();
      this.model.disconnect();
      this.life.disconnect();
      assert.equal(`back ${toHex(root)}`, `back ${this.model.tip.root}`);
    }
  }
}

/** Lives chains until `forkBlocks` blocks of forks were connected, each with its own rules; none may read a row late. */
export async function crossForks(firstSeed: number, forkBlocks: number): Promise<{ chains: number }> {
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
        await run.connect(isBusy ? 6 : 0);
        if (height > from && random(5) === 0) await run.disconnect(1 + random(Math.min(5, height - 2)));
      }
      assert.equal(run.late, 0, 'a row was read late');
    } catch (error) {
      throw new Error(`chain of seed ${seed}: ${String(error)}`, { cause: error });
    }
    crossed += run.forkBlocks;
  }
  return { chains };
}
