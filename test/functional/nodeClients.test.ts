/**
 * The calls that programs of 2026 send to a node, and the answer fields that they read: chainquery, pools of yiimp, the mempool
 * explorer of the LBRY Foundation, and the server and the wallet of dcrdex (docs/who-uses-it.md). One node serves all of them.
 * Source: lbryio/chainquery, LBRYFoundation/pool, LBRYFoundation/mempool, realrouse/dcrdex (client/asset/btc/rpcclient.go,
 * client/asset/lbc/lbc.go, server/asset/btc/rpcclient.go, dex/testing/lbc/harness.sh).
 */
import { readFileSync } from 'node:fs';
import https from 'node:https';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort, startRegtest, type RegtestNode } from './support/node.js';
import { envelopeFrom, type Call, type Envelope } from './support/reference.js';

/** Above the height from which blocks can have witnesses, and above all claim trie forks. */
const HEIGHT = 400;
const HASH = expect.stringMatching(/^[0-9a-f]{64}$/);
const HEX = expect.stringMatching(/^([0-9a-f]{2})+$/);
const NUMBER = expect.any(Number);
const TEXT = expect.any(String);

let node: RegtestNode;
let walletPort: number;
let credentials: string;
let address: string;
let claimTxid: string;
let claimBlock: string;

beforeAll(async () => {
  walletPort = await freePort();
  node = await startRegtest({
    args: [
      '-compat=lbrycrd',
      '-txindex',
      '-fallbackfee=0.0002',
      '-deprecatedrpc=accounts',
      '-deprecatedrpc=validateaddress',
      `-walletrpclisten=127.0.0.1:${walletPort}`,
    ],
  });
  const { username, password } = new URL(node.url);
  credentials = `${username}:${password}`;
  address = await node.rpc<string>('getnewaddress', ['', 'legacy']);
  await node.rpc('generatetoaddress', [HEIGHT, address]);
  claimTxid = await node.rpc<string>('claimname', ['mindblown', '00', 1]);
  [claimBlock] = (await node.rpc<string[]>('generatetoaddress', [1, address])) as [string];
});
afterAll(() => node.stop());

/** A program that calls one path of the node's port. */
function programAt(path: string) {
  const call: Call = envelopeFrom(`http://127.0.0.1:${node.rpcPort}${path}`, credentials);
  return {
    call,
    async get<T = unknown>(method: string, ...params: readonly unknown[]): Promise<T> {
      const { result, error } = await call(method, params);
      if (error) throw new Error(`${method}: ${error.code} ${error.message}`);
      return result as T;
    },
  };
}

describe('chainquery', () => {
  it('follows the chain by height, with whole blocks and transactions', async () => {
    const { get } = programAt('/');
    const height = await get<number>('getblockcount');
    const hash = await get<string>('getblockhash', height);
    const block = await get<{ tx: string[] }>('getblock', hash);
    expect(block).toMatchObject({
      hash,
      height,
      confirmations: 1,
      size: NUMBER,
      version: NUMBER,
      versionHex: TEXT,
      merkleroot: HASH,
      nameclaimroot: HASH,
      time: NUMBER,
      nonce: NUMBER,
      bits: TEXT,
      difficulty: NUMBER,
      chainwork: HASH,
      nTx: block.tx.length,
      previousblockhash: HASH,
    });
    expect(await get('getblock', await get('getblockhash', height - 1))).toMatchObject({
      nextblockhash: hash,
    });
    for (const txid of block.tx) {
      expect(await get('getrawtransaction', txid, 1)).toMatchObject({
        hex: HEX,
        txid,
        hash: HASH,
        size: NUMBER,
        vsize: NUMBER,
        version: NUMBER,
        locktime: NUMBER,
        vin: expect.any(Array),
        vout: expect.any(Array),
        blockhash: hash,
        confirmations: 1,
        time: NUMBER,
        blocktime: NUMBER,
      });
    }
    const genesis = await get<{ tx: { txid: string }[] }>('getblock', await get('getblockhash', 0), 2);
    expect(genesis.tx).toMatchObject([{ txid: HASH, vout: [{ value: NUMBER }] }]);
  });

  it('reads claims of transactions and of names, and the mempool', async () => {
    const { get, call } = programAt('/');
    const { vout } = await get<{ vout: { scriptPubKey: object }[] }>('getrawtransaction', claimTxid, 1);
    const claim = vout.find(({ scriptPubKey }) => 'isclaim' in scriptPubKey)!.scriptPubKey;
    expect(claim).toMatchObject({
      asm: expect.stringMatching(/^OP_CLAIM_?NAME /),
      hex: HEX,
      type: 'nonstandard',
      isclaim: true,
      issupport: false,
      subtype: TEXT,
      addresses: [TEXT],
    });
    expect(await get('getclaimsforname', 'mindblown')).toMatchObject({
      claims: [
        {
          claimId: expect.stringMatching(/^[0-9a-f]{40}$/),
          txId: claimTxid,
          n: NUMBER,
          height: HEIGHT + 1,
          validAtHeight: NUMBER,
          amount: 100_000_000,
          effectiveAmount: 100_000_000,
          supports: [],
        },
      ],
    });
    expect(await get('getrawmempool', true)).toEqual({});
    // The same as lbrycrd without -deprecatedrpc.
    expect((await call('getclaimsintrie', [])).error).toMatchObject({ code: -32 });
    expect(await get('getbalance')).toBeGreaterThan(0);
  });
});

describe('a pool of yiimp', () => {
  it('requests work in each form, and submits a block', async () => {
    const { get, call } = programAt('/');
    const capabilities = ['coinbasetxn', 'workid', 'coinbase/append'];
    for (const params of [[{ rules: ['segwit'] }], [{ rules: ['segwit'], capabilities }]]) {
      expect(await get('getblocktemplate', ...params)).toMatchObject({
        version: NUMBER,
        rules: expect.arrayContaining([expect.stringContaining('segwit')]),
        previousblockhash: HASH,
        transactions: [],
        coinbaseaux: { flags: TEXT },
        coinbasevalue: NUMBER,
        target: HASH,
        mutable: expect.arrayContaining(['time', 'transactions', 'prevblock']),
        claimtrie: HASH,
        curtime: NUMBER,
        bits: TEXT,
        height: HEIGHT + 2,
        default_witness_commitment: HEX,
        longpollid: TEXT,
      });
    }
    // The same as lbrycrd when segwit is active.
    expect((await call('getblocktemplate', [{}])).error).toMatchObject({ code: -8 });
    expect((await call('submitblock', [])).error).toMatchObject({ code: -1 });
    expect(await get('submitblock', await get('getblock', claimBlock, 0))).toBe('duplicate');
  });

  it('queries its state and its payments', async () => {
    const { get } = programAt('/');
    expect(await get('validateaddress', address)).toEqual({
      isvalid: true,
      ...(await get<object>('getaddressinfo', address)),
    });
    expect(await get('validateaddress', address)).toMatchObject({ address, ismine: true, account: '' });
    expect(await get('validateaddress', 'x')).toEqual({ isvalid: false });
    expect(await get('getinfo')).toMatchObject({
      version: NUMBER,
      protocolversion: NUMBER,
      blocks: HEIGHT + 1,
      connections: 0,
      difficulty: NUMBER,
      testnet: expect.any(Boolean),
      relayfee: NUMBER,
      errors: TEXT,
    });
    expect(await get('getmininginfo')).toMatchObject({
      blocks: HEIGHT + 1,
      difficulty: NUMBER,
      networkhashps: NUMBER,
    });
    expect(await get('getdifficulty')).toEqual(NUMBER);
    expect(await get('getpeerinfo')).toEqual([]);
    const { tx } = await get<{ tx: string[] }>('getblock', await get('getblockhash', 1));
    expect(await get('gettransaction', tx[0])).toMatchObject({
      txid: tx[0],
      confirmations: NUMBER,
      amount: NUMBER,
      details: [{ category: 'generate', address, amount: NUMBER }],
    });
    const since = await get<{ transactions: unknown[]; lastblock: string }>(
      'listsinceblock',
      await get('getblockhash', HEIGHT - 2),
    );
    expect(since).toMatchObject({
      transactions: expect.arrayContaining([
        expect.objectContaining({ category: 'immature', txid: HASH, blockhash: HASH }),
      ]),
      lastblock: HASH,
    });
    const account = await get<string>('getaccountaddress', '');
    const before = await get<number>('getbalance');
    const txid = await get<string>('sendmany', '', { [account]: 0.5, [address]: 0.25 });
    expect(await get('gettransaction', txid)).toMatchObject({ txid, confirmations: 0, fee: NUMBER });
    expect(await get<number>('getbalance')).toBeLessThan(before);
    await node.rpc('generatetoaddress', [1, address]);
  });
});

describe('the Foundation’s mempool explorer', () => {
  it('reads chain, blocks and mempool only from the node', async () => {
    const { get } = programAt('/');
    const tip = await get<string>('getbestblockhash');
    const info = await get<{ blocks: number }>('getblockchaininfo');
    expect(info).toMatchObject({
      chain: 'lbrycrdreg',
      blocks: NUMBER,
      headers: NUMBER,
      bestblockhash: tip,
      difficulty: NUMBER,
    });
    expect(await get('getblockheader', tip)).toMatchObject({
      hash: tip,
      height: info.blocks,
      mediantime: NUMBER,
    });
    const block = await get<{ tx: { txid: string; vin: object[] }[] }>('getblock', claimBlock, 2);
    expect(block.tx).toHaveLength(2);
    expect(await get('getblockstats', claimBlock)).toMatchObject({
      avgfee: NUMBER,
      avgfeerate: NUMBER,
      feerate_percentiles: [NUMBER, NUMBER, NUMBER, NUMBER, NUMBER],
      subsidy: NUMBER,
      totalfee: NUMBER,
      txs: 2,
      total_weight: NUMBER,
    });
    expect(await get('getchaintips')).toMatchObject([
      { height: info.blocks, hash: tip, branchlen: 0, status: 'active' },
    ]);
    const txid = await node.rpc<string>('sendtoaddress', [address, 0.1]);
    expect(await get('getmempoolinfo')).toMatchObject({
      size: 1,
      bytes: NUMBER,
      usage: NUMBER,
      maxmempool: NUMBER,
      mempoolminfee: NUMBER,
    });
    expect(await get('getrawmempool', true)).toMatchObject({
      [txid]: { fee: NUMBER, time: NUMBER, ancestorcount: 1 },
    });
    expect(await get('getmempoolentry', txid)).toMatchObject({ size: NUMBER, fee: NUMBER, depends: [] });
    expect(await get('getmempoolancestors', txid)).toEqual([]);
    const hex = await get<string>('getrawtransaction', txid, false);
    expect(await get('decoderawtransaction', hex)).toMatchObject({ txid, vout: expect.any(Array) });
    expect(await get('getrawtransaction', txid, true)).toMatchObject({ txid, hex });
    await node.rpc('generatetoaddress', [1, address]);
    expect(await get('gettxout', txid, 0)).toMatchObject({
      confirmations: 1,
      value: NUMBER,
      scriptPubKey: { hex: HEX },
    });
    expect(await get('gettxoutsetinfo')).toMatchObject({
      height: info.blocks + 1,
      txouts: NUMBER,
      total_amount: NUMBER,
    });
    expect(await get('getnetworkhashps')).toEqual(NUMBER);
    expect(await get('getindexinfo')).toMatchObject({ txindex: { synced: true, best_block_height: NUMBER } });
    expect(await get('testmempoolaccept', [hex])).toMatchObject([
      { txid, allowed: false, 'reject-reason': TEXT },
    ]);
    expect(await get('getnetworkinfo')).toMatchObject({
      version: NUMBER,
      subversion: TEXT,
      relayfee: NUMBER,
    });
  });
});

describe('the tests of chainquery', () => {
  it('make data by raw transactions and blocks', async () => {
    const { get } = programAt('/');
    const to = await get<string>('getnewaddress', '');
    const [coin] = await get<{ txid: string; vout: number; amount: number }[]>('listunspent', 1);
    const { txid, vout, amount } = coin!;
    const outputs = { [to]: Number((amount - 0.001).toFixed(8)) };
    const raw = await get<string>('createrawtransaction', [{ txid, vout }], outputs);
    const signed = await get<{ hex: string }>('signrawtransactionwithwallet', raw);
    expect(signed).toEqual({ hex: HEX, complete: true });
    const sent = await get<string>('sendrawtransaction', signed.hex, false);
    const claimed = await get<string>('claimname', 'chainquery', '00', 0.1);
    const [block] = await get<string[]>('generate', 1);
    const { tx } = await get<{ tx: string[] }>('getblock', block);
    expect(tx).toEqual(expect.arrayContaining([sent, claimed]));
  });
});

describe('the server of dcrdex', () => {
  it('finds the transaction index, blocks, transactions and outputs', async () => {
    // On a node with -compat=lbcd, the path would be /.
    const { get, call } = programAt('/lbcd');
    const tip = await get<string>('getbestblockhash');
    expect(await get('getblockchaininfo')).toMatchObject({
      chain: expect.stringContaining('reg'),
      blocks: NUMBER,
      headers: NUMBER,
      bestblockhash: tip,
    });
    expect(await get('getindexinfo', 'txindex')).toMatchObject({ txindex: {} });
    expect((await call('estimatesmartfee', [2, 'CONSERVATIVE'])).error?.code).not.toBe(-32601);
    const block = await get<{ tx: string[] }>('getblock', tip, true);
    expect(block).toMatchObject({
      hash: tip,
      height: NUMBER,
      previousblockhash: HASH,
      time: NUMBER,
      confirmations: 1,
    });
    const txid = block.tx.at(-1)!;
    expect(await get('getrawtransaction', txid)).toEqual(HEX);
    expect(await get('getrawtransaction', txid, true)).toMatchObject({
      hex: HEX,
      txid,
      blockhash: tip,
      confirmations: 1,
      vin: [{ sequence: NUMBER }],
      vout: expect.arrayContaining([expect.objectContaining({ value: NUMBER, n: NUMBER })]),
    });
    expect(await get('gettxout', txid, 0, true)).toMatchObject({
      confirmations: 1,
      scriptPubKey: { hex: HEX },
    });
    expect(await get('gettxout', '00'.repeat(32), 0, true)).toBeNull();
  });
});

describe('the wallet of dcrdex', () => {
  /** A call over TLS that trusts only the certificate of the node, as dcrdex does by default. */
  const call = (method: string, ...params: readonly unknown[]): Promise<Envelope> =>
    new Promise((resolve, reject) => {
      const ca = readFileSync(join(node.dataDir, 'regtest', 'rpc.cert'), 'utf8');
      const options = {
        host: '127.0.0.1',
        port: walletPort,
        ca,
        method: 'POST',
        auth: credentials,
        agent: false as const,
      };
      const request = https.request(options, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => (text += part));
        response.on('end', () => resolve(JSON.parse(text) as Envelope));
      });
      request.on('error', reject).end(JSON.stringify({ jsonrpc: '1.0', id: 1, method, params }));
    });
  const get = async <T = unknown>(method: string, ...params: readonly unknown[]): Promise<T> => {
    const { result, error } = await call(method, ...params);
    if (error) throw new Error(`${method}: ${error.code} ${error.message}`);
    return result as T;
  };

  it('connects, and is unlocked', async () => {
    expect(await get('getnetworkinfo')).toMatchObject({
      version: NUMBER,
      subversion: TEXT,
      protocolversion: NUMBER,
      connections: 0,
    });
    const { protocolversion } = await get<{ protocolversion: number }>('getnetworkinfo');
    expect(protocolversion).toBeGreaterThanOrEqual(70013);
    const info = await get<{ chain: string; blocks: number; headers: number }>('getblockchaininfo');
    expect(info).toMatchObject({ chain: expect.stringContaining('reg'), headers: info.blocks });
    // In lbcwallet the wallet already has a passphrase at this point.
    await node.rpc('encryptwallet', ['password']);
    expect(await get('walletpassphrasechange', 'password', 'abc')).toBeNull();
    expect(await get('walletpassphrase', 'abc', 100_000_000)).toBeNull();
    expect((await call('getwalletinfo')).error).toEqual({ code: -1, message: 'Method unimplemented' });
  });

  it('reads blocks and the mempool', async () => {
    const tip = await get<string>('getbestblockhash');
    const header = await get<{ height: number }>('getblockheader', tip, true);
    expect(header).toMatchObject({
      hash: tip,
      height: NUMBER,
      time: NUMBER,
      confirmations: 1,
      previousblockhash: HASH,
    });
    expect(await get('getblockhash', header.height)).toBe(tip);
    expect(await get('getblock', tip, 0)).toEqual(HEX);
    expect(await get('getrawmempool')).toEqual([]);
    expect(await get('getblockcount')).toBe(header.height);
  });

  it('has addresses, balance and coins, and locks coins', async () => {
    const change = await get<string>('getrawchangeaddress', 'default', 'bech32');
    const fresh = await get<string>('getnewaddress', 'default', 'bech32');
    for (const each of [change, fresh]) {
      expect(each).toMatch(/^rlbc1/);
      expect(await get('validateaddress', each)).toMatchObject({
        isvalid: true,
        ismine: true,
        address: each,
      });
    }
    expect(await get('getnewaddress')).toEqual(TEXT);
    expect(await get('getbalance', '*', 0)).toBeGreaterThan(0);
    expect(await get('getreceivedbyaddress', fresh, 0)).toBe(0);
    const coins = await get<{ txid: string; vout: number }[]>('listunspent', 0, 9_999_999);
    expect(coins[0]).toMatchObject({
      txid: HASH,
      vout: NUMBER,
      address: TEXT,
      scriptPubKey: HEX,
      amount: NUMBER,
      confirmations: NUMBER,
      spendable: true,
    });
    const coin = { txid: coins[0]!.txid, vout: coins[0]!.vout };
    expect(await get('lockunspent', false, [coin])).toBe(true);
    expect(await get('listlockunspent')).toEqual([coin]);
    expect(await get('lockunspent', true, [coin])).toBe(true);
    expect(await get('lockunspent', false, [coin])).toBe(true);
    expect(await get('lockunspent', true, null)).toBe(true);
    expect(await get('listlockunspent')).toEqual([]);
  });

  it('signs, sends and watches its transactions', async () => {
    const to = await get<string>('getnewaddress', 'default', 'legacy');
    const coins = await get<{ txid: string; vout: number; amount: number; confirmations: number }[]>(
      'listunspent',
      0,
      9_999_999,
    );
    const coin = coins.find(({ amount, confirmations }) => amount >= 0.9 && confirmations > 100)!;
    const raw = await get('createrawtransaction', [{ txid: coin.txid, vout: coin.vout }], {
      [to]: 0.5,
      [address]: coin.amount - 0.501,
    });
    const signed = await get<{ hex: string; complete: boolean; errors?: unknown[] }>(
      'signrawtransaction',
      raw,
    );
    expect(signed).toMatchObject({ hex: HEX, complete: true });
    const txid = await get<string>('sendrawtransaction', signed.hex);
    expect(await get('getrawmempool')).toEqual([txid]);
    expect(await get('getrawtransaction', txid, false)).toBe(signed.hex);
    expect(await get('gettxout', txid, 0, true)).toMatchObject({
      confirmations: 0,
      value: NUMBER,
      scriptPubKey: { hex: HEX },
    });
    // As in lbcd, an output is unspent until a block spends it.
    expect(await get('gettxout', coin.txid, coin.vout, true)).toMatchObject({ value: coin.amount });
    const before = await get<string>('getbestblockhash');
    await node.rpc('generatetoaddress', [1, address]);
    expect(await get('gettransaction', txid)).toMatchObject({
      txid,
      confirmations: 1,
      blockhash: HASH,
      blocktime: NUMBER,
      time: NUMBER,
      timereceived: NUMBER,
      hex: signed.hex,
    });
    // dcrdex takes this code to mean that the transaction does not exist.
    expect((await call('gettransaction', '00'.repeat(32))).error).toMatchObject({ code: -5 });
    const { transactions } = await get<{ transactions: object[] }>('listsinceblock', before);
    expect(transactions).toEqual(
      expect.arrayContaining([expect.objectContaining({ txid, category: TEXT, blocktime: NUMBER })]),
    );
    expect(await get('getreceivedbyaddress', to, 0)).toBe(0.5);
    expect(await get('dumpprivkey', to)).toEqual(TEXT);
    expect(await get('sendtoaddress', address, 0.01)).toEqual(HASH);
    expect(await get('walletlock')).toBeNull();
    expect((await call('dumpprivkey', to)).error).toMatchObject({ code: -13 });
  });
});
