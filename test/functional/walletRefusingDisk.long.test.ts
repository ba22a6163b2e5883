/**
 * A wallet whose disk becomes read-only or fails while the node is running: one message says so, no change is acknowledged that
 * is not on disk, no acknowledged change is lost, and the wallet works again when the disk does.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CorruptedNode } from './support/corruption/runner.js';
import { ADDRESS } from './support/node.js';

const TRACE = /^\s+at |node:internal|\b(?:Assertion|Type|Range)Error\b/m;
const PRELOAD = fileURLToPath(new URL('support/refusingDisk.mjs', import.meta.url));

interface Standing {
  balance: number;
  txids: string[];
  unspent: string[];
}

// Only Linux shows which file is open.
describe.runIf(process.platform === 'linux')('a wallet on a failing disk', () => {
  const folder = mkdtempSync(join(tmpdir(), 'wallet-refused-'));
  const dataDir = join(folder, 'data');
  const walletDir = join(folder, 'wallets');
  const flag = join(folder, 'flag');
  let node: CorruptedNode;

  const start = async (): Promise<void> => {
    node = await CorruptedNode.start(
      dataDir,
      [`-walletdir=${walletDir}`, '-keypool=20', '-fallbackfee=0.0002'],
      { NODE_OPTIONS: `--import=${PRELOAD}`, REFUSING_FLAG: flag, REFUSING_FOLDER: walletDir },
    );
  };
  const refuse = (what: string): void => writeFileSync(flag, what);
  const allow = (): void => rmSync(flag, { force: true });
  async function done<T>(method: string, ...params: unknown[]): Promise<T> {
    const { result, error } = await node.call(method, params);
    expect(error, method).toBeNull();
    return result as T;
  }
  const standing = async (): Promise<Standing> => {
    const unspent = await done<{ txid: string; vout: number }[]>('listunspent', 0);
    const listed = await done<{ txid: string }[]>('listtransactions', '*', 100_000);
    return {
      balance: await done('getbalance'),
      txids: [...new Set(listed.map(({ txid }) => txid))].sort(),
      unspent: unspent.map(({ txid, vout }) => `${txid}:${vout}`).sort(),
    };
  };
  /** The node ends because of a call, which it does not answer as done. */
  async function endsAt(reported: RegExp, method: string, ...params: unknown[]): Promise<void> {
    const answer = await node.call(method, params).catch(() => null);
    expect(answer?.result ?? null, method).toBeNull();
    const { code } = await node.ended;
    expect(node.stderr).toMatch(reported);
    expect(node.stderr).not.toMatch(TRACE);
    expect(node.stdout).not.toMatch(TRACE);
    expect(node.stderr.trim().split('\n')).toHaveLength(1);
    expect(code).toBe(1);
  }

  beforeAll(async () => {
    mkdirSync(dataDir);
    mkdirSync(walletDir);
    await start();
    await done('generatetoaddress', 110, await done<string>('getnewaddress', 'mined'));
  });
  afterAll(async () => {
    await node.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    allow();
    if (!node.isRunning) await start();
  });

  it('that is read-only sends nothing and shows no address', async () => {
    const before = await standing();
    const shown = await done<string>('getnewaddress', 'shown before');
    const calls: [code: string, method: string, ...params: unknown[]][] = [
      ['EROFS', 'sendtoaddress', ADDRESS, 1.5],
      ['EACCES', 'getnewaddress', 'never shown'],
      ['EROFS', 'setlabel', shown, 'another'],
    ];
    for (const [code, method, ...params] of calls) {
      refuse(`write ${code}`);
      await endsAt(new RegExp(`wallet\\.db: .*\\(${code}\\)`, 'u'), method, ...params);
      allow();
      await start();
      expect(await done('getrawmempool')).toEqual([]);
      expect(await standing()).toEqual(before);
      expect(await done('getaddressinfo', shown)).toMatchObject({ ismine: true, label: 'shown before' });
      expect(await done('listlabels')).not.toContain('never shown');
    }
    const txid = await done<string>('sendtoaddress', ADDRESS, 1.5);
    expect(await done('getrawmempool')).toEqual([txid]);
    await done('generatetoaddress', 1, ADDRESS);
  });

  it('that cannot write acknowledges nothing, and contains a change whole or not at all', async () => {
    const before = await standing();
    refuse('sync EIO');
    await endsAt(/wallet\.db: .*\(EIO\)/, 'sendtoaddress', ADDRESS, 1.5);
    allow();
    await start();
    const after = await standing();
    const added = after.txids.filter((txid) => !before.txids.includes(txid));
    if (added.length === 0) expect(after).toEqual(before);
    else {
      expect(added).toHaveLength(1);
      expect(after.balance).toBeLessThan(before.balance - 1.5);
    }
    await done('generatetoaddress', 1, ADDRESS);
  });

  it('processes blocks again that it could not save', async () => {
    const own = await done<string>('getnewaddress', 'paid');
    const first = (await done<number>('getblockcount')) + 1;
    refuse('write EROFS');
    await node.call('generatetoaddress', [200, own]).catch(() => undefined);
    await node.ended;
    expect(node.stderr).toMatch(/wallet\.db: .*\(EROFS\)/);
    allow();
    await start();
    const height = await done<number>('getblockcount');
    const { txids } = await standing();
    for (let at = first; at <= height; at++) {
      const hash = await done<string>('getblockhash', at);
      const { tx } = await done<{ tx: string[] }>('getblock', hash);
      expect(txids, `block ${at}`).toContain(tx[0]);
    }
    expect(height).toBeGreaterThanOrEqual(first);
  });

  it('ends the start with an error if it cannot be created', async () => {
    await node.stop();
    refuse('write EROFS');
    await start();
    expect((await node.ended).code).toBe(1);
    expect(node.stderr).toMatch(/wallet\.db: .*\(EROFS\)|wallets.*\(EROFS\)/);
    expect(node.stderr).not.toMatch(TRACE);
    allow();
    await start();
    expect(node.isRunning).toBe(true);
  });
});
