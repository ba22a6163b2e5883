/** The lines that a first start prints without a terminal. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { freePort } from './support/node.js';
import { startProcess } from './support/process.js';

describe('a first start', () => {
  it('prints its progress, paths and next commands, and nothing that looks like an error', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'first-'));
    const port = await freePort();
    const node = startProcess(dataDir, [`-rpcport=${port}`]);
    await node.printed('Stop it: ');
    node.child.kill('SIGINT');
    expect(await node.exited).toBe(0);
    const networkDir = join(dataDir, 'regtest');
    const lines = node
      .output()
      .trimEnd()
      .split('\n')
      .map((line) => line.replace(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ /, ''));
    const options = `-regtest -datadir=${dataDir} -rpcport=${port}`;
    const expected = [
      /^lbcnode version \S+ on regtest, data in (.*)$/,
      /^native addon: |^Warning: the native addon is not in use/,
      /^Using at most \d+ automatic connections/,
      /^No rpcpassword set - using random cookie authentication\.$/,
      /^Generated RPC authentication cookie /,
      /^best block [0-9a-f]{64} at height 0$/,
      /^\[default wallet\] Created a new wallet in .*wallet\.db; back it up with backupwallet$/,
      /^Done loading$/,
      /^RPC listens on .*127\.0\.0\.1:\d+, cookie in /,
      /^Call a method: node \S+lbcnode-cli\.js (.*) getblockchaininfo$/,
      /^Stop it: Ctrl-C, or type: node \S+lbcnode-cli\.js (.*) stop$/,
      /^Shutdown: In progress\.\.\.$/,
      /^Shutdown: done$/,
    ];
    expect(lines).toHaveLength(expected.length);
    expected.forEach((pattern, i) => expect(lines[i]).toMatch(pattern));
    expect(lines[0]).toContain(networkDir);
    expect(lines[8]).toContain(join(networkDir, '.cookie'));
    for (const line of lines.slice(9, 11)) expect(line).toContain(options);
    // A pipe gets no colours, and the file has the same lines.
    expect(readFileSync(join(networkDir, 'debug.log'), 'utf8')).toBe(`\n\n\n\n\n${node.output()}`);
    rmSync(dataDir, { recursive: true });
  });

  it('reports the creation of a data folder once', async () => {
    const parent = mkdtempSync(join(tmpdir(), 'first-'));
    const dataDir = join(parent, 'lbcnode');
    const line = `Created a new data folder at ${dataDir}\n`;
    for (const isNew of [true, false]) {
      const node = startProcess(dataDir, [`-rpcport=${await freePort()}`]);
      await node.printed('Stop it: ');
      node.child.kill('SIGINT');
      expect(await node.exited).toBe(0);
      expect(node.output().includes(line)).toBe(isNew);
    }
    rmSync(parent, { recursive: true });
  });
});
