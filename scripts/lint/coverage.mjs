#!/usr/bin/env node
// Runs the unit tests and prints which share of `src` they run, by module; `coverage/coverage-summary.json` has it by file.
//
//   npm run coverage                      all files but those below
//   npm run coverage -- test/unit/net     only the files whose path begins with test/unit/net
//
// Counting makes tight loops many times slower. The files below, which repeat such loops for minutes, are left out. Code that tests run
// in other processes or threads is not counted. Failed tests are listed, and the exit code is 1 if there are any.
//
// With LBCNODE_TESTS_UNTIL (seconds since 1970) no file starts that would end after that time, as in scripts/test.mjs. The report
// then covers the files that ran, and its last line has their number.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const LEFT_OUT = new Set([
  'test/unit/server/notifications/stream.test.ts',
  'test/unit/store/claims/claimModel.test.ts',
  'test/unit/store/claims/forkBlocks.test.ts',
  'test/unit/store/claims/forkCorruption.test.ts',
  'test/unit/store/claims/lbcd/lbcdSchedule.test.ts',
  'test/unit/store/claims/query/pastNodes.test.ts',
  'test/unit/store/leveldb/levelDb.test.ts',
  'test/unit/testing/mainLike.test.ts',
  'test/unit/util/json/json.test.ts',
  'test/unit/util/jsonSlices.test.ts',
  'test/unit/wallet/encryption/masterKey.test.ts',
]);

const files = readdirSync(join(root, 'test/unit'), { recursive: true })
  .map((name) => `test/unit/${String(name).split(sep).join('/')}`)
  .filter((name) => name.endsWith('.test.ts') && !/(\.long|[mM]emory)\.test\.ts$/.test(name))
  .filter((name) => !LEFT_OUT.has(name));
const given = process.argv.slice(2);
const chosen = files.filter((name) => given.length === 0 || given.some((path) => name.startsWith(path)));
if (chosen.length === 0) {
  console.error(`COVERAGE: no unit test has a path that begins with ${given.join(' or ')}`);
  process.exit(1);
}

/** Assumed factor by which counting slows down a file. In 105 files it increased the CPU time by a third. */
const COUNTING_SLOWNESS = 2;
/** File with the slowness of this machine, written by scripts/test.mjs. */
const pace = join(root, 'build', 'test-pace.json');
const slowness = existsSync(pace) ? JSON.parse(readFileSync(pace, 'utf8')).slowness : 1;

/** Outcome of each file, written by jsonlReporter.mjs. */
const outcomes = join(root, 'build/coverage.jsonl');
const summary = join(root, 'coverage/coverage-summary.json');
mkdirSync(dirname(outcomes), { recursive: true });
for (const path of [outcomes, summary]) rmSync(path, { force: true });

const { status } = spawnSync(
  process.execPath,
  [
    join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    `--reporter=${join(root, 'scripts/jsonlReporter.mjs')}`,
    // The reporter lists errors outside tests, except those that only indicate a busy machine.
    '--dangerouslyIgnoreUnhandledErrors',
    '--coverage.enabled',
    '--coverage.provider=v8',
    '--coverage.include=src/**',
    '--coverage.exclude=src/metadata/messages/**',
    '--coverage.exclude=src/page/browser/**',
    '--coverage.exclude=**/*.d.ts',
    '--coverage.reporter=json-summary',
    '--coverage.reportOnFailure',
    ...chosen,
  ],
  {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      LBCNODE_TEST_OUTCOME: outcomes,
      LBCNODE_TESTS_SLOWNESS: String(slowness * COUNTING_SLOWNESS),
    },
  },
);
if (!existsSync(summary)) {
  console.error(`COVERAGE: vitest ended with ${status} and wrote no report`);
  process.exit(1);
}
const outcomeOfFile = new Map();
for (const line of readFileSync(outcomes, 'utf8').trim().split('\n')) {
  const outcome = JSON.parse(line);
  outcomeOfFile.set(outcome.file, outcome);
}
const ran = [...outcomeOfFile.values()].filter(({ notRun }) => notRun !== true);
/** Outcomes of files. Errors of the run that belong to no file have the name ''. */
const ranFiles = ran.filter(({ file }) => file !== '');
const failures = ran.flatMap(({ problems, tests }) => [
  ...problems,
  ...tests.filter(({ state }) => state === 'failed'),
]);
for (const { where, lines } of failures) console.log([`COVERAGE: failed: ${where}`, ...lines].join('\n  '));
const passed = ran.flatMap(({ tests }) => tests).filter(({ state }) => state === 'passed').length;

/** `src/daemon` contains modules of its own, so its subfolders are counted separately. */
function moduleOf(path) {
  const [, first, second] = relative(root, path).split(sep);
  return first === 'daemon' ? `daemon/${second}` : first;
}

const KINDS = ['lines', 'branches', 'functions'];
const { total: _, ...ofFiles } = JSON.parse(readFileSync(summary, 'utf8'));
const emptySums = () => Object.fromEntries(KINDS.map((kind) => [kind, { covered: 0, total: 0 }]));
const total = emptySums();
/** @type {Map<string, Record<string, { covered: number, total: number }>>} */
const modules = new Map();
for (const [path, counts] of Object.entries(ofFiles)) {
  const name = moduleOf(path);
  const sums = modules.get(name) ?? emptySums();
  modules.set(name, sums);
  // V8 knows no functions and branches of a file that no test loads, and the provider counts one of each as run.
  const isLoaded = counts.lines.covered > 0;
  for (const kind of KINDS)
    for (const sum of [sums[kind], total[kind]]) {
      sum.covered += isLoaded ? counts[kind].covered : 0;
      sum.total += counts[kind].total;
    }
}
const percent = ({ covered, total: all }) =>
  (all === 0 ? '-' : ((100 * covered) / all).toFixed(1)).padStart(7);
const row = (name, counts) => `${name.padEnd(22)}${KINDS.map((kind) => percent(counts[kind])).join('   ')}`;
console.log(`\n${ranFiles.length} test files, ${passed} tests passed, ${failures.length} failures`);
console.log(`\n${''.padEnd(22)}${KINDS.map((kind) => kind.padStart(7)).join('  ')}`);
for (const name of [...modules.keys()].sort()) console.log(row(name, modules.get(name)));
console.log(row('COVERAGE, percent', total));
console.log(
  `COVERAGE: ${ranFiles.length} of ${chosen.length} unit test files ran, without code in other processes and threads`,
);
process.exit(failures.length > 0 || status !== 0 ? 1 : 0);
