/**
 * Full, read-only or unavailable disks, and resource limits of the process. At the start, while it runs or while it stops, the
 * node ends with one message that says what to do. After that it continues with all acknowledged data.
 */
import { spawnSync, type SpawnSyncReturns } from 'node:child_process';
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADDRESS, HANG_MS, program } from './support/node.js';
import { CorruptedNode } from './support/corruption/runner.js';
import { canMount, mountSmall } from './support/smallDisk.js';

const TRACE = /^\s+at |node:internal|\b(?:Assertion|Type|Range)Error\b/m;

function expectOneMessage(code: number | null, stderr: string, expected: RegExp): void {
  expect(stderr).toMatch(expected);
  expect(stderr).not.toMatch(TRACE);
  expect(
    stderr
      .trim()
      .split('\n')
      .filter((line) => !line.startsWith('Warning:')),
  ).toHaveLength(1);
  expect(code).toBe(1);
}

describe.runIf(canMount)('a small disk', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'small-disk-'));
    expect(mountSmall(folder, '96m')).toBe(true);
  });
  afterAll(() => {
    spawnSync('umount', ['-l', folder]);
    rmSync(folder, { recursive: true, force: true });
  });

  const ballast = (): string => join(folder, 'ballast');
  /** Fills the disk to the last byte. */
  function fill(): void {
    const fd = openSync(ballast(), 'a');
    for (const size of [1 << 20, 4096]) {
      const piece = Buffer.alloc(size, 1);
      try {
        for (;;) writeSync(fd, piece);
      } catch {
        // The disk is full for writes of this size.
      }
    }
    fsyncSync(fd);
    closeSync(fd);
  }
  const free = (): void => rmSync(ballast(), { force: true });

  const heightOf = async (node: CorruptedNode): Promise<number> =>
    (await node.call('getblockcount')).result as number;

  it('that is full stops the node at a block, and the node continues once there is space', async () => {
    let node = await CorruptedNode.start(folder);
    expect((await node.call('generatetoaddress', [20, ADDRESS])).error).toBeNull();
    fill();
    await node.call('generatetoaddress', [2000, ADDRESS]).catch(() => undefined);
    const { code } = await node.ended;
    expectOneMessage(
      code,
      node.stderr,
      /blk00000\.dat: no space is left on its disk \(ENOSPC\)\. Free disk space/,
    );
    expect(node.stdout).not.toMatch(TRACE);
    node = await CorruptedNode.start(folder);
    expect(node.isRunning).toBe(false);
    expectOneMessage((await node.ended).code, node.stderr, /(Disk space is low|no space is left)/i);
    free();
    node = await CorruptedNode.start(folder);
    expect(await heightOf(node)).toBeGreaterThanOrEqual(20);
    expect((await node.call('generatetoaddress', [3, ADDRESS])).error).toBeNull();
    expect((await node.stop()).code).toBe(0);
  });

  it('that is full stops the node at a flush and while it stops, and nothing is lost', async () => {
    let node = await CorruptedNode.start(folder);
    const height = await heightOf(node);
    expect((await node.call('generatetoaddress', [5, ADDRESS])).error).toBeNull();
    fill();
    await node.call('gettxoutsetinfo').catch(() => undefined);
    expectOneMessage((await node.ended).code, node.stderr, /Disk space is low/);
    expect(node.stdout).not.toMatch(TRACE);
    free();
    node = await CorruptedNode.start(folder);
    expect(await heightOf(node)).toBe(height + 5);
    expect((await node.call('generatetoaddress', [5, ADDRESS])).error).toBeNull();
    fill();
    const { code } = await node.stop();
    expectOneMessage(code, node.stderr, /(Disk space is low|no space is left)/i);
    free();
    node = await CorruptedNode.start(folder);
    expect(await heightOf(node)).toBe(height + 10);
    expect((await node.stop()).code).toBe(0);
  });

  it('that is read-only is named in the message', async () => {
    expect(spawnSync('mount', ['-o', 'remount,ro', folder]).status).toBe(0);
    try {
      const node = await CorruptedNode.start(folder);
      expect(node.isRunning).toBe(false);
      expectOneMessage((await node.ended).code, node.stderr, /can only be read \(EROFS\)|read-only/i);
    } finally {
      spawnSync('mount', ['-o', 'remount,rw', folder]);
    }
    const node = await CorruptedNode.start(folder);
    expect((await node.stop()).code).toBe(0);
  });
});

describe.runIf(process.platform === 'linux')('limits and paths', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'limits-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Runs a node that must end by itself, after a command of the shell. */
  function run(before: string, dataDir: string, args: readonly string[] = []): SpawnSyncReturns<string> {
    const command = [process.execPath, program('lbcnode'), '-regtest', `-datadir=${dataDir}`, '-listen=0'];
    return spawnSync(
      'sh',
      ['-c', `${before}; exec "$@"`, 'sh', ...command, '-server=0', '-printtoconsole=0', ...args],
      {
        encoding: 'utf8',
        timeout: HANG_MS,
      },
    );
  }

  it('of open files are named', () => {
    const dataDir = join(folder, 'files');
    mkdirSync(dataDir);
    const { status, stderr } = run('ulimit -n 90', dataDir, ['-stopafterblockimport']);
    expectOneMessage(status, stderr, /file descriptors|open files/i);
  });

  it('of file sizes are named', () => {
    const dataDir = join(folder, 'sizes');
    mkdirSync(dataDir);
    const { status, stderr, signal } = run('ulimit -f 0', dataDir, ['-stopafterblockimport']);
    expect(signal).toBeNull();
    expectOneMessage(status, stderr, /ulimit -f|File too large/);
  });

  it('that lead through a file are named', () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    for (const [args, dataDir] of [
      [[], join(file, 'data')],
      [['-blocksdir=' + file], join(folder, 'files')],
    ] as const) {
      const { status, stderr } = run(':', dataDir, args);
      expect(status).toBe(1);
      expect(stderr).not.toMatch(TRACE);
      expect(stderr).toContain(file);
      expect(stderr.trim().split('\n')).toHaveLength(1);
    }
  });

  it('with a folder in place of a file are named', () => {
    for (const name of ['blocks', 'chainstate', 'lock']) {
      const dataDir = join(folder, `at-${name}`);
      mkdirSync(join(dataDir, 'regtest'), { recursive: true });
      writeFileSync(join(dataDir, 'regtest', name), 'no folder');
      const { status, stderr } = run(':', dataDir, ['-stopafterblockimport']);
      expectOneMessage(status, stderr, new RegExp(`/${name}`));
    }
    for (const name of ['.cookie', '.cookie.tmp']) {
      const dataDir = join(folder, `at-${name}`);
      mkdirSync(join(dataDir, 'regtest', name, 'inside'), { recursive: true });
      const { status, stderr } = run(':', dataDir, ['-server=1', '-rpcport=0', '-stopafterblockimport']);
      expectOneMessage(status, stderr, new RegExp(`/${name.replace('.', '\\.')}`));
    }
    const dataDir = join(folder, 'at-blk');
    mkdirSync(join(dataDir, 'regtest', 'blocks', 'blk00000.dat'), { recursive: true });
    const { status, stderr } = run(':', dataDir, ['-stopafterblockimport']);
    expectOneMessage(status, stderr, /blk00000\.dat is a folder/);
  });
});
