/** Passphrases, imported wallets of lbrycrd, wallet options, and messages about them, through the node's RPC and log. */
import {
  appendFileSync,
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
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { hash160 } from '../../src/crypto/hash.js';
import { regtestParams } from '../../src/params/regtest.js';
import { addressPrefixesOf, encodeDestination } from '../../src/script/address.js';
import { ecdsaBackend } from '../../src/crypto/ecdsa.js';
import { formatKeyRecord } from '../../src/wallet/keys/keyRecords.js';
import { recordKey } from '../../src/wallet/store/records.js';
import { berkeleyWallet } from '../support/berkeleyFile.js';
import { until } from './support/network.js';
import { ADDRESS, startRegtest, type RegtestNode } from './support/node.js';
import { runToEnd } from './support/process.js';

interface Info {
  unlocked_until?: number;
  hdseedid: string;
  keypoolsize: number;
  txcount: number;
  immature_balance: number;
}

const PASS = 'correct horse battery';

describe('wallets', () => {
  let folder: string;
  let node: RegtestNode;
  let dataDir: string;
  const args = ['-debug=rpc', '-debug=http', '-ws'];
  const walletFile = (): string => join(dataDir, 'regtest', 'wallets', 'wallet.db');

  const call = async <T = unknown>(method: string, ...params: unknown[]): Promise<T> => {
    const { text } = await node.post(JSON.stringify({ id: 1, method, params }));
    const { result, error } = JSON.parse(text) as { result: T; error: T };
    return error ?? result;
  };
  const restart = async (...more: string[]): Promise<void> => {
    await node.stop();
    node = await startRegtest({ dataDir, args: [...args, ...more] });
  };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'wallet-migrate-'));
    dataDir = join(folder, 'node');
    mkdirSync(dataDir);
    node = await startRegtest({
      dataDir,
      args: [...args, `-walletnotify=echo %s >> ${join(folder, 'notified')}`],
    });
  });
  afterAll(async () => {
    await node.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('a command is run for each transaction, when it arrives and when a block is disconnected', async () => {
    const [hash] = await call<string[]>('generate', 1);
    const { tx } = await call<{ tx: string[] }>('getblock', hash!);
    const notified = (): string[] =>
      existsSync(join(folder, 'notified'))
        ? readFileSync(join(folder, 'notified'), 'utf8').trim().split('\n')
        : [];
    await until('the command ran', () => Promise.resolve(notified().length === 1));
    await call('invalidateblock', hash!);
    await until('it ran again', () => Promise.resolve(notified().length === 2));
    expect(new Set(notified())).toEqual(new Set(tx));
    await call('reconsiderblock', hash!);
  });

  it('clients learn of transactions, confirmations and balances of the wallet that they ask for', async () => {
    const socket = new WebSocket(node.url.replace('http', 'ws') + 'ws');
    const messages: { type: string; data: Record<string, unknown>; result?: unknown; error?: unknown }[] = [];
    socket.on('message', (data: Buffer) => messages.push(JSON.parse(data.toString())));
    await new Promise((resolve) => socket.once('open', resolve));
    const ask = async (params: object): Promise<unknown> => {
      messages.length = 0;
      socket.send(JSON.stringify({ id: 1, method: 'subscribe', params }));
      await until('the answer', () => Promise.resolve(messages.length > 0));
      return messages[0]!.error ?? messages[0]!.result;
    };
    expect(await ask({ topic: 'wallet', confirmations: 0 })).toMatchObject({ code: -8 });
    expect(await ask({ topic: 'wallet', wallet: 7 })).toMatchObject({ code: -8 });
    expect(await ask({ topic: 'wallet', wallet: 'other' })).toEqual({ subscription: 1 });
    expect(await ask({ topic: 'wallet', wallet: '', confirmations: 2 })).toEqual({ subscription: 2 });
    messages.length = 0;
    await call('generate', 1);
    await call('generatetoaddress', 1, ADDRESS);
    const ofKind = (event: string): Record<string, unknown>[] =>
      messages
        .filter(({ type, data }) => type === 'wallet' && data['event'] === event)
        .map(({ data }) => data);
    await until('the balances', () =>
      Promise.resolve(ofKind('balance').length > 0 && ofKind('transaction').length > 1),
    );
    expect(ofKind('transaction').map(({ confirmations }) => confirmations)).toEqual(
      [1, 2, 2].slice(0, ofKind('transaction').length),
    );
    expect(ofKind('transaction')[0]).toMatchObject({
      wallet: '',
      new: true,
      amount: expect.any(Number),
      blockhash: expect.any(String),
    });
    expect(ofKind('balance')[0]).toMatchObject({
      wallet: '',
      balance: 0,
      unconfirmed_balance: 0,
      immature_balance: expect.any(Number),
    });

    // A claim: one new transaction, the balances before and after, and the changes by its block.
    await call('generatetoaddress', 100, ADDRESS);
    const balanceNow = async (): Promise<object> => {
      const info = await call<Record<string, unknown>>('getwalletinfo');
      const { balance, unconfirmed_balance, immature_balance } = info;
      return { balance, unconfirmed_balance, immature_balance };
    };
    const reported = (): unknown => ofKind('balance').at(-1);
    const isReported = async (): Promise<boolean> => {
      const now = await balanceNow();
      return Object.entries(now).every(
        ([name, sum]) => (reported() as Record<string, unknown>)[name] === sum,
      );
    };
    await until('the balance before', isReported);
    messages.length = 0;
    const txid = await call<string>('claimname', 'told', '00', '0.5');
    await until('the balance after', () => Promise.resolve(ofKind('balance').length > 0));
    expect(ofKind('transaction')).toMatchObject([{ txid, new: true, confirmations: 0 }]);
    expect(ofKind('balance')).toMatchObject([await balanceNow()]);
    await call('generatetoaddress', 1, ADDRESS);
    await until('the claim', () => Promise.resolve(ofKind('claim').length > 1));
    expect(ofKind('claim')).toMatchObject([
      { wallet: '', claim: { event: 'claim', name: 'told', txid } },
      { wallet: '', claim: { name: 'told', txid } },
    ]);
    socket.close();
  });

  it('passphrases: states, errors, and nothing of them in the log', async () => {
    expect(await call('walletpassphrase', PASS, 10)).toEqual({
      code: -15,
      message: 'Error: running with an unencrypted wallet, but walletpassphrase was called.',
    });
    for (const [method, ...params] of [['walletlock'], ['walletpassphrasechange', PASS, 'x']] as [
      string,
      ...string[],
    ][])
      expect(await call(method, ...params)).toMatchObject({
        code: -15,
        message: expect.stringContaining(`but ${method} was called.`),
      });
    expect(await call('encryptwallet', '')).toMatchObject({
      code: -1,
      message: expect.stringContaining('encryptwallet <passphrase>'),
    });
    expect(await call('encryptwallet', 5)).toMatchObject({ code: -1 });
    const before = await call<Info>('getwalletinfo');
    expect(await call('encryptwallet', PASS)).toBe(
      'wallet encrypted; The keypool has been flushed and a new HD seed was generated (if you are using HD). You need to make a new backup.',
    );
    const info = await call<Info>('getwalletinfo');
    expect(info).toMatchObject({
      unlocked_until: 0,
      keypoolsize: 5,
      txcount: before.txcount,
    });
    expect(info.hdseedid).not.toBe(before.hdseedid);
    expect(await call('encryptwallet', PASS)).toEqual({
      code: -15,
      message: 'Error: running with an encrypted wallet, but encryptwallet was called.',
    });
    const wrong = { code: -14, message: 'Error: The wallet passphrase entered was incorrect.' };
    expect(await call('walletpassphrase', `${PASS}!`, 60)).toEqual(wrong);
    expect(await call('walletpassphrase', PASS, -1)).toEqual({
      code: -8,
      message: 'Timeout cannot be negative.',
    });
    expect(await call('walletpassphrase', '', 60)).toMatchObject({
      code: -1,
      message: expect.stringContaining('walletpassphrase <passphrase> <timeout>'),
    });
    expect(await call('walletpassphrase', PASS)).toMatchObject({ code: -1 });
    expect(await call('keypoolrefill', 8)).toMatchObject({ code: -13 });

    await call('setmocktime', 2_000_000_000);
    expect(await call('walletpassphrase', PASS, 1e9)).toBeNull();
    expect((await call<Info>('getwalletinfo')).unlocked_until).toBe(2_100_000_000);
    expect(await call('keypoolrefill', 8)).toBeNull();
    // A later call replaces the timer of an earlier one. Timers use elapsed time and not the mocked clock.
    expect(await call('walletpassphrase', PASS, 1)).toBeNull();
    expect((await call<Info>('getwalletinfo')).unlocked_until).toBe(2_000_000_001);
    await until('it is locked', async () => (await call<Info>('getwalletinfo')).unlocked_until === 0);
    expect(await call('keypoolrefill', 9)).toMatchObject({ code: -13 });
    expect(await call('walletpassphrase', PASS, 60)).toBeNull();
    expect(await call('walletlock')).toBeNull();
    expect(await call('keypoolrefill', 9)).toMatchObject({ code: -13 });
    expect(await call('walletpassphrasechange', 'no', 'x')).toEqual(wrong);
    expect(await call('walletpassphrasechange', PASS, '')).toMatchObject({ code: -1 });
    expect(await call('walletpassphrasechange', PASS, 'another secret')).toBeNull();
    expect(await call('walletpassphrase', PASS, 60)).toEqual(wrong);
    expect(await call('walletpassphrase', 'another secret', 60)).toBeNull();
    await call('setmocktime', 0);
    const log = node.output() + readFileSync(join(dataDir, 'regtest', 'debug.log'), 'utf8');
    expect(log).toContain('method=walletpassphrase');
    for (const secret of ['horse', 'another secret']) expect(log).not.toContain(secret);
  });

  it('killed during encryption, a wallet is encrypted or not, with all its keys', async () => {
    const own = join(folder, 'killed');
    let wasKilledBefore = false;
    // Several attempts, because at least one kill must occur before the end. More keys take longer.
    for (let attempt = 0; attempt < 3 || (!wasKilledBefore && attempt < 8); attempt++) {
      rmSync(own, { recursive: true, force: true });
      mkdirSync(own);
      const args = [`-keypool=${200 << attempt}`];
      let killed = await startRegtest({ dataDir: own, args });
      const address = await killed.rpc<string>('getnewaddress');
      void killed.rpc('encryptwallet', [PASS]).catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, [0, 100, 250][attempt] ?? 0));
      await killed.kill();
      killed = await startRegtest({ dataDir: own, args });
      const info = await killed.rpc<Info>('getwalletinfo');
      wasKilledBefore ||= info.unlocked_until === undefined;
      if (info.unlocked_until !== undefined) await killed.rpc('walletpassphrase', [PASS, 60]);
      expect(await killed.rpc('getaddressinfo', [address])).toMatchObject({ ismine: true });
      expect(typeof (await killed.rpc('dumpprivkey', [address]))).toBe('string');
      await killed.stop();
      const left = readdirSync(join(own, 'regtest', 'wallets')).filter((name) => name.includes('.tmp'));
      expect(left).toEqual([]);
    }
    expect(wasKilledBefore).toBe(true);
  });

  it('wallet.dat is converted, by a call and by -wallet=, and is not changed', async () => {
    const privateKey = Buffer.alloc(32, 5);
    const publicKey = ecdsaBackend().publicKeyOf(privateKey, true);
    const withLength = (bytes: Buffer): Buffer => Buffer.concat([Buffer.of(bytes.length), bytes]);
    const row = (key: string, value: Buffer): [Buffer, Buffer] => [Buffer.from(key, 'latin1'), value];
    const dat = berkeleyWallet([
      row(recordKey('key', withLength(publicKey)), formatKeyRecord(privateKey, publicKey)),
      row(recordKey('version'), Buffer.from('3f990200', 'hex')),
      row(recordKey('minversion'), Buffer.from('60ea0000', 'hex')),
    ]);
    const old = join(folder, 'old');
    mkdirSync(old);
    const path = join(old, 'wallet.dat');
    writeFileSync(path, dat);
    expect(await call('migratewallet', path, 'taken')).toEqual({
      name: 'taken',
      warning: '',
      records: 3,
      fromlog: false,
      keys: expect.any(Number),
      txcount: 0,
    });
    expect(await call('migratewallet', old, 'taken')).toEqual({
      code: -4,
      message: 'Wallet taken already exists.',
    });
    expect(await call('migratewallet', join(folder, 'nothing'))).toMatchObject({ code: -18 });
    expect(await call('migratewallet', walletFile(), 'x')).toMatchObject({
      code: -4,
      message: expect.stringContaining('is not a wallet of lbrycrd'),
    });
    writeFileSync(join(folder, 'torn.dat'), dat.subarray(0, 1100));
    expect(await call('migratewallet', join(folder, 'torn.dat'), 'torn')).toMatchObject({
      code: -4,
      message: expect.stringMatching(/cannot be read: .* dumpwallet/),
    });
    expect(await call('listwallets')).toEqual(['', 'taken']);
    expect(readdirSync(old)).toEqual(['wallet.dat']);
    await restart(`-wallet=${path}`);
    expect(await call('listwallets')).toEqual([path]);
    const address = encodeDestination(
      { type: 'pubkeyhash', hash: hash160(publicKey) },
      addressPrefixesOf(regtestParams),
    );
    expect(await call('getaddressinfo', address)).toMatchObject({ ismine: true });
    expect(await call('getwalletinfo')).toMatchObject({ walletversion: 60_000 });
    expect(readFileSync(path)).toEqual(dat);
    // The upgraded wallet has a seed and a chain for change, and all old keys of the pool.
    await restart(`-wallet=${path}`, '-upgradewallet');
    expect(await call('getwalletinfo')).toMatchObject({
      walletversion: 169_900,
      hdseedid: expect.any(String),
    });
  });

  it('transactions are removed and found again, and a corrupt file is salvaged', async () => {
    await restart();
    const before = await call<Info>('getwalletinfo');
    for (const mode of ['1', '2']) {
      await restart(`-zapwallettxes=${mode}`);
      expect(await call('getwalletinfo')).toMatchObject({
        txcount: before.txcount,
        immature_balance: before.immature_balance,
      });
    }
    await node.stop();
    const bytes = readFileSync(walletFile());
    bytes[bytes.length >> 1]! ^= 1;
    writeFileSync(walletFile(), bytes);
    appendFileSync(walletFile(), 'rubbish');
    const failed = runToEnd(dataDir, []);
    expect(failed.status).not.toBe(0);
    expect(failed.stderr + failed.stdout).toContain('is corrupt at byte');
    node = await startRegtest({ dataDir, args: [...args, '-salvagewallet'] });
    expect(await call('getwalletinfo')).toMatchObject({
      txcount: before.txcount,
      hdseedid: expect.any(String),
    });
    expect(await call('walletpassphrase', 'another secret', 60)).toBeNull();
    expect(
      readdirSync(join(dataDir, 'regtest', 'wallets')).filter((name) => name.endsWith('.bak')),
    ).toHaveLength(1);
  });

  it.each([
    [
      ['-wallet=a', '-wallet=b', '-salvagewallet'],
      '-salvagewallet is only allowed with a single wallet file',
    ],
    [
      ['-wallet=a', '-wallet=b', '-zapwallettxes'],
      '-zapwallettxes is only allowed with a single wallet file',
    ],
    [
      ['-wallet=a', '-wallet=b', '-upgradewallet'],
      '-upgradewallet is only allowed with a single wallet file',
    ],
    [['-sysperms'], '-sysperms is not allowed in combination with enabled wallet functionality'],
    [['-prune=600', '-rescan'], 'Rescans are not possible in pruned mode.'],
    [['-walletdir=/not/there'], 'Specified -walletdir "/not/there" does not exist'],
    [['-walletdir=/etc/passwd'], 'Specified -walletdir "/etc/passwd" is not a directory'],
    [['-walletdir=.'], 'Specified -walletdir "." is a relative path'],
  ])('refuses %j', (options, text) => {
    const { status, stdout, stderr } = runToEnd(mkdtempSync(join(folder, 'refused-')), options);
    expect(status).not.toBe(0);
    expect(stdout + stderr).toContain(text);
  });
});
