/** The state of data folders after stops, kills, rebuilds and wrong use. */
import type { SpawnSyncReturns } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadBlock } from '../../src/chain/blocks/loadedBlock.js';
import { checkHeader } from '../../src/consensus/checkHeader.js';
import { regtestParams } from '../../src/params/regtest.js';
import { RowStore } from '../../src/store/rows/rowStore.js';
import { buildClaimPrefix, buildSupportPrefix, claimIdOf } from '../../src/script/claimScript.js';
import { abandonStake, ClaimSource } from './support/claimSource.js';
import { OPEN_ADDRESS } from './support/network.js';
import { ADDRESS, startRegtest, type RegtestNode } from './support/node.js';
import { runToEnd } from './support/process.js';
import { IS_LONG, longIt } from '../support/long.js';

describe('a data folder', () => {
  let dataDir: string;
  let node: RegtestNode | null = null;

  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'folder-'));
  });
  afterEach(async () => {
    await node?.stop();
    node = null;
    rmSync(dataDir, { recursive: true, force: true });
  });

  const start = async (...args: string[]): Promise<RegtestNode> => {
    node = await startRegtest({ dataDir, args });
    return node;
  };
  const stop = async (): Promise<void> => {
    await node?.stop();
    node = null;
  };
  /** Runs the node until it ends by itself. Returns its output. */
  const refused = (...args: string[]): SpawnSyncReturns<string> =>
    runToEnd(dataDir, ['-printtoconsole=0', ...args]);
  const state = async (): Promise<{ best: string; set: unknown }> => {
    const { disk_size: _size, ...set } = await node!.rpc<Record<string, unknown>>('gettxoutsetinfo');
    return { best: await node!.rpc('getbestblockhash'), set };
  };

  it('keeps the chain over a stop and a kill', async () => {
    await start();
    await node!.rpc('generatetoaddress', [150, ADDRESS]);
    const before = await state();
    await stop();
    expect(existsSync(join(dataDir, 'regtest', 'mempool.dat'))).toBe(true);
    expect(existsSync(join(dataDir, 'regtest', '.cookie'))).toBe(false);
    await start();
    expect(await state()).toEqual(before);
    await node!.rpc('generatetoaddress', [10, ADDRESS]);
    const later = await state();
    await node!.kill();
    await start();
    expect(await state()).toEqual(later);
  });

  it('rebuilds chain and claims, across a fork block that puts a name below a name whose support it spends', async () => {
    const names = ['ba', 'bac', 'bAc'];
    const claims = (): Promise<unknown[]> =>
      Promise.all(names.map((name) => node!.rpc('getclaimsforname', [name])));
    const root = async (): Promise<unknown> =>
      node!.rpc('getblockheader', [await node!.rpc('getbestblockhash')]);
    await start();
    const source = new ClaimSource(node!);
    const send = async ({ hex }: { hex: string }): Promise<void> =>
      void (await node!.rpc('sendrawtransaction', [hex]));
    await node!.rpc('generatetoaddress', [110, OPEN_ADDRESS]);
    const owner = await source.stake(buildClaimPrefix(Buffer.from('ba'), Buffer.from('v')), 100_000n);
    await send(owner);
    await send(await source.stake(buildClaimPrefix(Buffer.from('bAc'), Buffer.from('v')), 100_000n));
    await node!.rpc('generatetoaddress', [138, OPEN_ADDRESS]);
    const claimId = claimIdOf(owner.hash, 0);
    const support = await source.stake(buildSupportPrefix(Buffer.from('ba'), claimId), 50_000n);
    await send(support);
    await node!.rpc('generatetoaddress', [1, OPEN_ADDRESS]);
    expect(await claims()).toMatchObject([{ claims: [{ supports: [{}] }] }, {}, {}]);
    await send({ hex: abandonStake(support.hash, 50_000n) });
    await node!.rpc('generatetoaddress', [1, OPEN_ADDRESS]);
    expect(await node!.rpc('getblockcount')).toBe(250);
    await node!.rpc('generatetoaddress', [2, OPEN_ADDRESS]);
    const before = [await claims(), await root(), await state()];
    expect(before[0]).toMatchObject([{ claims: [{ name: 'ba' }] }, { claims: [{ name: 'bAc' }] }, {}]);
    for (const option of ['-reindex-chainstate', '-reindex']) {
      await stop();
      await start(option);
      expect([await claims(), await root(), await state()], option).toEqual(before);
    }
  });

  longIt('is compacted with -forcecompactdb, with the same contents', async () => {
    const tables = (): number =>
      readdirSync(join(dataDir, 'regtest', 'chainstate')).filter((name) => name.endsWith('.ldb')).length;
    for (let round = 0; round < 3; round++) {
      await start();
      await node!.rpc('generatetoaddress', [20, ADDRESS]);
      await stop();
    }
    await start();
    const before = await state();
    await stop();
    expect(tables()).toBeGreaterThan(1);
    await start('-forcecompactdb');
    expect(tables()).toBe(1);
    expect(await state()).toEqual(before);
  });

  it('is locked while a node runs, and the node skips unreadable files of -loadblock', async () => {
    await start(`-loadblock=${dataDir}`, `-loadblock=${join(dataDir, 'nothing')}`);
    expect(await node!.rpc('getblockcount')).toBe(0);
    const log = readFileSync(join(dataDir, 'regtest', 'debug.log'), 'utf8');
    for (const file of [dataDir, join(dataDir, 'nothing')])
      expect(log).toContain(`Could not open blocks file ${file}\n`);
    const { status, stderr } = refused();
    expect(status).toBe(1);
    expect(stderr).toMatch(
      /^Error: Cannot obtain a lock on data directory .* lbcnode is probably already running\.$/m,
    );
  });

  longIt('imports block files that were copied into it', async () => {
    await start();
    await node!.rpc('generatetoaddress', [30, ADDRESS]);
    const before = await state();
    await stop();
    const other = mkdtempSync(join(tmpdir(), 'copied-'));
    try {
      mkdirSync(join(other, 'regtest'));
      cpSync(join(dataDir, 'regtest', 'blocks'), join(other, 'regtest', 'blocks'), { recursive: true });
      const copy = await startRegtest({ dataDir: other, args: ['-reindex'] });
      try {
        expect(await copy.rpc('getbestblockhash')).toBe(before.best);
      } finally {
        await copy.stop();
      }
      // The same blocks as a file to import.
      const third = mkdtempSync(join(tmpdir(), 'imported-'));
      const imported = await startRegtest({
        dataDir: third,
        args: [`-loadblock=${join(dataDir, 'regtest', 'blocks', 'blk00000.dat')}`],
      });
      try {
        expect(await imported.rpc('getbestblockhash')).toBe(before.best);
      } finally {
        await imported.stop();
        rmSync(third, { recursive: true });
      }
    } finally {
      rmSync(other, { recursive: true });
    }
  });

  longIt('loses nothing through a truncated record at the end of a block file', async () => {
    await start();
    await node!.rpc('generatetoaddress', [5, ADDRESS]);
    await node!.kill();
    const file = join(dataDir, 'regtest', 'blocks', 'blk00000.dat');
    appendFileSync(
      file,
      Buffer.concat([Buffer.from('fae4aad1', 'hex'), Buffer.from([0, 1, 0, 0]), Buffer.alloc(20)]),
    );
    await start();
    expect(node!.output()).toMatch(
      /Warning: .*blk00000\.dat contains no complete block from byte \d+ to \d+/,
    );
    expect(await node!.rpc('getblockcount')).toBe(5);
    await node!.rpc('generatetoaddress', [3, ADDRESS]);
    await node!.kill();
    await start();
    expect(await node!.rpc('getblockcount')).toBe(8);
  });

  longIt('reports a last block that is invalid because of a flipped bit', async () => {
    await start();
    const hashes = await node!.rpc<string[]>('generatetoaddress', [3, ADDRESS]);
    const raw = Buffer.from(await node!.rpc<string>('getblock', [hashes[2], 0]), 'hex');
    await node!.kill();
    const file = join(dataDir, 'regtest', 'blocks', 'blk00000.dat');
    const content = readFileSync(file);
    const block = content.subarray(content.indexOf(raw));
    // On regtest, half of all header hashes meet the target. Bits of the claim root are flipped until the hash meets it.
    for (let bit = 0; raw.equals(block.subarray(0, raw.length)); bit++) {
      block[68 + (bit >> 3)]! ^= 1 << (bit & 7);
      const { bits } = loadBlock(block).header;
      if (checkHeader(block.subarray(0, 112), bits, regtestParams)) block.set(raw);
    }
    writeFileSync(file, content);
    await start();
    expect(node!.output()).toMatch(
      /Warning: the block at byte \d+ of .*blk00000\.dat is invalid \(bad-claim-merkle-hash\)/,
    );
    expect(await node!.rpc('getblockcount')).toBe(2);
    expect(await node!.rpc('submitblock', [raw.toString('hex')])).toBeNull();
    expect(await node!.rpc('getbestblockhash')).toBe(hashes[2]);
    await stop();
    await start();
    expect(node!.output()).not.toContain('is invalid');
  });

  it('is refused with another support delay or other fork heights, with advice', async () => {
    await start();
    await node!.rpc('generatetoaddress', [2, ADDRESS]);
    await stop();
    expect(refused('-supportdelay=proportional')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('was created with -supportdelay=100'),
    });
    expect(refused('-forkheight=allclaims@400').stderr).toContain('other fork heights');
    for (const fork of IS_LONG ? ['segwit', 'bip34', 'bip65', 'bip66'] : ['segwit'])
      expect(refused(`-forkheight=${fork}@777`).stderr).toContain('other fork heights');
    expect(refused('-claimexpiration=300,600').stderr).toContain('expiration terms');
    await start();
    expect(await node!.rpc('getblockcount')).toBe(2);
  });

  longIt('is refused if it is corrupt or belongs to another program', async () => {
    await start();
    await node!.rpc('generatetoaddress', [2, ADDRESS]);
    await stop();
    const database = join(dataDir, 'regtest', 'chainstate');
    for (const name of readdirSync(database).filter((entry) => /^(CURRENT|MANIFEST)/.test(entry))) {
      writeFileSync(join(database, name), 'garbage');
    }
    const { status, stderr } = refused();
    expect(status).toBe(1);
    expect(stderr).toContain('-reindex to rebuild');
    await start('-reindex');
    expect(await node!.rpc('getblockcount')).toBe(2);
    await stop();
    mkdirSync(join(dataDir, 'regtest', 'claimtrie'));
    expect(refused().stderr).toContain('contains the database of another program');
  });

  longIt.each(['CURRENT', 'MANIFEST', 'log', 'everything'])(
    'can be rebuilt with -reindex when its %s is lost, and is never mistaken for a folder of another program',
    async (lost) => {
      await start();
      await node!.rpc('generatetoaddress', [12, ADDRESS]);
      await stop();
      // The second start writes a table in addition to the log.
      await start();
      await node!.rpc('generatetoaddress', [3, ADDRESS]);
      const before = await state();
      await stop();
      const database = join(dataDir, 'regtest', 'chainstate');
      const pattern = {
        CURRENT: /^CURRENT/,
        MANIFEST: /^MANIFEST/,
        log: /\.log$/,
        everything: /^(?!lbcnode$)/,
      }[lost]!;
      for (const name of readdirSync(database).filter((entry) => pattern.test(entry)))
        rmSync(join(database, name), { recursive: true });
      const blocks = readFileSync(join(dataDir, 'regtest', 'blocks', 'blk00000.dat'));
      await start('-reindex');
      expect(await state()).toEqual(before);
      expect(readFileSync(join(dataDir, 'regtest', 'blocks', 'blk00000.dat')).equals(blocks)).toBe(true);
    },
  );

  longIt('quarantines a corrupt database without an identity', async () => {
    await start();
    await node!.rpc('generatetoaddress', [5, ADDRESS]);
    const before = await state();
    await stop();
    const database = join(dataDir, 'regtest', 'chainstate');
    rmSync(join(database, 'lbcnode'));
    const manifest = readdirSync(database).find((name) => name.startsWith('MANIFEST'))!;
    writeFileSync(join(database, manifest), 'garbage');
    expect(refused()).toMatchObject({ status: 1, stderr: expect.stringContaining('-reindex') });
    await start('-reindex');
    expect(await state()).toEqual(before);
    expect(readFileSync(join(`${database}.damaged`, manifest), 'utf8')).toBe('garbage');
  });

  longIt('names folders and special files in place of files in one line, with advice', async () => {
    await start();
    await node!.rpc('generatetoaddress', [2, ADDRESS]);
    await stop();
    const inFolder = (name: string): string => join(dataDir, 'regtest', name);
    // Files that the node does not need are quarantined.
    for (const name of ['mempool.dat', 'peers.dat', 'banlist.dat', 'fee_estimates.dat']) {
      rmSync(inFolder(name), { recursive: true, force: true });
      mkdirSync(join(inFolder(name), 'inside'), { recursive: true });
    }
    await start();
    for (const name of ['mempool.dat', 'peers.dat', 'banlist.dat', 'fee_estimates.dat'])
      expect(node!.output()).toContain(`Warning: ${inFolder(name)} cannot be used (it is a folder).`);
    expect(await node!.rpc('getblockcount')).toBe(2);
    await node!.stop();
    expect(await node!.exited).toBe(0);
    node = null;
    expect(existsSync(join(inFolder('mempool.dat.damaged'), 'inside'))).toBe(true);
    // Any other file stops the start.
    for (const name of ['reindexing', 'debug.log']) {
      rmSync(inFolder(name), { recursive: true, force: true });
      mkdirSync(inFolder(name));
      const { status, stderr } = refused();
      expect(status).toBe(1);
      expect(stderr).toMatch(/^Error: .*EISDIR.*\n$/);
      expect(stderr).toContain(inFolder(name));
      expect(stderr).toContain('Move it away and start again');
      rmSync(inFolder(name), { recursive: true });
    }
  });

  longIt('is not changed if its database belongs to another program', async () => {
    const path = join(dataDir, 'regtest', 'chainstate');
    mkdirSync(path, { recursive: true });
    const theirs = await RowStore.open({ path, cacheBytes: 1 << 20 });
    for (const key of ['\x0e\0obfuscate_key', 'Bbest', 'Ccoin', '~x']) theirs.put(key, Buffer.from('theirs'));
    await theirs.flush();
    await theirs.close();
    for (const args of [[], ['-reindex'], ['-reindex-chainstate']]) {
      const { status, stderr } = refused(...args);
      expect(stderr).toContain('contains the database of another program');
      expect(status).toBe(1);
    }
    const after = await RowStore.open({ path, cacheBytes: 1 << 20, mark: 'Ccoin' });
    expect(await after.getMany(['Bbest', 'Ccoin', 'Midentity'])).toEqual([
      Buffer.from('theirs'),
      Buffer.from('theirs'),
      undefined,
    ]);
    await after.close();
  });

  it('stops at a height, and by the stop method', async () => {
    const first = await start('-stopatheight=7');
    await first.rpc('generatetoaddress', [7, ADDRESS]).catch(() => undefined);
    expect(await first.exited).toBe(0);
    node = null;
    const second = await start();
    expect(await second.rpc('getblockcount')).toBe(7);
    await second.rpc('stop');
    expect(await second.exited).toBe(0);
    node = null;
  });
});
