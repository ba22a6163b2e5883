#!/usr/bin/env node
// Runs the tests and prints one line `N passed, N failed` last.
//
// - Without arguments: the fast tests, at most eight minutes on two cores.
// - `--long`: the long tests (files named *.long.test.ts). `--full`: the same in full size.
// - `--rotate=<n>`: one of n shares of the files. The date (UTC) chooses the share, so n days cover all files.
//   LBCNODE_TESTS_SHARE=<1 to n> chooses another share.
// - `--smoke`: the files of smokeTests.mjs, for another version of Node.
// - `--record`: writes the measured times of the files to testTimes.json. Use it on a machine that does nothing else. Of the fast
//   tests it writes the processor time.
// - `--node=<major version>`: runs on that version of Node. Without that version it prints a line and runs no test.
//
// The script runs each file with failures a second time, one after the other, each in its own process. A test that fails
// twice has failed (lines that begin with `FAILED`). A test that fails once is flaky (lines that begin with `FLAKY`).
//
// With LBCNODE_TESTS_UNTIL (seconds since 1970) no file starts that would end after that time, by its recorded time and by how slow
// the last run of the fast tests was (lines that begin with `NOT RUN`). The second attempt has ten more minutes. Fast tests that
// were not run count as a failure.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SMOKE_TESTS } from './smokeTests.mjs';
import {
  LEAST_RECORDED_SECONDS,
  TIMES_FILE,
  longFiles,
  recordedTimes,
  shareOf,
  slownessOf,
} from './testPlan.mjs';
import { nodeOfVersion } from './toolchain.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const full = process.argv.includes('--full');
const long = full || process.argv.includes('--long');
const NODE = '--node=';
const wantedNode = process.argv.find((arg) => arg.startsWith(NODE))?.slice(NODE.length);
const node = wantedNode ? nodeOfVersion(Number(wantedNode)) : { program: process.execPath, env: process.env };
if (node === null) {
  console.log(`not tested on Node ${wantedNode}`);
  process.exit(0);
}
if (wantedNode) console.log(`on Node ${wantedNode}`);
const ROTATE = '--rotate=';
const SWITCHES = ['--long', '--full', '--smoke', '--record'];
const given = process.argv
  .slice(2)
  .filter((arg) => !SWITCHES.includes(arg) && !/^--(node|rotate)=/.test(arg));
const smoke = process.argv.includes('--smoke');
if (smoke) given.push(...SMOKE_TESTS);
const times = recordedTimes();
/** File with the slowness of this machine, which a run of all fast tests writes for later runs. */
const pace = join(root, 'build', 'test-pace.json');

/** File names in today's share of the long tests; empty if there is only one share. */
function shareOfToday() {
  const shares = Number(process.argv.find((arg) => arg.startsWith(ROTATE))?.slice(ROTATE.length) ?? 1);
  if (shares === 1) return [];
  const share = Number(
    process.env['LBCNODE_TESTS_SHARE'] ?? (Math.floor(Date.now() / 86_400_000) % shares) + 1,
  );
  console.log(`share ${share} of ${shares} of the test files`);
  return shareOf(longFiles(root), times, { share, shares });
}

/** Random seeds of a full-size run, so that each run tests other cases. Both attempts use the same seeds. */
function drawnSeeds() {
  if (!full) return {};
  const drawn = String(Date.now() % 1_000_000);
  const names = ['LBCNODE_CORRUPTION_SEED', 'LBCNODE_WALLET_SEED'];
  const seeds = Object.fromEntries(names.map((name) => [name, process.env[name] ?? drawn]));
  for (const [name, seed] of Object.entries(seeds)) console.log(`${name}=${seed}`);
  return seeds;
}
const seeds = drawnSeeds();

/**
 * The fast tests run in three processes, because tests of programs often wait. Then the tests that measure memory run in two
 * processes, in a separate run of vitest. If one run contains both projects, vitest sometimes ends the third process between them,
 * before the process has started.
 */
const RUNS_OF_FAST_TESTS = [
  ['--project=fast', '--poolOptions.forks.minForks=3', '--poolOptions.forks.maxForks=3'],
  ['--project=memory', '--poolOptions.forks.minForks=2', '--poolOptions.forks.maxForks=2'],
];

/** Runs the files for the first time. Returns the outcome of each file. */
function firstAttempt(args) {
  if (long) return attempt(args);
  const outcome = {};
  for (const options of RUNS_OF_FAST_TESTS) {
    // The chosen files may all belong to the other project.
    for (const [file, one] of Object.entries(attempt([...args, ...options, '--passWithNoTests']))) {
      const { problems = [], tests = [] } = outcome[file] ?? {};
      outcome[file] = { ...one, problems: [...problems, ...one.problems], tests: [...tests, ...one.tests] };
    }
  }
  if (Object.keys(outcome).length === 0)
    outcome[''] = { problems: [{ where: 'No test file was found', lines: [] }], tests: [] };
  return outcome;
}

/**
 * Runs vitest. Returns the outcome of each file (see jsonlReporter.mjs). If vitest fails without an error in a file, the
 * outcome contains a problem without a file.
 */
function attempt(args, env = {}) {
  const path = join(root, 'build', long ? 'test-long.jsonl' : 'test.jsonl');
  mkdirSync(dirname(path), { recursive: true });
  rmSync(path, { force: true });
  const { status, signal } = spawnSync(
    node.program,
    [
      join(root, 'node_modules', 'vitest', 'vitest.mjs'),
      'run',
      '--reporter=default',
      `--reporter=${join(root, 'scripts', 'jsonlReporter.mjs')}`,
      // Vitest ignores errors outside tests, because the reporter reports them. It leaves out those that only indicate a
      // busy machine.
      '--dangerouslyIgnoreUnhandledErrors',
      ...args,
    ],
    {
      cwd: root,
      stdio: 'inherit',
      env: {
        ...node.env,
        LBCNODE_LONG_TESTS: long ? '1' : '',
        ...(full ? { LBCNODE_FULL: '1' } : {}),
        ...seeds,
        LBCNODE_TEST_OUTCOME: path,
        ...(existsSync(pace)
          ? { LBCNODE_TESTS_SLOWNESS: String(JSON.parse(readFileSync(pace, 'utf8')).slowness) }
          : {}),
        ...env,
      },
    },
  );
  const lines = existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
  const outcome = Object.fromEntries(lines.map((line) => JSON.parse(line)).map((of) => [of.file, of]));
  if (status !== 0 && !Object.values(outcome).some(hasFailed)) {
    const problem = { where: `The runner ended with ${signal ?? status}`, lines: [] };
    outcome[''] = { problems: [problem], tests: [] };
  }
  return outcome;
}

function hasFailed({ problems, tests }) {
  return problems.length > 0 || tests.some(({ state }) => state === 'failed');
}

/**
 * Pairs the results of both attempts at a file; tests of the same name are paired by order. Returns `[first, second]`;
 * each can be undefined.
 */
function pairsOf(first, second) {
  const pairs = new Map();
  [first, second].forEach((tests, n) => {
    const seen = new Map();
    for (const test of tests) {
      const count = (seen.get(test.where) ?? 0) + 1;
      seen.set(test.where, count);
      const key = `${test.where} ${count}`;
      if (!pairs.has(key)) pairs.set(key, []);
      pairs.get(key)[n] = test;
    }
  });
  return [...pairs.values()];
}

const SECOND_ATTEMPT_SECONDS = 600;

const failed = [];
const flaky = [];
const notRun = [];
let passed = 0;

const until = process.env['LBCNODE_TESTS_UNTIL'];
/** Whether this run measures the slowness of the machine. The result of an earlier run may be outdated. */
const isWholeFastRun = !long && given.length === 0;
if (isWholeFastRun) rmSync(pace, { force: true });
const startedMs = Date.now();
const first = firstAttempt([...given, ...shareOfToday()]);
const clockSeconds = (Date.now() - startedMs) / 1000;
// A problem that belongs to no file cannot be retried.
const again = Object.keys(first).filter((file) => file !== '' && hasFailed(first[file]));
let second = {};
if (again.length > 0) {
  console.log(`\nOnce more: ${again.join(' ')}\n`);
  // Drops the file names given on the command line but keeps the values of options.
  const options = given.filter((arg, n) => arg.startsWith('-') || /^--?[^=]+$/.test(given[n - 1] ?? ''));
  second = attempt([...options, ...again], {
    LBCNODE_TESTS_ALONE: '1',
    LBCNODE_TESTS_UNTIL: until ? String(Number(until) + SECOND_ATTEMPT_SECONDS) : '',
  });
}
for (const [file, { problems, tests, notRun: isNotRun }] of Object.entries(first)) {
  if (isNotRun) notRun.push({ where: `${file}, for lack of time`, lines: [] });
  const repeated = second[file]?.notRun === true ? undefined : second[file];
  if (problems.length > 0) {
    const isSteady = repeated === undefined || repeated.problems.length > 0;
    (isSteady ? failed : flaky).push(...problems);
  } else if (repeated !== undefined) flaky.push(...repeated.problems);
  for (const [one, other] of pairsOf(tests, repeated?.tests ?? [])) {
    const failure = [one, other].find((test) => test?.state === 'failed');
    const hasPassed = [one, other].some((test) => test?.state === 'passed');
    if (hasPassed) passed++;
    if (failure !== undefined) (hasPassed ? flaky : failed).push(failure);
  }
}
// If the second attempt fails as a whole, it has problems without a first result. They count as failures.
for (const file of Object.keys(second)) if (first[file] === undefined) failed.push(...second[file].problems);

const tell = (word, { where, lines }) =>
  console.log([where, ...lines].map((line) => `${word} ${line}`).join('\n'));
for (const one of failed) tell('FAILED', one);
for (const one of flaky) tell('FLAKY', one);
for (const one of notRun) tell('NOT RUN', one);
/**
 * The seconds of the files that ran: by the clock for long tests, of processor time for others, as in testTimes.json. Failed files
 * are left out, because a failure may shorten a run.
 */
const measured = Object.fromEntries(
  Object.entries(first)
    .filter(([file, one]) => file !== '' && one.seconds !== undefined && !one.notRun && !hasFailed(one))
    .map(([file, { seconds, processorSeconds }]) => [file, long ? seconds : processorSeconds]),
);
if (isWholeFastRun)
  writeFileSync(pace, JSON.stringify({ slowness: slownessOf(measured, times, clockSeconds) }));
if (long)
  for (const [file, seconds] of Object.entries(measured))
    console.log(`TOOK ${Math.round(seconds)} s ${file}`);
if (process.argv.includes('--record')) record(measured);
console.log(`${passed} passed, ${failed.length} failed`);
process.exit(failed.length === 0 && (long || smoke || notRun.length === 0) ? 0 : 1);

function record(seconds) {
  const entries = Object.entries({ ...times, ...seconds })
    .map(([file, value]) => [file, Math.round(value)])
    .filter(([file, value]) => value >= LEAST_RECORDED_SECONDS && existsSync(join(root, file)));
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  writeFileSync(TIMES_FILE, `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`);
}
