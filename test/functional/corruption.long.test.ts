/**
 * Random corruption of every kind of file. After each start, the answers must equal those of an intact copy, or the node must end
 * with one clear message whose advice leads there. By default, the same tenth of the cases runs each time; `npm run test:full`
 * runs all cases with a new seed. LBCNODE_CORRUPTION_SEED repeats a run, LBCNODE_CORRUPTION_CASE selects cases by number
 * (separated by commas).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCase, intactCopyOf, type CaseResult, type IntactCopy } from './support/corruption/case.js';
import { firstDifference, type Answer } from './support/corruption/queries.js';
import { buildFixture, type CorruptionFixture } from './support/corruption/fixture.js';

const full = process.env['LBCNODE_FULL'] === '1';
const CASES = full ? 500 : 50;
/** Time limit of all cases, only for runs that hang. A case takes about three seconds on an idle machine. */
const MOST_MS = full ? 10_800_000 : 3_600_000;
/** Nodes that run at once. */
const LANES = 2;

/** In full size scripts/test.mjs selects a random seed, so that each run has other corruptions. */
const seed = Number(process.env['LBCNODE_CORRUPTION_SEED'] ?? 221_834);
const only = process.env['LBCNODE_CORRUPTION_CASE'];
const numbers = only ? only.split(',').map(Number) : Array.from({ length: CASES }, (_, i) => i);

describe('a corrupt folder', () => {
  let fixture: CorruptionFixture;
  let work: string;
  const intactCopies = new Map<string, IntactCopy>();

  beforeAll(async () => {
    work = mkdtempSync(join(tmpdir(), 'damaged-'));
    fixture = await buildFixture();
    for (const state of fixture.states)
      intactCopies.set(state.name, await intactCopyOf(fixture, state, work));
  }, 600_000);
  afterAll(() => {
    (fixture as CorruptionFixture | undefined)?.remove();
    rmSync(work, { recursive: true, force: true });
  });

  it('has the same chain with all fallbacks, however the blocks arrived', () => {
    const [first, ...others] = [...intactCopies.values()];
    for (const other of others) expect(differences(first!, other)).toEqual([]);
    const [twice, taken] = [fixture.doubleSpends.length, fixture.next.length];
    const submitted = first!.acted.slice(0, twice + taken).map(({ text }) => text);
    expect(submitted.slice(0, twice)).toEqual(Array(twice).fill('"bad-txns-inputs-missingorspent"'));
    expect(submitted.slice(twice)).toEqual(Array(taken).fill('null'));
  });

  it(
    `ends with the same answers or with one clear message (seed ${seed})`,
    async () => {
      const results: CaseResult[] = [];
      const waiting = [...numbers];
      const lane = async (): Promise<void> => {
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
          note(results, await runCase(fixture, intactCopies, seed, next, work));
      };
      await Promise.all(Array.from({ length: LANES }, lane));
      if (results.length % 50 !== 0) console.log(summary(results));
      const failures = results.filter(({ outcome }) => outcome === 'failure');
      expect(failures.map(described)).toEqual([]);
    },
    MOST_MS,
  );
});

/** Differences between the answers about the chain of two intact copies, shortened. */
function differences(one: IntactCopy, other: IntactCopy): string[] {
  const about = ({ asked, acted }: IntactCopy): Answer[] =>
    [...asked, ...acted].filter(({ kind }) => kind === 'chain');
  const theirs = about(other);
  return about(one)
    .map(({ question, text }, i) =>
      text === theirs[i]!.text ? '' : `${question}: ${firstDifference(text, theirs[i]!.text)}`,
    )
    .filter((line) => line !== '');
}

/** Records a result. Prints a failure at once, and the progress at intervals. */
function note(results: CaseResult[], result: CaseResult): void {
  results.push(result);
  if (result.outcome === 'failure') console.log(described(result));
  if (results.length % 50 === 0) console.log(summary(results));
}

function described({ number, corruption, detail }: CaseResult): string {
  return `seed ${seed} case ${number}: ${corruption.state}, ${corruption.path} ${corruption.what}\n  ${detail}`;
}

/** Number of cases by kind of file and outcome. */
function summary(results: readonly CaseResult[]): string {
  const lines = new Map<string, Map<string, number>>();
  for (const { corruption, outcome } of results) {
    const line = lines.get(corruption.kind) ?? new Map<string, number>();
    lines.set(corruption.kind, line);
    line.set(outcome, (line.get(outcome) ?? 0) + 1);
  }
  const reported = [...lines].map(
    ([kind, line]) => `  ${kind}: ${[...line].map(([outcome, count]) => `${count} ${outcome}`).join(', ')}`,
  );
  return [`${results.length} cases, seed ${seed}`, ...reported.sort()].join('\n');
}
