/** Messages of a start to the operator, and log lines of the debug categories about a start. */
import type { SpawnSyncReturns } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from './support/network.js';
import { ADDRESS, startRegtest } from './support/node.js';
import { runToEnd } from './support/process.js';

/** Swaps the last two blocks in a file of four blocks. */
function swapLastBlocks(file: string): void {
  const bytes = readFileSync(file);
  const starts: number[] = [];
  for (let at = 0; at < bytes.length; at += 8 + bytes.readUInt32LE(at + 4)) starts.push(at);
  const records = [0, 1, 3, 2].map((n) => bytes.subarray(starts[n], starts[n + 1]));
  writeFileSync(file, Buffer.concat(records));
}

describe('a start', () => {
  let dataDir: string;
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'start-'));
  });
  afterEach(() => rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 }));

  /** Runs the program, which ends when it has started. */
  const run = (...args: string[]): SpawnSyncReturns<string> =>
    runToEnd(dataDir, ['-stopafterblockimport', ...args]);
  const log = (): string => {
    const file = join(dataDir, 'regtest', 'debug.log');
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  };
  const WARNINGS = [
    'Unsupported logging category -debug=nosuch.',
    'Unsupported argument -benchmark ignored, use -debug=bench.',
  ];

  it('warns on stderr and in the log, and continues without a pid file', () => {
    const args = [
      '-printtoconsole=0',
      '-debug=nosuch',
      '-benchmark',
      `-pid=${join(dataDir, 'absent', 'pid')}`,
    ];
    const { status, stderr, stdout } = run(...args);
    const lines = stderr.trimEnd().split('\n');
    for (const warning of WARNINGS) {
      expect(lines).toContain(`Warning: ${warning}`);
      expect(log().split(warning)).toHaveLength(2);
    }
    expect(lines).toHaveLength(3);
    expect(stderr).toContain('Warning: The process id could not be written');
    expect([status, stdout]).toEqual([0, 'Done loading\n']);
  });

  it('in the background warns the terminal', async () => {
    const { status, stderr } = run('-daemon', '-debug=nosuch', '-benchmark');
    expect(status).toBe(0);
    for (const warning of WARNINGS) expect(stderr).toContain(`Warning: ${warning}\n`);
    await until('the end', async () => log().includes('Shutdown: done'));
    for (const warning of WARNINGS) expect(log().split(warning)).toHaveLength(2);
  });

  it('with -dbcrashratio crashes in a flush, and the next start succeeds', () => {
    const crashed = run('-dbcrashratio=1');
    expect(crashed.signal).toBe('SIGKILL');
    expect(crashed.stdout).toContain('Simulating a crash. Goodbye.\n');
    expect(run('-printtoconsole=0').status).toBe(0);
  });

  it('from the block files reports what it reads and writes', async () => {
    const args = ['reindex', 'coindb', 'leveldb', 'estimatefee', 'claims'].map((name) => `-debug=${name}`);
    let node = await startRegtest({ dataDir });
    const [, second, third] = await node.rpc<string[]>('generatetoaddress', [3, ADDRESS]);
    await node.stop();
    const file = join(dataDir, 'regtest', 'blocks', 'blk00000.dat');
    swapLastBlocks(file);
    node = await startRegtest({ dataDir, args: [...args, '-reindex'] });
    const [tip] = await node.rpc<string[]>('generatetoaddress', [1, ADDRESS]);
    await node.rpc('invalidateblock', [tip]);
    await node.stop();
    expect(log()).toMatch(/ Reading \S+blk00000\.dat from byte 0 of \d+\n/);
    expect(log()).toMatch(
      / Committed [1-9]\d* changed transaction outputs \(out of \d+, \S+ MiB\) to coin database\n/,
    );
    const outOfOrder = [
      `Out of order block ${third}, parent ${second} not known\n`,
      `Processing out of order child ${third} of ${second}\n`,
    ];
    for (const line of outOfOrder) expect(log()).toContain(line);
    expect(log()).toMatch(/ Opening LevelDB in /);
    expect(log()).toMatch(/ Level  Files Size\(MB\)/);
    expect(log()).toMatch(/ FeeEst: block 4 confirmed 0 transactions/);
    expect(log()).toContain(` claims: height=4 disconnected: block=${tip}\n`);

    const loaded = join(dataDir, 'loaded.dat');
    renameSync(file, loaded);
    rmSync(join(dataDir, 'regtest'), { recursive: true });
    const { stdout } = run('-debug=reindex', `-loadblock=${loaded}`);
    for (const line of outOfOrder) expect(stdout).toContain(line);
  });
});
