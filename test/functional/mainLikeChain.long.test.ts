/** The programs that make a chain with the main network's proportions, and a node that follows it across all forks. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ChainSummary } from '../../src/testing/mainLike/makeChain.js';
import { program } from './support/node.js';

const BLOCKS = process.env['LBCNODE_FULL'] === '1' ? 200_000 : 20_000;
const makeChain = fileURLToPath(new URL('../../scripts/makeChain.mjs', import.meta.url));

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

it(`makes ${BLOCKS} blocks that the node follows to the same tip`, async () => {
  const file = join(folder, 'chain.dat');
  const made = await run(makeChain, ['--blocks', String(BLOCKS), '--like', 'main', '--out', file]);
  expect(made.code, made.output).toBe(0);
  const summary = JSON.parse(readFileSync(`${file}.json`, 'utf8')) as ChainSummary;
  expect(made.output).toContain(summary.tip);
  expect(readFileSync(file).length).toBe(summary.bytes);
  expect(Object.keys(summary.kinds)).toHaveLength(8);
  const node = await run(program('lbcnode'), [
    ...summary.nodeArgs.lbcnode,
    `-datadir=${folder}`,
    `-loadblock=${file}`,
    '-stopafterblockimport',
    '-listen=0',
    '-server=0',
    '-printtoconsole',
  ]);
  expect(node.code, node.output).toBe(0);
  expect(node.output).toContain(`Imported ${BLOCKS} new of ${BLOCKS + 1} blocks`);
  expect(node.output).toContain(`the tip is at height ${BLOCKS}`);
});

it('says what is wrong with its options, and leaves nothing behind', async () => {
  const file = join(folder, 'none.dat');
  const good = { '--blocks': '400', '--like': 'main', '--out': file };
  const wrong: [Record<string, string>, string][] = [
    [{ '--blocks': '20' }, 'A chain has at least 300 blocks'],
    [{ '--blocks': 'many' }, '--blocks is a number of blocks, not many'],
    [{ '--like': 'test' }, '--like main is the one kind of chain'],
    [{ '--density': '-1' }, '--density'],
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
