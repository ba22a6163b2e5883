/**
 * A wallet whose disk becomes full while the node is running: one message says what to do, no acknowledged change is lost, no
 * refused change is partly stored, and the wallet works again when there is free space. The chain is on another disk.
 */
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ADDRESS } from './support/node.js';
import { CorruptedNode } from './support/corruption/runner.js';
import { keyOf } from './support/walletKeys.js';
import { canMount, mountSmall } from './support/smallDisk.js';

const TRACE = /^\s+at |node:internal|\b(?:Assertion|Type|Range)Error\b/m;
const NO_ROOM = /wallet\.db: no space is left on its disk \(ENOSPC\)\. Free disk space and start again/;
const PAGE = 4096;

describe.runIf(canMount)('a wallet on a full disk', () => {
  let folder: string;
  let disk: string;
  let walletDir: string;
  let dataDir: string;
  let node: CorruptedNode;
  const ballast = (): string => join(disk, 'ballast');

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'wallet-disk-'));
    disk = join(folder, 'disk');
    dataDir = join(folder, 'data');
    walletDir = join(disk, 'wallets');
    mkdirSync(disk);
    expect(mountSmall(disk, '16m')).toBe(true);
    mkdirSync(walletDir);
    mkdirSync(dataDir);
    await start();
    await done('generatetoaddress', 110, await done<string>('getnewaddress', 'mined'));
  });
  afterAll(async () => {
    await node.stop();
    spawnSync('umount', ['-l', disk]);
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    free();
    if (!node.isRunning) await start();
  });

  async function start(...args: string[]): Promise<void> {
    node = await CorruptedNode.start(dataDir, [
      `-walletdir=${walletDir}`,
      '-keypool=20',
      '-fallbackfee=0.0002',
      ...args,
    ]);
  }
  async function done<T>(method: string, ...params: unknown[]): Promise<T> {
    const { result, error } = await node.call(method, params);
    expect(error, method).toBeNull();
    return result as T;
  }
  /** Fills the disk except for this number of pages. */
  function fill(freePages = 0): void {
    const fd = openSync(ballast(), 'a');
    const piece = Buffer.alloc(PAGE, 1);
    let size = 0;
    try {
      for (;;) size += writeSync(fd, piece);
    } catch {
      // Full.
    }
    fsyncSync(fd);
    closeSync(fd);
    truncateSync(ballast(), size - freePages * PAGE);
  }
  const free = (): void => rmSync(ballast(), { force: true });

  /** The node ends because of a call, with one message. */
  async function endsAt(method: string, ...params: unknown[]): Promise<void> {
    const answer = await node.call(method, params).catch(() => null);
    expect(answer?.result ?? null, method).toBeNull();
    const { code } = await node.ended;
    expectNoRoom();
    expect(code).toBe(1);
  }
  function expectNoRoom(message = NO_ROOM): void {
    expect(node.stderr).toMatch(message);
    expect(node.stderr).not.toMatch(TRACE);
    expect(node.stdout).not.toMatch(TRACE);
    expect(node.stderr.trim().split('\n')).toHaveLength(1);
  }
  interface Standing {
    balance: number;
    count: number;
    unspent: string[];
  }
  async function standing(): Promise<Standing> {
    const unspent = await done<{ txid: string; vout: number }[]>('listunspent', 0);
    return {
      balance: await done('getbalance'),
      count: (await done<unknown[]>('listtransactions', '*', 100_000)).length,
      unspent: unspent.map(({ txid, vout }) => `${txid}:${vout}`).sort(),
    };
  }

  it('sends nothing that it could not save, and keeps its coins', async () => {
    const before = await standing();
    const own = await done<string>('getnewaddress', 'of before');
    for (const freePages of [0, 1, 3]) {
      fill(freePages);
      await endsAt('sendtoaddress', ADDRESS, 1.5, 'a long note '.repeat(4000));
      await start();
      // The start fails for lack of space too, unless it writes nothing.
      if (!node.isRunning) expectNoRoom(/wallets\/.*no space is left on its disk \(ENOSPC\)/);
      else await node.stop();
      free();
      await start();
      expect(await done('getrawmempool')).toEqual([]);
      expect(await standing()).toEqual(before);
    }
    expect(await done('getaddressinfo', own)).toMatchObject({ ismine: true, label: 'of before' });
    const txid = await done<string>('sendtoaddress', ADDRESS, 1.5, 'a long note '.repeat(4000));
    expect(await done('getrawmempool')).toEqual([txid]);
    await done('generatetoaddress', 1, ADDRESS);
  });

  it('imports all keys of a call or reports which, and keeps acknowledged ones', async () => {
    const names = Array.from({ length: 600 }, (_, n) => `key ${n}`);
    const requests = names.map((name) => ({
      scriptPubKey: { address: keyOf(name).legacy },
      timestamp: 'now',
      keys: [keyOf(name).wif],
    }));
    expect(await done('importmulti', requests.slice(0, 100), { rescan: false })).toHaveLength(100);
    fill(2);
    await endsAt('importmulti', requests.slice(100), { rescan: false });
    free();
    await start();
    for (const name of names.slice(0, 100))
      expect(await done('getaddressinfo', keyOf(name).legacy)).toMatchObject({ ismine: true });
    // Keys that were stored before the disk was full are already in the wallet.
    const again = await done<{ success: boolean; error?: { message: string } }[]>('importmulti', requests, {
      rescan: false,
    });
    for (const { success, error } of again)
      if (!success) expect(error!.message).toContain('already contains the private key');
    expect(again.filter(({ success }) => success).length).toBeGreaterThan(0);
    for (const name of names) expect(await done('dumpprivkey', keyOf(name).legacy)).toBe(keyOf(name).wif);
  });

  it('processes blocks again that it could not save', async () => {
    const before = await standing();
    const outputs = Object.fromEntries(
      Array.from({ length: 300 }, (_, n) => [keyOf(`key ${n}`).legacy, 0.001]),
    );
    for (let n = 0; n < 3; n++) await done('sendmany', '', outputs);
    const sent = await standing();
    expect(sent.count).toBe(before.count + 1800);
    // The wallet stores a transaction of each block, which takes more than a page.
    fill();
    await node.call('generatetoaddress', [200, keyOf('key 1').legacy]).catch(() => undefined);
    await node.ended;
    expectNoRoom();
    free();
    await start();
    const height = await done<number>('getblockcount');
    const listed = await done<{ txid: string; blockhash?: string; confirmations: number }[]>(
      'listtransactions',
      '*',
      100_000,
    );
    // The wallet knows every block of the chain.
    const first = 111;
    for (let at = first; at <= height; at++) {
      const hash = await done<string>('getblockhash', at);
      const { tx } = await done<{ tx: string[] }>('getblock', hash);
      for (const txid of tx.slice(at === first ? 1 : 0))
        expect(listed.find((one) => one.txid === txid)).toMatchObject({
          blockhash: hash,
          confirmations: height - at + 1,
        });
    }
    await done('generatetoaddress', 1, ADDRESS);
    expect(await done('getrawmempool')).toEqual([]);
  });

  it('continues unchanged if a file of another kind cannot be written', async () => {
    const before = await standing();
    await done('dumpwallet', join(folder, 'dump.txt'));
    copyFileSync(join(folder, 'dump.txt'), join(disk, 'dump.txt'));
    fill(1);
    const there = readdirSync(walletDir).sort();
    for (const [method, ...params] of [
      ['backupwallet', join(disk, 'backup.db')],
      ['dumpwallet', join(disk, 'dump2.txt')],
      ['createwallet', 'another'],
    ] as const) {
      const { result, error } = await node.call(method, params);
      expect(result, method).toBeNull();
      expect(error!.message, method).toMatch(/no space is left/);
      expect(error!.message, method).not.toMatch(TRACE);
    }
    expect(existsSync(join(disk, 'backup.db'))).toBe(false);
    expect(existsSync(join(disk, 'dump2.txt')), 'half a dump').toBe(false);
    expect(readdirSync(walletDir).sort()).toEqual(there);
    expect(node.isRunning).toBe(true);
    expect(await standing()).toEqual(before);
    free();
    await done('backupwallet', join(disk, 'backup.db'));
    await done('createwallet', 'another');
    await done('unloadwallet', 'another');
  });

  it('is unchanged if it cannot be encrypted', async () => {
    const before = await standing();
    const address = keyOf('key 5').legacy;
    const there = readdirSync(walletDir).sort();
    fill(3);
    await endsAt('encryptwallet', 'a passphrase');
    expect(readdirSync(walletDir).sort()).toEqual(there);
    free();
    await start();
    expect(await standing()).toEqual(before);
    expect(await done('dumpprivkey', address)).toBe(keyOf('key 5').wif);
    await done('encryptwallet', 'a passphrase');
    await node.call('stop');
    await node.ended;
    await start();
    await done('walletpassphrase', 'a passphrase', 600);
    expect(await done('dumpprivkey', address)).toBe(keyOf('key 5').wif);
    const { size } = statSync(join(walletDir, 'wallet.db'));
    fill(3);
    await endsAt('walletpassphrasechange', 'a passphrase', 'another');
    expect(statSync(join(walletDir, 'wallet.db')).size).toBeLessThanOrEqual(size + 64 * PAGE);
    free();
    await start();
    await done('walletpassphrase', 'a passphrase', 600);
    expect((await standing()).balance).toBe(before.balance);
  });

  it('ends with the message if there is no space when the node stops', async () => {
    fill();
    const { code } = await node.stop();
    // The wallet's best block may fit in space that the file already has.
    if (code !== 0) expectNoRoom();
    free();
    await start();
    expect(node.isRunning).toBe(true);
    expect((await node.stop()).code).toBe(0);
  });
});
