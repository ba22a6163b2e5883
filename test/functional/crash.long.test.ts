/**
 * Kills the node while it imports a chain with many transactions, at random times and at named points of flushes, and continues
 * the import. At the end, the chain must equal that of an import without kills.
 */
import { spawn } from 'node:child_process';
import { createReadStream, createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { program, shared, startRegtest } from './support/node.js';

const source = shared('bench/bench-40x1000.dat.gz');
/** A small cache, so that an import flushes dozens of times. */
const ARGS = ['-supportdelay=proportional', '-dbcache=8'];
const POINTS = [
  'flush:before-batch',
  'flush:after-batch',
  'flush:before-journal',
  'flush:in-journal',
  'flush:journal-committed',
  'flush:applying-journal',
  'flush:before-journal-removal',
  'commit:before-undo',
  'commit:before-apply',
  'commit:after-apply',
];

interface State {
  height: number;
  bestblock: string;
  hash_serialized_2: string;
  claimRoot: string;
}

describe.runIf(source)('crashes during an import', () => {
  let work: string;
  let file: string;
  let expected: State;

  beforeAll(async () => {
    work = mkdtempSync(join(tmpdir(), 'crash-'));
    file = join(work, 'bootstrap.dat');
    await pipeline(createReadStream(source!), createGunzip(), createWriteStream(file));
    expected = await finish(mkdtempSync(join(work, 'calm-')));
    expect(expected.height).toBe(469);
  });
  afterAll(() => rmSync(work, { recursive: true, force: true }));

  /** Starts a node on the folder, waits until the import ends, and returns the resulting state. */
  async function finish(dataDir: string): Promise<State> {
    const node = await startRegtest({ dataDir, args: [...ARGS, `-loadblock=${file}`], timeoutMs: 300_000 });
    try {
      const set = await node.rpc<State>('gettxoutsetinfo');
      const { height, bestblock, hash_serialized_2 } = set;
      const { nameclaimroot } = await node.rpc<{ nameclaimroot: string }>('getblockheader', [bestblock]);
      expect(await node.rpc('verifychain', [3, 6])).toBe(true);
      return { height, bestblock, hash_serialized_2, claimRoot: nameclaimroot };
    } finally {
      await node.stop();
    }
  }

  /** Runs an import until it ends by itself or is killed; resolves with whether it was killed. */
  async function runAndKill(
    dataDir: string,
    afterMs: number | null,
    env: Record<string, string>,
    further: readonly string[] = [],
  ): Promise<boolean> {
    const child = spawn(
      process.execPath,
      [
        program('lbcnode'),
        '-regtest',
        `-datadir=${dataDir}`,
        '-listen=0',
        '-server=0',
        ...ARGS,
        ...further,
        `-loadblock=${file}`,
        '-stopafterblockimport',
      ],
      { stdio: 'ignore', env: { ...process.env, ...env } },
    );
    const timer = afterMs === null ? null : setTimeout(() => child.kill('SIGKILL'), afterMs);
    const signal = await new Promise<string | null>((resolve) =>
      child.once('exit', (_code, by) => resolve(by)),
    );
    if (timer) clearTimeout(timer);
    return signal === 'SIGKILL';
  }

  it('ends with the same coins and claims after 50 kills at random moments', async () => {
    const dataDir = mkdtempSync(join(work, 'random-'));
    let kills = 0;
    let random = 12345;
    while (kills < 50) {
      random = (random * 1103515245 + 12345) & 0x7fffffff;
      // The times range from before the database is open to the middle of the import.
      if (!(await runAndKill(dataDir, 150 + (random % 900), {}))) break;
      kills++;
    }
    expect(await finish(dataDir)).toEqual(expected);
    console.log(`${kills} kills at random moments`);
    // An import that ended before the fiftieth kill continues with a fresh folder.
    while (kills < 50) {
      const again = mkdtempSync(join(work, 'again-'));
      for (let i = 0; i < 10 && kills < 50; i++, kills++) {
        random = (random * 1103515245 + 12345) & 0x7fffffff;
        if (!(await runAndKill(again, 200 + (random % 600), {}))) break;
      }
      expect(await finish(again)).toEqual(expected);
    }
  });

  for (const point of POINTS) {
    it(`ends with the same coins and claims after kills at ${point}`, async () => {
      const dataDir = mkdtempSync(join(work, 'point-'));
      let kills = 0;
      for (const count of [1, 2, 5, 20]) {
        // Small batches send every flush through the journal.
        const journal = /journal/.test(point) ? ['-dbbatchsize=200000'] : [];
        if (await runAndKill(dataDir, null, { LBCNODE_CRASH_AT: `${point}@${count}` }, journal)) kills++;
      }
      expect(kills).toBeGreaterThan(0);
      expect(await finish(dataDir)).toEqual(expected);
    });
  }
});
