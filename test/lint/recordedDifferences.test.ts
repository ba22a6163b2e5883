/** The table of differences from lbry-sdk's recordings and the tests that read it name each other. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, it } from 'vitest';
import { projectFile } from '../../src/util/project.js';
import { acceptedRows } from '../support/acceptedDifferences.js';

/** Code with which test files read the recordings. */
const READS =
  /conformance\/sdk|recordedLines\('sdk|recordedDaemon\(|checkSdkVectors\(|readLines\('transport'\)/;
const ACCEPTS = /new AcceptedDifferences\('(\w+)'\)/;
/** They accept nothing. */
const EXACT = ['claimSignatures', 'contentType'];

const texts = new Map(
  readdirSync(projectFile('test'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts') && !path.startsWith('lint'))
    .map((path) => [basename(path, '.test.ts'), readFileSync(projectFile('test', path), 'utf8')]),
);

it('has rows for files that name them', () => {
  for (const { test, name } of acceptedRows()) {
    const text = texts.get(test) ?? '';
    expect(ACCEPTS.exec(text)?.[1], test).toBe(test);
    expect(text.includes(`'${name}'`), `${test}: ${name}`).toBe(true);
  }
});

it('is read by each test of the recordings', () => {
  const tables = new Set(acceptedRows().map(({ test }) => test));
  for (const [test, text] of texts) {
    if (!READS.test(text) || EXACT.includes(test)) continue;
    expect(tables.has(test), `${test} has rows`).toBe(true);
    expect(/\.problems\(\)|checkAccepted\(accepted\)/.test(text), `${test} checks its rows`).toBe(true);
  }
});
