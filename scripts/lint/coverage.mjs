#!/usr/bin/env node
// Runs the unit tests and prints which share of `src` they run, by module; `coverage/coverage-summary.json` has it by file.
//
// Counting makes tight loops many times slower. The files below, which repeat such loops for minutes, are left out. Code that tests run
// in other processes or threads is not counted.
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
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

const { status } = spawnSync(
  process.execPath,
  [
    join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    '--reporter=dot',
    '--coverage.enabled',
    '--coverage.provider=v8',
    '--coverage.include=src/**',
    '--coverage.exclude=src/metadata/messages/**',
    '--coverage.exclude=src/page/browser/**',
    '--coverage.exclude=**/*.d.ts',
    '--coverage.reporter=json-summary',
    '--coverage.reportOnFailure',
    ...files,
  ],
  { cwd: root, stdio: 'inherit' },
);

/** `src/daemon` contains modules of its own, so its subfolders are counted separately. */
function moduleOf(path) {
  const [, first, second] = relative(root, path).split(sep);
  return first === 'daemon' ? `daemon/${second}` : first;
}

const KINDS = ['lines', 'branches', 'functions'];
const { total, ...ofFiles } = JSON.parse(readFileSync(join(root, 'coverage/coverage-summary.json'), 'utf8'));
/** @type {Map<string, Record<string, { covered: number, total: number }>>} */
const modules = new Map();
for (const [path, counts] of Object.entries(ofFiles)) {
  const name = moduleOf(path);
  const sums = modules.get(name) ?? Object.fromEntries(KINDS.map((kind) => [kind, { covered: 0, total: 0 }]));
  modules.set(name, sums);
  for (const kind of KINDS) {
    sums[kind].covered += counts[kind].covered;
    sums[kind].total += counts[kind].total;
  }
}
const percent = ({ covered, total: all }) =>
  (all === 0 ? '-' : ((100 * covered) / all).toFixed(1)).padStart(7);
const row = (name, counts) => `${name.padEnd(22)}${KINDS.map((kind) => percent(counts[kind])).join('   ')}`;
console.log(`\n${''.padEnd(22)}${KINDS.map((kind) => kind.padStart(7)).join('  ')}`);
for (const name of [...modules.keys()].sort()) console.log(row(name, modules.get(name)));
console.log(row('COVERAGE, percent', total));
process.exit(status ?? 1);
