#!/usr/bin/env node
// Runs the suite and closes with one line `N passed, N failed`. Without arguments the fast tests (under ten minutes on
// two cores); with --long the longer ones (files named *.long.test.ts), with --full these in their full size.
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const full = process.argv.includes('--full');
const long = full || process.argv.includes('--long');
const report = join(root, 'build', long ? 'test-long.json' : 'test.json');
mkdirSync(dirname(report), { recursive: true });
rmSync(report, { force: true });

const { status } = spawnSync(
  process.execPath,
  [
    join(root, 'node_modules', 'vitest', 'vitest.mjs'),
    'run',
    '--reporter=default',
    '--reporter=json',
    `--reporter=${join(root, 'scripts', 'failureReporter.mjs')}`,
    `--outputFile.json=${report}`,
    ...process.argv.slice(2).filter((arg) => arg !== '--long' && arg !== '--full'),
  ],
  {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, LBCNODE_LONG_TESTS: long ? '1' : '', ...(full ? { LBCNODE_FULL: '1' } : {}) },
  },
);

let passed = 0;
let failed = 0;
try {
  const result = JSON.parse(readFileSync(report, 'utf8'));
  passed = result.numPassedTests;
  failed = result.numFailedTests;
  // A file that cannot be loaded has no tests of its own but is a failure all the same.
  for (const file of result.testResults)
    if (file.status === 'failed' && file.assertionResults.length === 0) failed++;
} catch {
  failed = 1;
}
if (status !== 0 && failed === 0) failed = 1;
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
