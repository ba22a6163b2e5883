/** How the program ends: interrupted imports, failing flushes, failing starts, and a second node on the same folder. */
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ADDRESS, freePort, HANG_MS, program, startRegtest } from './support/node.js';
import { startProcess, type NodeProcess } from './support/process.js';

let dataDir: string;
let networkDir: string;
const running: NodeProcess[] = [];

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'stopping-'));
  networkDir = join(dataDir, 'regtest');
});

afterEach(async () => {
  for (const { child, exited } of running.splice(0)) {
    child.kill('SIGKILL');
    await exited;
  }
  rmSync(dataDir, { recursive: true, force: true });
});

function start(...args: string[]): NodeProcess {
  const node = startProcess(dataDir, args);
  running.push(node);
  return node;
}

/** The block file of a chain of ten blocks. */
async function tenBlocks(): Promise<Buffer> {
  const node = await startRegtest();
  try {
    await node.rpc('generatetoaddress', [10, ADDRESS]);
    return readFileSync(join(node.dataDir, 'regtest', 'blocks', 'blk00000.dat'));
  } finally {
    await node.stop();
  }
}

describe('an import of bootstrap.dat', () => {
  it('shows an error even if no one reads the output any more', async () => {
    const failing = start('-rpcallowip=nonsense');
    failing.child.stdout!.destroy();
    failing.child.stderr!.destroy();
    expect(await failing.exited).toBe(1);

    const unread = start('-printtoconsole=0', '-server=0', '-stopafterblockimport');
    unread.child.stdout!.destroy();
    expect(await unread.exited).toBe(0);
  });

  it('that is interrupted keeps the file, and starts no other import', async () => {
    const blocks = await tenBlocks();
    mkdirSync(networkDir);
    const bootstrap = join(networkDir, 'bootstrap.dat');
    // Many copies of the same blocks, which are read and skipped, so that the import takes long enough to be interrupted.
    writeFileSync(bootstrap, Buffer.concat(Array.from({ length: 20_000 }, () => blocks)));
    const other = join(dataDir, 'other.dat');
    writeFileSync(other, blocks);
    const node = start('-server=0', `-loadblock=${other}`);
    await node.printed('Importing blocks file');
    node.child.kill('SIGTERM');
    expect(await node.exited).toBe(0);
    expect(existsSync(bootstrap)).toBe(true);
    expect(existsSync(`${bootstrap}.old`)).toBe(false);
    expect(node.output()).toMatch(/Import of bootstrap\.dat interrupted at \d+ blocks/);
    expect(node.output()).not.toContain(other);

    // A file that was read to its end is renamed.
    writeFileSync(bootstrap, blocks);
    const again = start('-server=0', '-stopafterblockimport');
    expect(await again.exited).toBe(0);
    expect(again.output()).toContain('of 11 blocks of bootstrap.dat');
    expect(again.output()).toContain('at height 10');
    expect(existsSync(bootstrap)).toBe(false);
    expect(existsSync(`${bootstrap}.old`)).toBe(true);
  });
});

describe('a node', () => {
  it('whose last flush fails ends with exit code 1 and reports the reason', async () => {
    const node = start(`-rpcport=${await freePort()}`);
    await node.printed('Done loading');
    renameSync(networkDir, join(dataDir, 'away'));
    node.child.kill('SIGTERM');
    expect(await node.exited).toBe(1);
    expect(node.output()).toContain('Shutdown: not all data could be written to disk');
    expect(node.output()).toMatch(/^Error: .*ENOENT/m);
  });

  it('that fails while it starts ends with exit code 1', async () => {
    const first = start('-server=0', '-rpcuser=u', '-rpcpassword=p');
    await first.printed('Done loading');
    first.child.kill('SIGTERM');
    expect(await first.exited).toBe(0);
    const blockFile = join(networkDir, 'blocks', 'blk00000.dat');
    writeFileSync(blockFile, Buffer.alloc(statSync(blockFile).size, 1));
    const second = start('-server=0', '-reindex-chainstate');
    expect(await second.exited).toBe(1);
    expect(second.output()).toMatch(/^Error: .*blk00000\.dat/m);
  });

  it('continues after signals that it does not handle', async () => {
    const port = await freePort();
    const node = start(`-rpcport=${port}`, '-rpcuser=u', '-rpcpassword=p');
    await node.printed('Done loading');
    for (const signal of ['SIGUSR1', 'SIGUSR2'] as const) {
      node.child.kill(signal);
      const answer = await fetch(`http://127.0.0.1:${port}/`, {
        method: 'POST',
        headers: { authorization: `Basic ${btoa('u:p')}` },
        body: '{"method":"getblockcount"}',
      });
      expect(await answer.json()).toMatchObject({ result: 0 });
    }
    node.child.kill('SIGTERM');
    expect(await node.exited).toBe(0);
    expect(node.output()).not.toMatch(/debugger/i);
  });

  it('continues when its log cannot be written', async ({ skip }) => {
    if (!existsSync('/dev/full')) skip('there is no /dev/full here');
    const node = start('-server=0', '-debuglogfile=/dev/full');
    await node.printed('Done loading');
    node.child.kill('SIGTERM');
    expect(await node.exited).toBe(0);
    expect(node.output()).toContain(
      'Warning: /dev/full cannot be written; the node continues: no space is left on its disk (ENOSPC)',
    );
  });
});

describe('a second node on the same folder', () => {
  it('is refused before it writes anything, even with -reindex', async () => {
    const port = await freePort();
    const first = start(`-rpcport=${port}`);
    await first.printed('Done loading');
    // The log is written last.
    await expect
      .poll(() => readFileSync(join(networkDir, 'debug.log'), 'utf8'), { timeout: HANG_MS })
      .toContain('Stop it: ');
    const own = ['.cookie', 'lbcnode.pid', 'debug.log', 'chainstate/CURRENT'].map((name) =>
      join(networkDir, name),
    );
    const before = own.map((file) => readFileSync(file));
    for (const args of [[], ['-reindex'], ['-daemon'], ['-server=0', '-pid=other.pid']]) {
      const { status, stderr } = spawnSync(
        process.execPath,
        [
          program('lbcnode'),
          '-regtest',
          `-datadir=${dataDir}`,
          '-listen=0',
          `-rpcport=${await freePort()}`,
          ...args,
        ],
        { encoding: 'utf8' },
      );
      expect(status, args.join(' ')).toBe(1);
      expect(stderr).toBe(
        `Error: Cannot obtain a lock on data directory ${networkDir}. lbcnode is probably already running.\n`,
      );
      expect(
        own.map((file) => readFileSync(file)),
        args.join(' '),
      ).toEqual(before);
    }
    expect(existsSync(join(networkDir, 'other.pid'))).toBe(false);
    first.child.kill('SIGTERM');
    expect(await first.exited).toBe(0);
    expect(own.slice(0, 2).map((file) => existsSync(file))).toEqual([false, false]);
  });

  it('can start once the first was killed', async () => {
    const first = start('-server=0');
    await first.printed('Done loading');
    first.child.kill('SIGKILL');
    await first.exited;
    const second = start('-server=0');
    await second.printed('Done loading');
    // The node does not remove a file with the process id of another program.
    writeFileSync(join(networkDir, 'lbcnode.pid'), '1\n');
    second.child.kill('SIGTERM');
    expect(await second.exited).toBe(0);
    expect(readFileSync(join(networkDir, 'lbcnode.pid'), 'utf8')).toBe('1\n');
  });
});
