/** Compares the names that lbcd lists for a block with a schedule that is computed forwards over a random run, as in lbcd. */
import { expect, it } from 'vitest';
import { ClaimStore, type ClaimRules } from '../../../../../src/store/claims/claimStore.js';
import { readLbcdChanges } from '../../../../../src/store/claims/lbcd/lbcdSchedule.js';
import { toLatin1 } from '../../../../../src/util/bytes.js';
import { SMALL_RULES } from '../../../../support/claimComparison.js';
import { ClaimLife } from '../../../../support/claimLife.js';
import { ClaimModel, normalized, type ModelItem, type ModelState } from '../../../../support/claimModel.js';
import { MemoryRows } from '../../../../support/memoryRows.js';

const BLOCKS = 280;
/** Few names, so that each has many items. */
const NAMES = ['a', 'A', 'ab', 'X', 'Y', 'Z'].map((name) => Buffer.from(name));

/** The name of an item in the node of lbcd after a block. */
function nodeOf(rules: ClaimRules, item: ModelItem, height: number): string {
  return height < rules.normalizationForkHeight ? item.rawName : normalized(item.rawName);
}

/** The height of the next change of the items, as lbcd computes it. */
function nextUpdate(rules: ClaimRules, items: readonly ModelItem[]): number {
  const dues = items.flatMap((item) => {
    const due = item.height + rules.originalExpiration;
    const expires = due > rules.extendedExpirationForkHeight ? item.height + rules.extendedExpiration : due;
    return item.active ? [expires] : [expires, item.validAt];
  });
  return Math.min(...dues);
}

function groupByNode(rules: ClaimRules, { items, height }: ModelState): Map<string, ModelItem[]> {
  const groups = new Map<string, ModelItem[]>();
  for (const item of items) {
    const name = nodeOf(rules, item, height);
    groups.set(name, [...(groups.get(name) ?? []), item]);
  }
  return groups;
}

/** The names whose items are not what they were in the block before. */
function changedNames(rules: ClaimRules, before: ModelState, after: ModelState): Set<string> {
  const print = (item: ModelItem): string => `${item.point} ${item.active}`;
  const [old, now] = [before, after].map((state) => new Map(state.items.map((item) => [print(item), item])));
  const names = new Set<string>();
  for (const [key, item] of [...old!, ...now!])
    if (!(old!.has(key) && now!.has(key))) names.add(nodeOf(rules, item, after.height));
  return names;
}

const LIVES = ['forks as on main', 'forks as on regtest', 'forks at once'] as const;

it.each(LIVES)('equal the recorded ones, %s', async (forks) => {
  const rules = SMALL_RULES[forks]!;
  const [life, model, store, rows] = [
    new ClaimLife(4711, NAMES),
    new ClaimModel(rules),
    new ClaimStore({ rules, proofWindow: 5000 }),
    new MemoryRows(),
  ];
  const schedule = new Map<number, Set<string>>();
  const operated: Set<string>[] = [new Set()];
  for (let height = 1; height <= BLOCKS; height++) {
    const block = life.block(height, 3);
    model.connect(block);
    const work = rows.begin();
    await store.connect(work, block);
    work.commit();
    const outputs = block.transactions.flatMap((tx) => [...tx.spends, ...tx.outputs]);
    operated.push(new Set(outputs.flatMap(({ name }) => [toLatin1(name), normalized(toLatin1(name))])));
    for (const [name, items] of groupByNode(rules, model.tip)) {
      const next = nextUpdate(rules, items);
      const noted = next >= rules.normalizationForkHeight ? normalized(name) : name;
      if (!schedule.has(next)) schedule.set(next, new Set());
      schedule.get(next)!.add(noted);
    }
  }
  let more = 0;
  for (let height = 1; height <= BLOCKS; height++) {
    const reported = new Set((await readLbcdChanges(rows, rules, height)).map((name) => toLatin1(name)));
    const changed = changedNames(rules, model.states[height - 1]!, model.states[height]!);
    for (const name of reported) {
      const isKnown =
        schedule.get(height)?.has(name) === true ||
        changed.has(name) ||
        operated[height]!.has(name) ||
        height === rules.normalizationForkHeight;
      expect(isKnown, `${name} at ${height}`).toBe(true);
      if (!changed.has(name) && !operated[height]!.has(name)) more++;
    }
    for (const name of schedule.get(height) ?? []) expect(reported, `at ${height}`).toContain(name);
    for (const name of changed) expect(reported, `at ${height}`).toContain(name);
  }
  expect(more).toBeGreaterThan(3);
});
