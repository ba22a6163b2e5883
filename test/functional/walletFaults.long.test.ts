/** Wallets while the node rebuilds its chain or has pruned blocks, and with a log of all categories. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sha256 } from '../../src/crypto/hash.js';
import { toHex } from '../../src/util/bytes.js';
import { ADDRESS, startRegtest, type RegtestNode } from './support/node.js';
import { keyOf } from './support/walletKeys.js';

/** The names of private keys. */
const NAMES = ['one', 'two', 'three', 'four', 'five', 'six'];

let folder: string;
let node: RegtestNode | null = null;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'wallet-faults-'))));
afterEach(async () => {
  await node?.stop();
  node = null;
  rmSync(folder, { recursive: true, force: true });
});

type Call = <T>(method: string, ...params: unknown[]) => Promise<T>;

/** Starts the node again. */
async function start(args: readonly string[]): Promise<Call> {
  await node?.stop();
  const started = await startRegtest({
    dataDir: folder,
    args: ['-keypool=20', '-fallbackfee=0.0002', ...args],
  });
  node = started;
  return (method, ...params) => started.rpc(method, params);
}

/** The state of a wallet according to its own answers. */
async function standOf(rpc: Call): Promise<unknown> {
  return {
    balances: [await rpc('getbalance'), await rpc('getunconfirmedbalance')],
    unspent: ((await rpc('listunspent', 0)) as { txid: string; vout: number; amount: number }[])
      .map(({ txid, vout, amount }) => `${txid} ${vout} ${amount}`)
      .sort(),
    transactions: ((await rpc('listtransactions', '*', 1000)) as Record<string, unknown>[]).map(
      ({ txid, category, amount, confirmations, blockhash }) =>
        [txid, category, amount, confirmations, blockhash].join(' '),
    ),
    claims: ((await rpc('listnameclaims')) as { name: string; txid: string }[]).map(({ name, txid }) => [
      name,
      txid,
    ]),
  };
}

describe('a wallet', () => {
  it('is the same after the chain was rebuilt', async () => {
    let rpc = await start([]);
    const own = await rpc<string>('getnewaddress', 'own');
    await rpc('generatetoaddress', 110, own);
    await rpc('sendtoaddress', ADDRESS, 1.5, 'a note');
    await rpc('claimname', 'name', 'aa', 0.5);
    await rpc('generatetoaddress', 2, ADDRESS);
    await rpc('sendtoaddress', ADDRESS, 0.25);
    const before = await standOf(rpc);
    for (const option of ['-reindex', '-reindex-chainstate']) {
      await node!.stop();
      // The mempool file is removed, so only the wallet has the unconfirmed transaction.
      rmSync(join(folder, 'regtest', 'mempool.dat'));
      rpc = await start([option]);
      // The wallet is loaded after the import of all blocks, and then sends its unconfirmed transaction.
      expect(await rpc<number>('getblockcount')).toBe(112);
      expect(await rpc<string[]>('getrawmempool')).toHaveLength(1);
      expect(await standOf(rpc)).toEqual(before);
    }
    // It continues from there.
    await rpc('generatetoaddress', 1, ADDRESS);
    expect(await rpc<number>('getunconfirmedbalance')).toBe(0);
  });

  it('that is behind the pruned blocks is refused, and other wallets are not', async () => {
    // Blocks in files of their own size, so that there are some to prune.
    const args = ['-prune=1', '-maxblockfilesize=65536'];
    let rpc = await start([]);
    const refusal =
      /Error loading old: Prune: last wallet synchronisation goes beyond pruned data\. You need to -reindex \(download the whole blockchain again in case of pruned node\)/;
    await rpc('createwallet', 'old');
    await rpc('generatetoaddress', 1, ADDRESS);
    await rpc('unloadwallet', 'old');
    rpc = await start(args);
    // Source: `nPruneAfterHeight`.
    await rpc('generatetoaddress', 1050, ADDRESS);
    const height = await rpc<number>('getblockcount');
    const balance = await rpc('getbalance');
    const last = await rpc<number>('pruneblockchain', height - 300);
    expect(last).toBeGreaterThan(10);
    await expect(rpc('loadwallet', 'old')).rejects.toMatchObject({
      code: -4,
      message: expect.stringMatching(refusal),
    });
    expect(await rpc('getbalance')).toBe(balance);
    expect(await rpc('listwallets')).toEqual(['']);
    // The default wallet, which was loaded while blocks were pruned, can be loaded again.
    rpc = await start(args);
    expect(await rpc('listwallets')).toEqual(['']);
  });

  it('logs no secret at any log level', async () => {
    const rpc = await start(['-debug=1', '-deprecatedrpc=signrawtransaction', '-printtoconsole']);
    const passwords = ['correct horse battery', 'staple it all together', 'never the right one'];
    const keys = NAMES.map(keyOf);
    const secrets = [...passwords, ...keys.map(({ wif }) => wif)];
    const attempt = (method: string, ...params: unknown[]): Promise<unknown> =>
      rpc(method, ...params).catch((error: unknown) => error);
    const own = await rpc<string>('getnewaddress');
    await rpc('generatetoaddress', 101, own);
    secrets.push(await rpc<string>('dumpprivkey', own));
    expect(await attempt('importprivkey', keys[0]!.wif, '', false)).toBeNull();
    await attempt('importprivkey', `${keys[0]!.wif}x`, '', false);
    const request = { scriptPubKey: { address: keys[1]!.legacy }, timestamp: 'now', keys: [keys[1]!.wif] };
    const refused = { ...request, keys: [keys[2]!.wif] };
    expect(await attempt('importmulti', [request, refused], { rescan: false })).toMatchObject([
      { success: true },
      { success: false },
    ]);
    const [coin] = await rpc<{ txid: string; vout: number }[]>('listunspent');
    const raw = await rpc<string>('createrawtransaction', [coin], { [ADDRESS]: 1 });
    for (const method of ['signrawtransaction', 'signrawtransactionwithkey'])
      await (method === 'signrawtransaction'
        ? attempt(method, raw, [], [keys[3]!.wif])
        : attempt(method, raw, [keys[3]!.wif]));
    await attempt('signmessagewithprivkey', keys[4]!.wif, 'a message');
    await attempt('getdescriptorinfo', `pkh(${keys[4]!.wif})`);
    await attempt('scantxoutset', 'start', [`pkh(${keys[4]!.wif})`]);
    expect(await attempt('sethdseed', true, keys[5]!.wif)).toBeNull();
    const dump = join(folder, 'dump.txt');
    await rpc('dumpwallet', dump);
    for (const line of readFileSync(dump, 'utf8').split('\n')) {
      const [secret] = line.split(' ');
      if (/^[5c][1-9A-HJ-NP-Za-km-z]{50,51}$/.test(secret!)) secrets.push(secret!);
      const master = /(?:tprv|xprv)\w+/.exec(line);
      if (master) secrets.push(master[0]);
    }
    expect(secrets.length).toBeGreaterThan(50);
    await attempt('importwallet', dump);
    await rpc('encryptwallet', passwords[0]);
    await attempt('walletpassphrase', passwords[2], 60);
    await rpc('walletpassphrase', passwords[0], 600);
    await rpc('sendtoaddress', ADDRESS, 0.25);
    await rpc('walletpassphrasechange', passwords[0], passwords[1]);
    await attempt('walletpassphrasechange', passwords[2], passwords[1]);
    await rpc('walletpassphrase', passwords[1], 600);
    await rpc('walletlock');
    // Secrets are also passed in place of other parameters.
    await attempt('walletpassphrase', { passphrase: passwords[0] }, passwords[1]);
    await attempt('importprivkey', [keys[0]!.wif]);
    await attempt('getnewaddress', '', keys[0]!.wif);
    await attempt('nosuchmethod', passwords[0]);
    const log = join(folder, 'regtest', 'debug.log');
    expect(existsSync(log)).toBe(true);
    const reported = node!.output() + readFileSync(log, 'utf8');
    expect(reported).toContain('method=walletpassphrase');
    const hex = NAMES.map((name) => toHex(sha256(Buffer.from(name))));
    for (const secret of [...secrets, ...hex]) expect(reported).not.toContain(secret);
  });
});
