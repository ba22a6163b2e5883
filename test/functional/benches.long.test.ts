/** Runs the benches with minimal sizes, to check that they still work. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { regtestParams } from '../../src/params/regtest.js';
import { startRegtest } from './support/node.js';

const bench = (name: string): string => fileURLToPath(new URL(`../bench/${name}.mjs`, import.meta.url));
/** Claims in one block. */
const NAMES = ['a', 'ab', 'b'];

let folder: string;
let bootstrap: string;

/** A bootstrap file of a chain with a block of claims. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'benches-'));
  bootstrap = join(folder, 'bootstrap.dat');
  const node = await startRegtest();
  try {
    const address = await node.rpc('getnewaddress');
    await node.rpc('generatetoaddress', [103, address]);
    for (const name of NAMES) await node.rpc('claimname', [name, '00', '0.1']);
    await node.rpc('generatetoaddress', [12, address]);
    const parts: Buffer[] = [];
    for (let height = await node.rpc<number>('getblockcount'); height >= 0; height--) {
      const hash = await node.rpc('getblockhash', [height]);
      const block = Buffer.from(await node.rpc<string>('getblock', [hash, 0]), 'hex');
      const frame = Buffer.alloc(8);
      frame.set(regtestParams.magic);
      frame.writeUInt32LE(block.length, 4);
      parts.unshift(frame, block);
    }
    writeFileSync(bootstrap, Buffer.concat(parts));
  } finally {
    await node.stop();
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a bench without its references. Resolves to its output and exit code. */
async function runToEnd(
  name: string,
  ...args: string[]
): Promise<{ stdout: string; stderr: string; code: number | null }> {
  const env: NodeJS.ProcessEnv = { ...process.env, TMPDIR: folder };
  for (const reference of ['LBRYCRDD', 'LBCD', 'LBRYNET']) delete env[reference];
  const child = spawn(process.execPath, [bench(name), ...args], { env });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  return { stdout, stderr, code };
}

/** The output of a bench that must succeed. */
async function run(name: string, ...args: string[]): Promise<string> {
  const { stdout, stderr, code } = await runToEnd(name, ...args);
  expect(code, stdout + stderr).toBe(0);
  return stdout;
}

describe('the bench', () => {
  it('of wallets', async () => {
    const shown = await run('wallet', '--counts', '300,600');
    for (const row of ['opening', 'getbalance', 'listtransactions 100', 'sendtoaddress', 'memory MB'])
      expect(shown).toMatch(new RegExp(`^${row} +[\\d.]+ +[\\d.]+ +\\d+$`, 'm'));
  });

  it('of reading by JSON-RPC', async () => {
    const sizes = [
      '--seconds',
      '0.05',
      '--turns',
      '1',
      '--warmup',
      '0',
      '--batch',
      '5',
      '--connections',
      '2',
    ];
    const shown = await run('rpc', bootstrap, ...sizes, '--large', String(NAMES.length + 1), '--back', '20');
    for (const row of ['getclaimsforname', 'gettxout', 'getblock 2'])
      expect(shown).toMatch(new RegExp(`^\\| ${row} +\\| +[\\d.,]+ \\|`, 'm'));
    expect(shown).toContain('20 blocks later');
  });

  it('of the hub', async () => {
    const shown = await run('hub', bootstrap, '--sessions', '2', '--every', '20');
    expect(shown).toMatch(/^hub, sessions searching, with answers +[\d.]+ ms a block/m);
    expect(shown).toContain(`"total":${NAMES.length}`);
  });

  it('of sums of supports', async () => {
    const shown = await run('supportSums', '--supports', '250');
    for (const row of ['plain', 'signed'])
      expect(shown).toMatch(new RegExp(`^\\| ${row}( \\| [\\d.e+]+){6} \\|$`, 'm'));
  });

  it('of searches', async () => {
    const shown = await run('search', '--claims', '200', '--chain', '0');
    expect(shown).toMatch(/^all twelve, median ms +[\d.]+ +[\d.]+/m);
  });

  it('of lbcnet, which reports missed limits', async () => {
    const { stdout, stderr, code } = await runToEnd('lbcnet', '--counts', '20', '--seconds', '0.2');
    for (const row of ['version, a second', 'first sync, s', 'a page of txo_list, ms', 'memory at rest, MB'])
      expect(stdout + stderr).toMatch(new RegExp(`^${row} +[\\d.,]+ +[\\d.,]+( !)?$`, 'm'));
    expect(code, stdout + stderr).toBe(/ !$/m.test(stdout) ? 1 : 0);
  });

  it('of publishing and downloading, which reports missed limits', async () => {
    const sizes = ['--mib', '6', '--files', '20'];
    const { stdout, stderr, code } = await runToEnd('content', ...sizes);
    for (const row of [
      'making a stream',
      'transfer',
      'verify, decrypt',
      'start with 20 files',
      'API p99: seeding',
    ])
      expect(stdout + stderr).toContain(row);
    expect(code, stdout + stderr).toBe(/ !$/m.test(stdout) ? 1 : 0);
  });
});
