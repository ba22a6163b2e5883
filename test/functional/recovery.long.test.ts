/** Interrupted starts, corrupt and missing files: acknowledged data are kept, and no invalid block is connected. */
import type { SpawnSyncReturns } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { IDENTITY_KEY } from '../../src/chain/open/folderIdentity.js';
import { coinKey } from '../../src/store/rows/keys.js';
import { RowStore } from '../../src/store/rows/rowStore.js';
import type { Bytes } from '../../src/util/bytes.js';
import { OPEN_ADDRESS } from './support/network.js';
import { ADDRESS, startRegtest, type RegtestNode } from './support/node.js';
import { runToEnd } from './support/process.js';
import { coinbaseAt, mineBlock, placeAt, transaction } from './support/rawChain.js';
import { hashOf, shown } from './support/rawMessages.js';

describe('recovery', () => {
  let dataDir: string;
  let node: RegtestNode;
  const inFolder = (...path: string[]): string => join(dataDir, 'regtest', ...path);

  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'recovery-'));
  });
  afterEach(async () => {
    await node.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const start = async (...args: string[]): Promise<void> => {
    node = await startRegtest({ dataDir, args });
  };
  const generate = (blocks: number): Promise<string[]> => node.rpc('generatetoaddress', [blocks, ADDRESS]);
  const state = async (): Promise<unknown> => {
    const { disk_size: _size, ...set } = await node.rpc<Record<string, unknown>>('gettxoutsetinfo');
    return set;
  };
  /** Runs a node that must end by itself. */
  const run = (args: string[], env?: Record<string, string>): SpawnSyncReturns<string> =>
    runToEnd(dataDir, ['-printtoconsole=0', ...args], env);

  it('continues with the block files where an interrupted start left off', async () => {
    await start();
    const tip = (await generate(120)).at(-1);
    // No block was flushed, so the next start must read all blocks from their file.
    await node.kill();
    for (const height of [50, 90]) {
      const { status, stdout } = runToEnd(dataDir, ['-printtoconsole', `-stopatheight=${height}`]);
      expect(status).toBe(0);
      expect(stdout).toMatch(new RegExp(`best block [0-9a-f]{64} at height ${height}$`, 'm'));
    }
    await start();
    expect(await node.rpc('getbestblockhash')).toBe(tip);
    const goneOn = await state();
    await node.stop();
    await start('-reindex-chainstate');
    expect(await state()).toEqual(goneOn);
  });

  it('finishes an interrupted -reindex at the next start without the option', async () => {
    await start();
    await generate(120);
    const before = await state();
    await node.stop();
    const undoBytes = statSync(inFolder('blocks', 'rev00000.dat')).size;
    expect(run(['-reindex', '-stopatheight=60']).status).toBe(0);
    await start();
    expect(await state()).toEqual(before);
    await node.stop();
    await start('-reindex');
    expect(await state()).toEqual(before);
    expect(statSync(inFolder('blocks', 'rev00000.dat')).size).toBe(undoBytes);
  });

  it('finishes a -reindex that was killed while it removed the database', async () => {
    await start();
    await generate(20);
    const before = await state();
    await node.stop();
    writeFileSync(inFolder('reindexing'), '');
    rmSync(inFolder('chainstate', 'CURRENT'));
    await start();
    expect(await state()).toEqual(before);
    expect(existsSync(inFolder('reindexing'))).toBe(false);
  });

  // The second batch completes the new database, which has not replaced the former one then.
  it.each([1, 2])(
    'finishes a -reindex-chainstate that was killed at batch %i, and updates the indexes once',
    async (batch) => {
      await start();
      const [block] = await generate(30);
      const before = await state();
      await node.stop();
      const killed = run(['-reindex-chainstate', '-txindex'], {
        LBCNODE_CRASH_AT: `flush:after-batch@${batch}`,
      });
      expect(killed.signal).toBe('SIGKILL');
      await start('-txindex');
      expect(await node.rpc('getindexinfo')).toHaveProperty('txindex');
      expect(await state()).toEqual(before);
      const { tx } = await node.rpc<{ tx: string[] }>('getblock', [block]);
      expect(await node.rpc('getrawtransaction', [tx[0], true])).toMatchObject({ blockhash: block });
      await node.stop();
      await start('-reindex-chainstate', '-claimproofwindow=100');
      expect(await state()).toEqual(before);
      expect(await node.rpc('getindexinfo')).toEqual({});
    },
  );

  it('deletes both databases with -reindex after a -reindex-chainstate that was killed between its renames', async () => {
    await start();
    const blocks = await generate(20);
    const before = await state();
    // A verdict that only the former headers contain.
    await node.rpc('invalidateblock', [blocks[15]]);
    await node.stop();
    const database = inFolder('chainstate');
    cpSync(database, `${database}.reset`, { recursive: true });
    renameSync(database, `${database}.replaced`);
    writeFileSync(`${database}.reset.journal`, '');
    await start('-reindex');
    expect(await state()).toEqual(before);
    expect(readdirSync(inFolder()).filter((name) => /chainstate\.re/.test(name))).toEqual([]);
  });

  it('does not start without a block file that it needs, nor with a shorter one', async () => {
    await start();
    await generate(20);
    const before = await state();
    await node.stop();
    for (const name of ['blk00000.dat', 'rev00000.dat']) {
      const file = inFolder('blocks', name);
      renameSync(file, `${file}.away`);
      const { status, stderr } = run([]);
      expect(status).toBe(1);
      expect(stderr).toContain(`${name} is missing or shorter than the database expects`);
      expect(existsSync(file)).toBe(false);
      const bytes = readFileSync(`${file}.away`);
      writeFileSync(file, bytes);
      truncateSync(file, bytes.length >> 1);
      expect(run([]).stderr).toContain(`${name} is missing or shorter`);
      renameSync(`${file}.away`, file);
    }
    await start();
    expect(await state()).toEqual(before);
  });

  it('reports a missing block file even if no row on disk refers to it yet', async () => {
    const file = inFolder('blocks', 'blk00001.dat');
    await start('-maxblockfilesize=65536');
    const hashes = await generate(150);
    await node.stop();
    await start('-maxblockfilesize=65536');
    while (!existsSync(file)) hashes.push(...(await generate(5)));
    await node.kill();
    renameSync(file, inFolder('lent'));
    await start('-maxblockfilesize=65536');
    expect(node.output()).toMatch(
      /Warning: \S+blk00001\.dat, which belongs to \S+rev00001\.dat, is missing\./,
    );
    expect(hashes).toContain(await node.rpc('getbestblockhash'));
    expect(await node.rpc('getblockcount')).toBeLessThan(hashes.length);
    await node.kill();
    renameSync(inFolder('lent'), file);
    await start('-maxblockfilesize=65536');
    expect(node.output()).not.toContain('is missing');
    expect(await node.rpc('getbestblockhash')).toBe(hashes.at(-1));
  });

  it('connects a valid block that corrupt rows had made invalid, once they are repaired or recomputed', async () => {
    const chainstate = inFolder('chainstate');
    /** Takes a coin out of the database, or puts it back. */
    const change = async (key: string, row: Bytes | null): Promise<Bytes | undefined> => {
      const store = await RowStore.open({ path: chainstate, cacheBytes: 1 << 20, mark: IDENTITY_KEY });
      const before = await store.get(key);
      if (row === null) store.del(key);
      else store.put(key, row);
      await store.flush();
      await store.close();
      return before;
    };
    await start();
    await node.rpc('generatetoaddress', [102, OPEN_ADDRESS]);
    const coin = hashOf(await coinbaseAt(node, 1));
    const block = mineBlock(await placeAt(node), [transaction([{ txid: coin }], [{ valueSat: 1000n }])]);
    await node.stop();
    const key = coinKey(Buffer.concat([coin, Buffer.alloc(4)]));
    const row = await change(key, null);
    await start();
    const submit = (): Promise<unknown> => node.rpc('submitblock', [block.raw.toString('hex')]);
    expect(await submit()).toBe('bad-txns-inputs-missingorspent');
    await node.stop();
    // The block remains invalid while the coin is missing in the database.
    await start();
    expect(await node.rpc('getblockcount')).toBe(102);
    expect(await node.rpc('getchaintips')).toMatchObject([
      { height: 103, status: 'invalid' },
      { height: 102 },
    ]);
    await node.stop();
    const condemned = mkdtempSync(join(tmpdir(), 'condemned-'));
    cpSync(dataDir, condemned, { recursive: true });
    await change(key, row!);
    await start();
    expect(await node.rpc('getbestblockhash')).toBe(shown(block.hash));
    await node.stop();
    rmSync(dataDir, { recursive: true });
    dataDir = condemned;
    await start('-reindex-chainstate');
    expect(await node.rpc('getbestblockhash')).toBe(shown(block.hash));
  });

  it('forgets a verdict with -reindex-chainstate', async () => {
    await start();
    const hashes = await generate(12);
    const before = await state();
    await node.rpc('invalidateblock', [hashes[6]]);
    await node.stop();
    await start();
    expect(await node.rpc('getblockcount')).toBe(6);
    await node.stop();
    await start('-reindex-chainstate');
    expect(await state()).toEqual(before);
  });

  it('writes corrupt undo data again when its block is connected again', async () => {
    await start();
    const hashes = await generate(12);
    const before = await state();
    await node.stop();
    const file = inFolder('blocks', 'rev00000.dat');
    const bytes = readFileSync(file);
    // The undo data of a block with only a coinbase are a count and a checksum.
    for (let at = 8; at < bytes.length; at += 41) bytes[at]! ^= 1;
    writeFileSync(file, bytes);
    const { status, stderr } = run([]);
    expect(status).toBe(1);
    expect(stderr).toMatch(/^Error: Corrupted block database detected: .*rev00000\.dat.*-reindex.*\n$/);
    await start('-reindex-chainstate');
    expect(await state()).toEqual(before);
    await node.rpc('invalidateblock', [hashes[2]]);
    expect(await node.rpc('getblockcount')).toBe(2);
    await node.rpc('reconsiderblock', [hashes[2]]);
    expect(await state()).toEqual(before);
  });

  it('never connects a block that is corrupt on disk', async () => {
    await start();
    const hashes = await generate(10);
    const before = await state();
    await node.rpc('invalidateblock', [hashes[8]]);
    const file = inFolder('blocks', 'blk00000.dat');
    const bytes = readFileSync(file);
    // The last byte of the second last block, which belongs to the lock time of its coinbase.
    const { size } = await node.rpc<{ size: number }>('getblock', [hashes[9]]);
    const at = bytes.length - size - 8 - 1;
    bytes[at]! ^= 1;
    writeFileSync(file, bytes);
    await node.rpc('reconsiderblock', [hashes[8]]).catch(() => undefined);
    expect(await node.exited).toBe(1);
    expect(node.output()).toContain(`block ${hashes[8]} is corrupt on disk`);
    bytes[at]! ^= 1;
    writeFileSync(file, bytes);
    await start();
    await node.rpc('reconsiderblock', [hashes[8]]);
    expect(await state()).toEqual(before);
  });

  it('stops when a block cannot be written, and continues once it can', async () => {
    await start('-maxblockfilesize=65536');
    await generate(5);
    mkdirSync(inFolder('blocks', 'blk00001.dat'));
    await expect(generate(400)).rejects.toThrow();
    expect(await node.exited).toBe(1);
    expect(node.output()).toContain('EISDIR');
    rmSync(inFolder('blocks', 'blk00001.dat'), { recursive: true });
    await start('-maxblockfilesize=65536');
    expect(await node.rpc('getblockcount')).toBeGreaterThanOrEqual(5);
    await generate(20);
  });

  it('does not change the genesis block', async () => {
    await start();
    await generate(3);
    const genesis = await node.rpc<string>('getblockhash', [0]);
    expect(await node.rpc('invalidateblock', [genesis])).toBe(null);
    expect(await node.rpc('getchaintips')).toMatchObject([{ height: 3, status: 'active' }]);
    await generate(1);
    expect(await node.rpc('getblockcount')).toBe(4);
  });
});
