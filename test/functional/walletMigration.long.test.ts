/** Imports wallets that lbrycrd wrote before it was stopped or killed. Our answers about them equal those of lbrycrd. */
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inSlices } from '../../src/scheduler/slices.js';
import { readBerkeleyDb } from '../../src/wallet/transfer/berkeleyDb.js';
import { replayLog } from '../../src/wallet/transfer/berkeleyReplay.js';
import { until } from './support/network.js';
import { startRegtest, type RegtestNode } from './support/node.js';
import { referenceBinary } from './support/reference.js';
import { startWalletReference, type WalletReference } from './support/walletReference.js';

const binary = referenceBinary();
const FULL = process.env['LBCNODE_FULL'] === '1';

type Info = Record<string, unknown>;

/** Names and hashes of all files in a folder. */
function stateOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(folder, name)).isFile())
    .map(
      (name) =>
        `${name} ${createHash('sha256')
          .update(readFileSync(join(folder, name)))
          .digest('hex')}`,
    )
    .sort();
}

const logOf = (folder: string): { number: number; bytes: Buffer }[] =>
  readdirSync(join(folder, 'database'))
    .filter((name) => name.startsWith('log.'))
    .map((name) => ({ number: Number(name.slice(4)), bytes: readFileSync(join(folder, 'database', name)) }));

/** Rows as text. Only kinds that a start or a stop does not change. */
const lastingRows = (file: Buffer): Set<string> =>
  new Set(
    [...readBerkeleyDb(file, 'main')]
      .map(([key, value]) => `${key.toString('latin1')} ${value.toString('hex')}`)
      .filter((row) => !/^.(bestblock|version|minversion|orderposnext)/.test(row)),
  );

describe.skipIf(!binary)('wallets of lbrycrd', () => {
  let folder: string;
  let node: RegtestNode;
  let reference: WalletReference;
  const walletsOf = (of: string): string => join(of, 'regtest', 'wallets');

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'migration-'));
  });
  afterAll(async () => {
    await node?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const call = async <T>(wallet: string, method: string, ...params: unknown[]): Promise<T> => {
    const { text } = await node.post(
      JSON.stringify({ id: 1, method, params }),
      `/wallet/${encodeURIComponent(wallet)}`,
    );
    const { result, error } = JSON.parse(text) as { result: T; error: { code: number } | null };
    return error ? (error as T) : result;
  };

  const restart = async (args: string[]): Promise<void> => {
    await node.stop();
    node = await startRegtest({ dataDir: join(folder, 'ours'), args });
  };

  /** The fields of `getwalletinfo` that both report the same wallet. */
  const same = ({ walletname: _name, unlocked_until: _until, scanning: _ours, ...info }: Info): Info => info;
  /** An empty pool is as old as the call. */
  const ageless = ({ keypoololdest: _oldest, ...info }: Info): Info => same(info);

  it('that were killed during a write are converted with the records of their log, like in the reference', async () => {
    const own = join(folder, 'killed');
    mkdirSync(own);
    reference = await startWalletReference(binary!, own, ['-keypool=5', '-flushwallet=0']);
    const early = readFileSync(join(walletsOf(own), 'wallet.dat'));
    await reference.rpc('generate', 110);
    let address = '';
    for (let i = 0; i < 60; i++)
      address = await reference.rpc('getnewaddress', `label ${i}`, i % 2 ? 'legacy' : 'bech32');
    for (let i = 1; i < 6; i++) await reference.rpc('sendtoaddress', address, i / 10);
    for (let i = 0; i < 30; i++) await reference.rpc('setlabel', address, 'x'.repeat(i * 40));
    await reference.rpc('claimname', 'hello', '001122', 0.5);
    await reference.rpc('generate', 3);
    const small = logOf(walletsOf(own));
    if (small.some(({ number }) => number === 1)) {
      // The log contains all changes of the file since its creation.
      const again = await inSlices(replayLog(early, small, { file: 0, offset: 0 }));
      const now = await inSlices(replayLog(readFileSync(join(walletsOf(own), 'wallet.dat')), small));
      expect(lastingRows(again)).toEqual(lastingRows(now));
    }
    // QUIRK: lbrycrd does not find its chain again if it is killed before its first clean stop.
    await reference.end();
    reference = await startWalletReference(binary!, own, ['-keypool=5', '-flushwallet=0']);
    let turns = 0;
    for (let found = 0; found < (FULL ? 5 : 1) && turns < 30; turns++) {
      void reference.rpc('keypoolrefill', 3000 * (turns + 1)).catch(() => undefined);
      await sleep(300 + 150 * turns);
      await reference.end('SIGKILL');
      const left = walletsOf(own);
      const file = readFileSync(join(left, 'wallet.dat'));
      const whole = await inSlices(replayLog(file, logOf(left)));
      if (!whole.equals(file)) found++;
      // lbrycrd on a copy of the files. Its key pool is small, so that it creates no keys.
      const copy = join(folder, `copy${turns}`);
      cpSync(left, walletsOf(copy), { recursive: true });
      const other = await startWalletReference(binary!, copy, ['-keypool=1']);
      await other.end();
      expect(lastingRows(whole)).toEqual(lastingRows(readFileSync(join(walletsOf(copy), 'wallet.dat'))));
      reference = await startWalletReference(binary!, own, ['-keypool=5', '-flushwallet=0']);
    }
    expect(turns).toBeLessThan(30);
    void reference.rpc('keypoolrefill', 60_000).catch(() => undefined);
    await sleep(700);
    await reference.end('SIGKILL');
  });

  it('are converted with their log, and the old folder is not changed', async () => {
    const own = join(folder, 'killed');
    const left = walletsOf(own);
    const before = stateOf(left);
    node = await startRegtest({ dataDir: join(folder, 'ours') });
    const answer = await node.rpc<Info>('migratewallet', [join(left, 'wallet.dat'), 'taken']);
    expect(answer).toMatchObject({ name: 'taken', warning: '' });
    expect(stateOf(left)).toEqual(before);

    reference = await startWalletReference(binary!, own, ['-keypool=1', '-listen=1']);
    await node.rpc('addnode', [`127.0.0.1:${reference.p2pPort}`, 'onetry']);
    const height = await reference.rpc<number>('getblockcount');
    await until('ours follows the reference', async () => (await node.rpc('getblockcount')) === height);
    expect(same(await call<Info>('taken', 'getwalletinfo'))).toEqual(
      same(await reference.rpc<Info>('getwalletinfo')),
    );
    // Both continue with the same keys.
    for (const type of ['legacy', 'p2sh-segwit', 'bech32']) {
      expect(await call('taken', 'getnewaddress', '', type)).toBe(
        await reference.rpc('getnewaddress', '', type),
      );
      expect(await call('taken', 'getrawchangeaddress', type)).toBe(
        await reference.rpc('getrawchangeaddress', type),
      );
    }
  });

  it('that are encrypted open with their passphrase, also at -wallet=', async () => {
    const own = join(folder, 'killed');
    // lbrycrd may shut down after the encryption.
    await reference.rpc('encryptwallet', 'open sesame');
    await reference.rpc('walletpassphrase', 'open sesame', 60);
    const address = await reference.rpc<string>('getnewaddress', 'after', 'legacy');
    const key = await reference.rpc<string>('dumpprivkey', address);
    const info = await reference.rpc<Info>('getwalletinfo');
    await reference.end('SIGKILL');
    const before = stateOf(join(walletsOf(own), 'database'));
    const dat = join(walletsOf(own), 'wallet.dat');
    const bytes = readFileSync(dat);

    await restart([`-wallet=${dat}`, '-wallet=taken']);
    expect(await node.rpc('listwallets')).toEqual([dat, 'taken']);
    expect(readFileSync(dat)).toEqual(bytes);
    expect(stateOf(join(walletsOf(own), 'database'))).toEqual(before);
    expect(ageless(await call<Info>(dat, 'getwalletinfo'))).toEqual(ageless(info));
    expect(await call(dat, 'walletpassphrase', 'open sesam', 60)).toMatchObject({ code: -14 });
    expect(await call(dat, 'walletpassphrase', 'open sesame', 60)).toBeNull();
    const dumped = await call<unknown>(dat, 'dumpprivkey', address);
    if (typeof dumped === 'string') expect(dumped).toBe(key);
    expect(await call(dat, 'walletpassphrasechange', 'open sesame', 'another')).toBeNull();
    expect(await call(dat, 'walletlock')).toBeNull();
    expect(await call(dat, 'walletpassphrase', 'open sesame', 60)).toMatchObject({ code: -14 });
    expect(await call(dat, 'walletpassphrase', 'another', 60)).toBeNull();
    await restart([`-wallet=${dat}`]);
    expect(await call(dat, 'walletpassphrase', 'another', 60)).toBeNull();
    expect(readFileSync(dat)).toEqual(bytes);
  });

  it('that the reference is using are refused', async () => {
    const own = join(folder, 'killed');
    reference = await startWalletReference(binary!, own, ['-keypool=1']);
    const answer = await call<Info>(
      join(walletsOf(own), 'wallet.dat'),
      'migratewallet',
      walletsOf(own),
      'live',
    );
    expect(String(answer['message'])).toContain('is in use. Stop lbrycrd first.');
    await reference.end();
    // A wallet that was imported from this file is loaded. A second import would be a copy of it.
    const dat = join(walletsOf(own), 'wallet.dat');
    expect(await call(dat, 'migratewallet', walletsOf(own), 'closed')).toMatchObject({
      code: -1,
      message: expect.stringContaining(`It is a copy of the wallet ${dat}, which is loaded`),
    });
    expect(existsSync(join(folder, 'ours', 'regtest', 'wallets', 'closed'))).toBe(false);
    await call(dat, 'unloadwallet');
    // After a clean stop, the log is not needed.
    expect(await node.rpc('migratewallet', [walletsOf(own), 'closed'])).toMatchObject({
      fromlog: false,
      warning: '',
    });
  });
});
