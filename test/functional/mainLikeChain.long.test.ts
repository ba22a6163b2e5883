/**
 * The programs that make a chain with the proportions of the main network and import it. The node follows it across all forks,
 * and so does lbrycrd if `LBRYCRDD` names it.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ChainSummary } from '../../src/testing/mainLike/makeChain.js';
import { referenceBinary } from './support/reference.js';

const BLOCKS = process.env['LBCNODE_FULL'] === '1' ? 200_000 : 20_000;
const pathOf = (file: string): string => fileURLToPath(new URL(`../../${file}`, import.meta.url));
const [makeChain, benchChain] = [pathOf('scripts/makeChain.mjs'), pathOf('test/bench/chain.mjs')];

let folder: string;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'main-like-'))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function run(
  script: string,
  args: readonly string[],
): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [script, ...args]);
  const [out, err, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  return { code, output: out + err };
}

async function make(file: string, blocks: number, forks: string): Promise<ChainSummary> {
  const args = ['--blocks', String(blocks), '--like', 'main', '--forks', forks, '--out', file];
  const made = await run(makeChain, args);
  expect(made.code, made.output).toBe(0);
  const summary = JSON.parse(readFileSync(`${file}.json`, 'utf8')) as ChainSummary;
  expect(made.output).toContain(summary.tip);
  expect(statSync(file).size).toBe(summary.bytes);
  expect(Object.keys(summary.kinds)).toHaveLength(8);
  return summary;
}

it(`creates ${BLOCKS} blocks that the node follows to the same tip, also after a kill`, async () => {
  const file = join(folder, 'chain.dat');
  const { tip } = await make(file, BLOCKS, 'main');
  const { code, output } = await run(benchChain, [file]);
  expect(code, output).toBe(0);
  const programs = output.includes('figures of lbcnode alone') ? ['lbcnode'] : ['lbcnode', 'lbrycrd'];
  for (const name of programs) {
    expect(output).toMatch(
      new RegExp(`^10/10 +${name} +\\d+ blocks/s .*disk [\\d.]+ MB: .*blocks [\\d.]+`, 'm'),
    );
    expect(output).toMatch(new RegExp(`^${name} after kill -9: .*has all blocks after [\\d.]+ s`, 'm'));
    expect(output).toMatch(new RegExp(`^${name} after a clean stop: has all blocks after [\\d.]+ s`, 'm'));
    expect(output).toMatch(
      new RegExp(`^${name}, first calls, ms: getblockcount .*getnameproof [\\d.]+`, 'm'),
    );
    expect(output).toMatch(new RegExp(`^${name} in all: .* tip ${tip}$`, 'm'));
  }
});

it.skipIf(!referenceBinary())('creates blocks that an unchanged lbrycrd follows', async () => {
  const file = join(folder, 'regtest.dat');
  const { tip } = await make(file, 3000, 'regtest');
  const { code, output } = await run(benchChain, [file, '--tenths', '2']);
  expect(code, output).toBe(0);
  expect(output).toMatch(new RegExp(`^lbrycrd in all: .* tip ${tip}$`, 'm'));
});

it('reports invalid options, and leaves nothing behind', async () => {
  const file = join(folder, 'none.dat');
  const good = { '--blocks': '400', '--like': 'main', '--out': file };
  const wrong: [Record<string, string>, string][] = [
    [{ '--blocks': '20' }, 'A chain has at least 300 blocks'],
    [{ '--blocks': 'many' }, '--blocks is a number of blocks, not many'],
    [{ '--blocks': '10000001' }, '--blocks is at most 10000000, not 10000001'],
    [{ '--like': 'test' }, '--like main is the one kind of chain'],
    [{ '--density': '-1' }, '--density'],
    [{ '--density': '10.5' }, 'at most 10, not 10.5'],
    [{ '--forks': 'none' }, '--forks is main or regtest, not none'],
    [{ '--out': join(folder, 'missing', 'x.dat') }, 'cannot be written'],
    [{ '--unknown': '1' }, 'unknown'],
  ];
  for (const [options, message] of wrong) {
    const args = Object.entries({ ...good, ...options }).flat();
    const { code, output } = await run(makeChain, args);
    expect(code, output).toBe(2);
    expect(output).toContain(message);
  }
  expect(existsSync(file)).toBe(false);
});
