#!/usr/bin/env node
// Runs the suite and closes with one line `N passed, N failed`. Without arguments the fast tests (under ten minutes on
// two cores); with --long the longer ones (files named *.long.test.ts), with --full these in their full size. With
// --node=<major version> on that Node instead of this one; a line says so, and nothing is run, where it cannot be had.
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
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
const report = join(root, 'build', long ? 'test-long.json' : 'test.json');
mkdirSync(dirname(report), { recursive: true });
rmSync(report, { force: true });

const { status } = spawnSync(
  node.program,
  [
    join(root, 'node_modules', 'vitest', 'vitest.mjs'),
    'run',
    '--reporter=default',
    '--reporter=json',
    `--reporter=${join(root, 'scripts', 'failureReporter.mjs')}`,
    `--outputFile.json=${report}`,
    ...process.argv.slice(2).filter((arg) => arg !== '--long' && arg !== '--full' && !arg.startsWith(NODE)),
  ],
  {
    cwd: root,
    stdio: 'inherit',
    env: { ...node.env, LBCNODE_LONG_TESTS: long ? '1' : '', ...(full ? { LBCNODE_FULL: '1' } : {}) },
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
