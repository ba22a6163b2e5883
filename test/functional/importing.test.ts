/** Calls are answered while blocks are read from files, and a later start finishes an interrupted import. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ADDRESS, freePort, startRegtest } from './support/node.js';
import { startProcess, type NodeProcess } from './support/process.js';
import { longIt } from '../support/long.js';

const IMPORTED = 'All blocks are imported';
const ANSWERS_EARLY = 'Importing blocks; RPC calls are answered meanwhile';
const BLOCKS = 10;
/** Number of copies of the blocks. Known blocks are read and skipped, which usually takes long enough for a call. */
const TIMES = 6000;
/**
 * Number of attempts, each with four times as many copies of the blocks, in case the machine is fast or the test was
 * interrupted.
 */
const ATTEMPTS = 4;

interface ChainInfo {
  blocks: number;
  initialblockdownload: boolean;
  verificationprogress: number;
}

describe('while blocks are imported', () => {
  let dataDir: string;
  let port: number;
  const running: NodeProcess[] = [];

  const begin = async (): Promise<void> => {
    dataDir = mkdtempSync(join(tmpdir(), 'importing-'));
    port = await freePort();
  };
  const end = async (): Promise<void> => {
    for (const { child, exited } of running.splice(0)) {
      child.kill('SIGKILL');
      await exited;
    }
    rmSync(dataDir, { recursive: true, force: true });
  };
  beforeEach(begin);
  afterEach(end);

  /** Calls `ask` during an import of this number of copies. If the import ends first, it is repeated with more copies. */
  async function meanwhile(ask: (times: number) => Promise<void>): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await ask(TIMES * 4 ** (attempt - 1));
        return;
      } catch (error) {
        const isOver = running.at(-1)?.output().includes(IMPORTED) === true;
        if (!isOver || attempt === ATTEMPTS) throw error;
        await end();
        await begin();
      }
    }
  }

  /** Starts a node and resolves once it is loaded. */
  async function start(...args: string[]): Promise<NodeProcess> {
    const node = startProcess(dataDir, ['-rpcuser=u', '-rpcpassword=p', `-rpcport=${port}`, ...args]);
    running.push(node);
    await node.printed('Done loading');
    return node;
  }

  async function ask(method: string, ...params: unknown[]): Promise<{ result: unknown; error: unknown }> {
    const answer = await fetch(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from('u:p').toString('base64')}` },
      body: JSON.stringify({ method, params }),
    });
    return (await answer.json()) as { result: unknown; error: unknown };
  }
  const info = async (): Promise<ChainInfo> => (await ask('getblockchaininfo')).result as ChainInfo;

  /** A chain in a folder, and its block file. */
  async function mineChain(folder: string): Promise<Buffer> {
    const node = await startRegtest({ dataDir: folder });
    await node.rpc('generatetoaddress', [BLOCKS, ADDRESS]);
    await node.stop();
    return readFileSync(join(folder, 'regtest', 'blocks', 'blk00000.dat'));
  }

  const repeated = (blocks: Buffer, times: number): Buffer =>
    Buffer.concat(Array.from({ length: times }, () => blocks));

  it('from a file, calls are answered like in the initial download, and a stop interrupts it', async () => {
    const other = mkdtempSync(join(tmpdir(), 'importing-'));
    const file = join(other, 'blocks.dat');
    const mined = await mineChain(other);
    await meanwhile(async (times) => {
      writeFileSync(file, repeated(mined, times));
      const node = await start(`-loadblock=${file}`);
      expect(node.output()).toContain(ANSWERS_EARLY);
      expect(await info()).toMatchObject({ initialblockdownload: true });
      expect(await ask('savemempool')).toMatchObject({ error: { code: -1 } });
      expect(await ask('getconnectioncount')).toMatchObject({ result: 0, error: null });
      const { blocks } = await info();
      const { result: made } = await ask('generatetoaddress', 1, ADDRESS);
      expect(made).toHaveLength(1);
      expect((await info()).blocks).toBeGreaterThan(blocks);
      await ask('stop');
      expect(await node.exited).toBe(0);
      expect(node.output()).toMatch(/Import of blocks\.dat interrupted at \d+ blocks/);
    });
    rmSync(other, { recursive: true });
  });

  longIt('from the own block files, a kill or a stop leaves the rest to the next start', async () => {
    await meanwhile(async (times) => {
      const blocks = await mineChain(dataDir);
      writeFileSync(join(dataDir, 'regtest', 'blocks', 'blk00000.dat'), repeated(blocks, times));
      const killed = await start('-reindex');
      expect(await info()).toMatchObject({ initialblockdownload: true });
      killed.child.kill('SIGKILL');
      await killed.exited;
      expect(killed.output()).not.toContain(IMPORTED);

      const stopped = await start();
      expect(stopped.output()).toContain(ANSWERS_EARLY);
      expect((await ask('getbestblockhash')).error).toBeNull();
      stopped.child.kill('SIGTERM');
      expect(await stopped.exited).toBe(0);
      expect(stopped.output()).not.toContain('Reindexing finished');
    });

    const finished = await start();
    await finished.printed('Reindexing finished');
    expect(await info()).toMatchObject({ blocks: BLOCKS, initialblockdownload: false });
    finished.child.kill('SIGTERM');
    expect(await finished.exited).toBe(0);

    const again = await start();
    expect(again.output()).not.toContain(ANSWERS_EARLY);
    expect(await info()).toMatchObject({ blocks: BLOCKS });
  });
});

describe('a tip from the future', () => {
  longIt('is refused, unless the clock agrees', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'future-'));
    const nowSec = Math.floor(Date.now() / 1000);
    const node = await startRegtest({ dataDir, args: [`-mocktime=${nowSec + 3 * 3600}`] });
    await node.rpc('generatetoaddress', [1, ADDRESS]);
    expect(await node.rpc('uptime')).toBeGreaterThanOrEqual(3 * 3600 - 60);
    await node.stop();
    await expect(startRegtest({ dataDir })).rejects.toThrow(
      /Error: The block database contains a block which appears to be from the future\..*\.\nPlease restart with -reindex or -reindex-chainstate to recover\./,
    );
    const later = await startRegtest({ dataDir, args: [`-mocktime=${nowSec + 3600}`] });
    expect(await later.rpc('getblockcount')).toBe(1);
    await later.stop();
    rmSync(dataDir, { recursive: true });
  });
});
