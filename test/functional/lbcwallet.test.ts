/**
 * The wallet port (`-walletrpcport`): the methods of lbcwallet with its answers and errors, for a wallet that the node's own port
 * can access too.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sha256 } from '../../src/crypto/hash.js';
import { networkPrefixes } from '../../src/client/claimOutputs.js';
import { lbcwalletTable } from '../../src/rpc/declare/lbcwalletTable.js';
import { METHODS } from '../../src/rpc/declare/methodTable.js';
import { encodeDestination } from '../../src/script/address.js';
import { encodeSecret } from '../../src/script/wif.js';
import { destinationForKey } from '../../src/signing/outputType.js';
import { signingKeyOf } from '../../src/signing/signingProvider.js';
import { checkedCall, type Failure } from './support/checkedCall.js';
import { ADDRESS, freePort, startRegtest, type RegtestNode } from './support/node.js';

const table = lbcwalletTable(METHODS);
const prefixes = networkPrefixes('regtest');
const KEY = signingKeyOf(sha256(Buffer.from('imported')), true);

interface Item {
  account: string;
  address?: string;
  amount: number;
  category: string;
  confirmations: number;
  fee?: number;
  txid: string;
  vout: number;
}

interface Unspent {
  txid: string;
  vout: number;
  account: string;
  address: string;
  amount: number;
  confirmations: number;
  isstake: boolean;
}

describe('the wallet port', () => {
  let node: RegtestNode;
  let url: string;
  const call = async <T = string>(method: string, ...params: readonly unknown[]): Promise<T> => {
    const { result, error } = await checkedCall<T>(url, table.find(method, 'lbcd'), method, params);
    if (error !== null) throw new Error(`${method} ${JSON.stringify(params)}: ${JSON.stringify(error)}`);
    return result;
  };
  const refused = async (method: string, ...params: readonly unknown[]): Promise<Failure> => {
    const { result, error } = await checkedCall(url, undefined, method, params);
    if (error === null)
      throw new Error(`${method} ${JSON.stringify(params)} answered ${JSON.stringify(result)}`);
    return error;
  };
  const mine = (blocks = 1): Promise<string[]> => node.rpc('generatetoaddress', [blocks, ADDRESS]);

  beforeAll(async () => {
    const port = await freePort();
    node = await startRegtest({
      args: [`-walletrpcport=${port}`, '-keypool=5'],
    });
    url = node.url.replace(`:${node.rpcPort}/`, `:${port}/`);
    await node.rpc('generate', [10]);
    await mine(100);
  });
  afterAll(() => node.stop());

  it('uses the password of the RPC port, and listens on the loopback interface only', async () => {
    const { origin } = new URL(url);
    const body = JSON.stringify({ id: 1, method: 'getblockcount', params: [] });
    expect((await fetch(origin, { method: 'POST', body })).status).toBe(401);
    const authorization = `Basic ${Buffer.from('regtest:wrong').toString('base64')}`;
    expect((await fetch(origin, { method: 'POST', headers: { authorization }, body })).status).toBe(401);
    const log = readFileSync(join(node.dataDir, 'regtest', 'debug.log'), 'utf8');
    const places = [...log.matchAll(/The methods of lbcwallet are served at (\S+) port/g)].map(
      ([, host]) => host,
    );
    expect(places).toContain('127.0.0.1');
    expect(places.every((host) => host === '127.0.0.1' || host === '::1')).toBe(true);
    expect(existsSync(join(node.dataDir, 'regtest', '.cookie'))).toBe(false);
  });

  it('forwards calls about the chain, in the profile of lbcd', async () => {
    const height = await node.rpc<number>('getblockcount');
    const hash = await node.rpc<string>('getbestblockhash');
    expect(await call('getblockcount')).toBe(height);
    expect(await call('getbestblock')).toEqual({ hash, height });
    expect(await call('getbestblockhash')).toBe(hash);
    expect(await call('normalize', 'ABC')).toEqual({ normalizedname: 'abc' });
    expect(await call('help')).toContain('listalltransactions');
    expect(await call('help', 'createnewaccount')).toContain('account');
    expect((await refused('nosuchmethod')).code).toBe(-32601);
    expect(await call('getinfo')).toMatchObject({
      blocks: height,
      staked: 0,
      paytxfee: 0,
      unlocked_until: 0,
    });
    // The node's port does not know these methods. A path of another profile on the wallet port has other answers.
    await expect(node.rpc('listalltransactions')).rejects.toMatchObject({ code: -32601 });
    const other = await checkedCall<unknown>(`${url}lbrycrd`, undefined, 'getbalance', ['*']);
    expect(other.error === null || other.error.code !== -32601).toBe(true);
  });

  it('has its own accounts, which are not the labels of the RPC port', async () => {
    expect(Object.keys(await call<object>('listaccounts'))).toEqual(['default', 'imported']);
    expect(await call('createnewaccount', 'savings')).toBeNull();
    expect(await call('createnewaccount', 'travel')).toBeNull();
    expect(await call('renameaccount', 'travel', 'journeys')).toBeNull();
    expect(Object.keys(await call<object>('listaccounts'))).toEqual([
      'default',
      'imported',
      'journeys',
      'savings',
    ]);
    const address = await call('getaccountaddress', 'savings');
    expect(await call('getaccountaddress', 'savings')).toBe(address);
    const bech32 = await call('getnewaddress', 'savings', 'bech32');
    expect(bech32).toMatch(/^rlbc1/);
    expect(await call('getaddressesbyaccount', 'savings')).toEqual([address, bech32]);
    expect(await call('getaddressesbyaccount', 'savings', 'legacy')).toEqual([address]);
    expect(await call('getaccount', address)).toBe('savings');
    expect(await call('getaccount', await call('getnewaddress'))).toBe('default');
    expect(await call('validateaddress', address)).toMatchObject({
      isvalid: true,
      ismine: true,
      account: 'savings',
      iscompressed: true,
    });
    expect(await call('validateaddress', 'nope')).toEqual({ isvalid: false });
    expect(await call('getaddressinfo', bech32)).toMatchObject({
      address: bech32,
      isscript: false,
      iswitness: true,
      ischange: false,
      ismine: true,
      labels: null,
      hdkeypath: expect.stringMatching(/^m\/0'\/0'\//) as string,
    });
    const change = await call('getrawchangeaddress', 'savings');
    expect(await call('getaddressinfo', change)).toMatchObject({ ischange: true });
    const failures: [number, string, string, ...unknown[]][] = [
      [-4, "account name 'none' not found", 'getbalance', 'none'],
      [-4, "account name 'none' not found", 'getnewaddress', 'none'],
      [-4, "account name 'none' not found", 'renameaccount', 'none', 'x'],
      [-4, 'account with the same name already exists', 'createnewaccount', 'savings'],
      [-4, 'account with the same name already exists', 'renameaccount', 'savings', 'journeys'],
      [-4, 'accounts may not be named the empty string', 'createnewaccount', ''],
      [-4, 'reserved account name', 'createnewaccount', 'imported'],
      [-4, 'reserved account cannot be renamed', 'renameaccount', 'imported', 'x'],
      [-8, 'Account name is reserved by RPC server', 'createnewaccount', '*'],
      [-8, 'Account name is reserved by RPC server', 'renameaccount', 'savings', '*'],
      [-4, 'address not found in wallet', 'getaccount', ADDRESS],
      [
        -5,
        'Invalid address "nope": decode failed with `decoded address is of unknown format`',
        'getaccount',
        'nope',
      ],
      [
        -4,
        'unrecognized address type: nested. Must be legacy, p2sh-segwit, or bech32',
        'getnewaddress',
        'default',
        'nested',
      ],
      [-32600, 'Invalid request', 'getbalance', 'default', 'one'],
      [-32600, 'Invalid request', 'createnewaccount'],
    ];
    for (const [code, message, method, ...params] of failures)
      expect(await refused(method, ...params), `${method} ${JSON.stringify(params)}`).toEqual({
        code,
        message,
      });
  });

  it('pays from accounts, the largest coins first, with change to the account', async () => {
    const [first] = await call<string[]>('getaddressesbyaccount', 'savings');
    const txid = await call('sendtoaddress', first, 3);
    expect(await call('getbalance', 'savings', 0)).toBe(3);
    expect(await call('getbalance', 'savings')).toBe(0);
    expect(await call('getunconfirmedbalance', 'savings')).toBe(3);
    await mine();
    expect(await call('getbalance', 'savings')).toBe(3);
    const accounts = await call<Record<string, Record<string, number>>>('listaccounts');
    expect(accounts['savings']).toEqual({
      "m/44'/140'": 3,
      "m/49'/140'": 0,
      "m/84'/140'": 0,
      total: 3,
    });
    const paid = await call('sendfrom', 'savings', ADDRESS, 1);
    await mine();
    const left = await call<number>('getbalance', 'savings');
    expect(left).toBeGreaterThan(1.99);
    expect(left).toBeLessThan(2);
    expect(await call('getbalance', '*')).toBeCloseTo((await call<number>('getbalance')) + left, 8);
    expect(await call('getreceivedbyaddress', first)).toBe(3);
    expect(await call('getreceivedbyaccount', 'savings')).toBeCloseTo(3 + left, 8);
    expect(await call<Item[]>('listreceivedbyaccount')).toContainEqual(
      expect.objectContaining({ account: 'savings', confirmations: 1 }),
    );
    const byAddress = await call<{ address: string; txids?: string[] }[]>('listreceivedbyaddress');
    expect(byAddress.find(({ address }) => address === first)!.txids).toEqual([txid]);
    await call('sendmany', 'savings', { [ADDRESS]: 0.1, [await call('getnewaddress')]: 0.2 }, 1);
    await mine();
    const detail = await call<{ details: Item[]; fee: number }>('gettransaction', paid);
    expect(detail.details).toEqual([
      { account: '', amount: expect.any(Number) as number, category: 'send', fee: detail.fee, vout: 0 },
    ]);
    expect(detail).toMatchObject({ amount: 0, confirmations: 2, blockindex: 0, generated: false });
    const failures: [number, string, string, ...unknown[]][] = [
      [-32603, 'insufficient funds available to construct transaction', 'sendfrom', 'journeys', ADDRESS, 1],
      [-32603, 'insufficient funds available to construct transaction', 'sendtoaddress', ADDRESS, 1e6],
      [-32603, 'transaction output is dust', 'sendtoaddress', ADDRESS, 0.00000001],
      [-8, 'amount must be positive', 'sendtoaddress', ADDRESS, -1],
      [-8, 'amount must be positive', 'settxfee', -1],
      [-8, 'minconf must be positive', 'sendfrom', 'savings', ADDRESS, 1, -1],
      [-4, "account name 'none' not found", 'sendfrom', 'none', ADDRESS, 1],
      [-4, 'cannot decode address: decoded address is of unknown format', 'sendtoaddress', 'nope', 1],
      [-1, 'Transaction comments are not yet supported', 'sendtoaddress', ADDRESS, 1, '*', 'for beer'],
      [-32600, 'Invalid request', 'sendtoaddress', ADDRESS, 'much'],
    ];
    for (const [code, message, method, ...params] of failures)
      expect(await refused(method, ...params), `${method} ${JSON.stringify(params)}`).toEqual({
        code,
        message,
      });
    expect(await call('settxfee', 0.1)).toBe(true);
  });

  it('lists transactions and unspent outputs, and marks stakes', async () => {
    const claim = await node.rpc<string>('claimname', ['mindblown', '00', 0.5]);
    await mine();
    const unspent = await call<Unspent[]>('listunspent');
    expect(unspent.filter(({ isstake }) => isstake)).toMatchObject([
      { txid: claim, amount: 0.5, account: 'default' },
    ]);
    expect(await call('getinfo')).toMatchObject({ staked: 0.5 });
    const sum = unspent.filter(({ isstake }) => !isstake).reduce((all, { amount }) => all + amount, 0);
    expect(await call('getbalance', '*')).toBeCloseTo(sum, 8);
    const depths = unspent.map(({ confirmations }) => confirmations);
    expect(depths).toEqual(depths.toSorted((a, b) => a - b));
    const { txid, vout } = unspent.at(-1)!;
    expect(await call('lockunspent', false, [{ txid, vout }])).toBe(true);
    expect(await call('listlockunspent')).toEqual([{ txid, vout }]);
    expect(await call<Unspent[]>('listunspent')).toHaveLength(unspent.length - 1);
    expect(await call('lockunspent', true)).toBe(true);
    expect(await refused('listunspent', 1, 9, [ADDRESS])).toEqual({
      code: -8,
      message: 'Filtering by addresses has been deprecated',
    });
    const all = await call<Item[]>('listalltransactions', '*');
    expect(all[0]).toMatchObject({ txid: claim, confirmations: 1, category: expect.any(String) as string });
    expect(all.filter(({ txid: id }) => id === claim).map(({ category }) => category)).toEqual([
      'send',
      'receive',
    ]);
    const coinbases = all.filter(({ category }) => category === 'generate');
    expect(coinbases).toHaveLength(10);
    const latest = await call<Item[]>('listtransactions', '*', 3);
    expect(latest).toEqual(all.slice(0, 3).reverse());
    expect(await call<Item[]>('listtransactions', 'savings', 100)).toEqual(
      (await call<Item[]>('listalltransactions', 'savings')).reverse(),
    );
    const [first] = await call<string[]>('getaddressesbyaccount', 'savings');
    const about = await call<Item[]>('listaddresstransactions', [first], '*');
    expect(about.some(({ address, category }) => address === first && category === 'receive')).toBe(true);
    const tip = await call('getbestblockhash');
    const since = await call<{ transactions: Item[]; lastblock: string }>('listsinceblock');
    expect(since.lastblock).toBe(tip);
    expect(since.transactions).toHaveLength(all.length);
    const nothing = await call<{ transactions: Item[] }>('listsinceblock', tip);
    expect(nothing.transactions).toEqual([]);
    expect(await refused('listsinceblock', '00'.repeat(32))).toEqual({
      code: -5,
      message: `Block not found: block ${'00'.repeat(32)} does not exist`,
    });
    expect(await refused('gettransaction', '00'.repeat(32))).toEqual({
      code: -5,
      message: 'No information for transaction',
    });
    const notHex = "encoding/hex: invalid byte: U+007A 'z'";
    expect(await refused('gettransaction', 'zz')).toEqual({
      code: -22,
      message: `Transaction hash string decode failed: ${notHex}`,
    });
    expect(await refused('listsinceblock', 'zz')).toEqual({ code: -22, message: notHex });
    const parent = await node.rpc<string>('getblockhash', [(await call<number>('getblockcount')) - 1]);
    const newest = await call<{ transactions: Item[] }>('listsinceblock', parent);
    const latestItems = all.filter(({ confirmations }) => confirmations === 1);
    expect(newest.transactions).toHaveLength(latestItems.length);
    expect(newest.transactions).toEqual(expect.arrayContaining(latestItems));
  });

  it('imports keys and scripts to the account imported, and signs', async () => {
    const { privateKey } = KEY;
    const secret = encodeSecret(privateKey, true, prefixes);
    const address = encodeDestination(destinationForKey(KEY.publicKey, 'legacy'), prefixes);
    await call('sendtoaddress', address, 0.25);
    await mine();
    expect(await call('importprivkey', secret)).toBeNull();
    expect(await call('importprivkey', secret, 'imported', false)).toBeNull();
    expect(await call('getaccount', address)).toBe('imported');
    expect(await call('getbalance', 'imported')).toBe(0.25);
    expect(await call('dumpprivkey', address)).toBe(secret);
    const signature = await call('signmessage', address, 'hello');
    expect(await call('verifymessage', address, signature, 'hello')).toBe(true);
    const [coin] = (await call<Unspent[]>('listunspent')).filter(({ account }) => account === 'imported');
    const raw = await node.rpc<string>('createrawtransaction', [
      [{ txid: coin!.txid, vout: coin!.vout }],
      { [ADDRESS]: 0.2 },
    ]);
    const signed = await call<{ complete: boolean; hex: string }>('signrawtransaction', raw);
    expect(signed.complete).toBe(true);
    const own = await call<{ pubkey: string }>('validateaddress', await call('getnewaddress'));
    const multisig = await call('addmultisigaddress', 1, [own.pubkey]);
    expect(await call('getaccount', multisig)).toBe('imported');
    expect(await call('validateaddress', multisig)).toMatchObject({
      ismine: true,
      isscript: true,
      account: 'imported',
      script: 'multisig',
      sigsrequired: 1,
    });
    expect(await call('rescanblockchain', 100)).toMatchObject({ start_height: 100 });
    const failures: [number, string, string, ...unknown[]][] = [
      [-4, 'imported addresses must belong to the imported account', 'importprivkey', secret, 'savings'],
      [
        -4,
        'imported addresses must belong to the imported account',
        'addmultisigaddress',
        1,
        [own.pubkey],
        'x',
      ],
      [-5, 'WIF decode failed: malformed private key', 'importprivkey', 'nope'],
      [-4, 'account number may not exceed 2147483647', 'getnewaddress', 'imported'],
    ];
    for (const [code, message, method, ...params] of failures)
      expect(await refused(method, ...params), `${method} ${JSON.stringify(params)}`).toEqual({
        code,
        message,
      });
  });

  it('locks, unlocks, and refuses what lbcwallet refuses', async () => {
    expect(await call('walletislocked')).toBe(false);
    expect(await call('keypoolrefill')).toBeNull();
    for (const method of [
      'backupwallet',
      'dumpwallet',
      'getwalletinfo',
      'importwallet',
      'listaddressgroupings',
    ])
      expect(await refused(method)).toEqual({ code: -1, message: 'Method unimplemented' });
    expect(await refused('encryptwallet', 'x')).toEqual({
      code: -1,
      message: 'Request unsupported by lbcwallet',
    });
    expect((await refused('stop')).message).toContain('stops with it');
    await node.rpc('encryptwallet', ['secret']);
    expect(await call('walletislocked')).toBe(true);
    const locked = { code: -13, message: 'Enter the wallet passphrase with walletpassphrase first' };
    expect(await refused('sendtoaddress', ADDRESS, 0.1)).toEqual(locked);
    expect((await refused('createnewaccount', 'more')).message).toContain(
      'Creating an account requires the wallet',
    );
    expect(await refused('walletpassphrase', 'wrong', 60)).toEqual({
      code: -14,
      message: 'invalid passphrase for master private key',
    });
    expect(await call('walletpassphrase', 'secret', 0)).toBeNull();
    expect(await call('walletislocked')).toBe(false);
    await call('sendtoaddress', ADDRESS, 0.1);
    expect(await refused('walletpassphrasechange', 'wrong', 'new')).toEqual({
      code: -14,
      message: 'Incorrect passphrase',
    });
    expect(await call('walletpassphrasechange', 'secret', 'new')).toBeNull();
    await call('walletlock');
    expect(await call('walletislocked')).toBe(true);
    // If several wallets are loaded, the path selects one.
    await node.rpc('createwallet', ['second']);
    expect((await refused('getbalance')).code).toBe(-19);
    const second = await checkedCall<number>(`${url}wallet/second`, undefined, 'getbalance');
    expect(second).toMatchObject({ result: 0, error: null });
    // Each wallet has its own accounts.
    const of = async <T>(method: string, ...params: readonly unknown[]): Promise<T> =>
      (await checkedCall<T>(`${url}wallet/second`, table.find(method, 'lbcd'), method, params)).result;
    await of('createnewaccount', 'kept');
    const address = await of<string>('getnewaddress', 'kept');
    await of('renameaccount', 'default', 'main');
    await node.rpc('unloadwallet', ['second']);
    await node.rpc('loadwallet', ['second']);
    expect(Object.keys(await of<object>('listaccounts'))).toEqual(['imported', 'kept', 'main']);
    expect(await of('getaccount', address)).toBe('kept');
  });
});
