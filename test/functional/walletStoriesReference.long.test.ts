/**
 * Sequences of wallet calls on our node and on lbrycrd (`LBRYCRDD`), with one seed and one chain: partly signed, locked,
 * replaced, abandoned and disconnected transactions, watched scripts and encryption. Both get every call, and whole answers are
 * compared, except for `scanning`, which lbrycrd does not have. Nothing is random: coins and positions of change are given.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ADDRESS, startRegtest, type RegtestNode } from './support/node.js';
import { keyOf } from './support/walletKeys.js';
import {
  referenceBinary,
  startReference,
  type Call,
  type Envelope,
  type ReferenceNode,
} from './support/reference.js';

const binary = referenceBinary();
const NOW_SEC = 1_600_000_000;
const OPTIONS = [
  '-keypool=10',
  '-fallbackfee=0.0002',
  '-txindex',
  '-deprecatedrpc=accounts',
  '-deprecatedrpc=signrawtransaction',
];
const TYPES = ['legacy', 'p2sh-segwit', 'bech32'] as const;
const UNKNOWN_ID = 'ab'.repeat(32);
const UNKNOWN_POINT = { txid: UNKNOWN_ID, vout: 3 };
const PASSPHRASE = 'a pass';
/** Seconds, longer than any test. */
const LONG = 100_000;
/** Replaceable. */
const REPLACEABLE = 0xfffffffd;

interface Coin {
  txid: string;
  vout: number;
  scriptPubKey: string;
}
type Params = readonly unknown[];
type Story = readonly (readonly [method: string, ...params: unknown[]])[];

describe.skipIf(binary === undefined)('a wallet beside lbrycrd', () => {
  let ours: RegtestNode;
  let theirs: ReferenceNode;
  /** Addresses of each type, each paid twice. */
  let own: string[];
  let coins: Coin[];

  const ourCall: Call = async (method, params) =>
    JSON.parse((await ours.post(JSON.stringify({ id: 1, method, params }))).text) as Envelope;

  beforeEach(async () => {
    theirs = await startReference(binary!, ['-disablewallet=0', ...OPTIONS]);
    ours = await startRegtest({ args: OPTIONS });
    await both('setmocktime', NOW_SEC);
    await mine(1);
    await both('sethdseed', true, keyOf('stories').wif);
    own = [];
    for (const type of [...TYPES, ...TYPES]) own.push(await both('getnewaddress', `of ${type}`, type));
    for (const address of own) await mine(2, address);
    await mine(105);
    coins = await both('listunspent');
    expect(coins).toHaveLength(12);
  });
  afterEach(async () => {
    await ours.stop();
    await theirs.stop();
  });

  /** Calls both sides. The answers must be equal. Returns the result or the error. */
  async function both<T = unknown>(method: string, ...params: unknown[]): Promise<T> {
    const [our, their] = [await ourCall(method, params), await theirs.call(method, params)];
    expect({ method, params, ...shown(method, our) }).toEqual({ method, params, ...shown(method, their) });
    return (our.error ?? our.result) as T;
  }
  async function all(story: Story): Promise<void> {
    for (const [method, ...params] of story) await both(method, ...params);
  }
  /** Calls both sides without comparing the answers. */
  async function each(method: string, ...params: unknown[]): Promise<void> {
    for (const call of [ourCall, theirs.call]) expect((await call(method, params)).error).toBeNull();
  }

  function shown(method: string, { result, error }: Envelope): object {
    // Help texts for a wrong number of arguments may differ.
    if (error?.message.startsWith(method) === true) return { code: error.code };
    if (method !== 'getwalletinfo' || result === null) return { result, error };
    const { scanning: _, unlocked_until: untilSec, ...info } = result as Record<string, unknown>;
    // The exact time of unlocking differs between the sides.
    return { ...info, isUnlocked: untilSec !== 0 && untilSec !== undefined };
  }

  /** Mines on our node and submits the blocks to lbrycrd. */
  async function mine(count: number, address = ADDRESS): Promise<void> {
    for (const hash of await ours.rpc<string[]>('generatetoaddress', [count, address]))
      expect(await theirs.rpc('submitblock', [await ours.rpc('getblock', [hash, 0])])).toBeNull();
    await theirs.rpc('syncwithvalidationinterfacequeue');
  }
  const takeBack = async (hash: string): Promise<void> => {
    await both('invalidateblock', hash);
    await theirs.rpc('syncwithvalidationinterfacequeue');
  };
  const pointOf = ({ txid, vout }: Coin, more = {}): object => ({ txid, vout, ...more });
  const signed = async (
    coin: Coin,
    outputs: Record<string, unknown>,
    sequence = REPLACEABLE,
  ): Promise<string> => {
    const raw = await both('createrawtransaction', [pointOf(coin, { sequence })], outputs);
    return (await both<{ hex: string }>('signrawtransactionwithwallet', raw)).hex;
  };
  const send = async (...args: Parameters<typeof signed>): Promise<string> => {
    const id = await both<string>('sendrawtransaction', await signed(...args));
    expect(id).toMatch(/^[0-9a-f]{64}$/);
    return id;
  };

  /** Compares all answers that show the content of the wallet. */
  async function look(...ids: string[]): Promise<void> {
    for (const id of ids) await both('gettransaction', id);
    await all([
      ['listtransactions', '*', 1000, 0, true],
      ['listunspent', 0],
      ['getbalance', '*', 0],
      ['getunconfirmedbalance'],
      ['getwalletinfo'],
      ['listsinceblock'],
      ['listreceivedbyaddress', 0, true, true],
      ['listreceivedbylabel', 0, true],
      ['listaddressgroupings'],
      ['listlockunspent'],
      ['listaccounts', 0],
    ]);
  }

  it('signs in parts, and reports missing signatures', async () => {
    const [first, second] = coins as [Coin, Coin];
    const raw = await both('createrawtransaction', [pointOf(first), pointOf(second)], { [ADDRESS]: 1.9 });
    for (const type of ['ALL', 'NONE', 'SINGLE', 'ALL|ANYONECANPAY', 'NONE|ANYONECANPAY', 'all', '', 7])
      await both('signrawtransactionwithwallet', raw, null, type);
    const given = { ...pointOf(first), scriptPubKey: first.scriptPubKey };
    for (const previous of [
      {},
      7,
      given,
      { ...given, amount: 2 },
      { ...given, scriptPubKey: second.scriptPubKey, amount: 1 },
      { ...given, scriptPubKey: '', amount: 1 },
      { ...given, scriptPubKey: 'zz', amount: 1 },
      { ...given, vout: -1, amount: 1 },
      ...[-1, 'x', 22_000_000_000, '1', null].map((amount) => ({ ...given, amount })),
    ])
      await both('signrawtransactionwithwallet', raw, [previous]);
    const foreign = await both('createrawtransaction', [UNKNOWN_POINT, pointOf(first)], { [ADDRESS]: 0.5 });
    await both('signrawtransactionwithwallet', foreign);
    const [a, b] = [keyOf('cosigner a'), keyOf('cosigner b')];
    for (const type of TYPES) {
      const { address, redeemScript } = await both<{ address: string; redeemScript: string }>(
        'addmultisigaddress',
        2,
        [own[0], a.pubkey, b.pubkey],
        'shared',
        type,
      );
      const { scriptPubKey } = await both<{ scriptPubKey: string }>('getaddressinfo', address);
      const output = { ...UNKNOWN_POINT, scriptPubKey };
      for (const previous of [
        output,
        { ...output, amount: 3 },
        ...[redeemScript, '51', '', 'zz', 7, null].map((script) => ({
          ...output,
          amount: 3,
          redeemScript: script,
        })),
      ]) {
        const half = await both<{ hex?: string }>('signrawtransactionwithwallet', foreign, [previous]);
        if (half.hex === undefined) continue;
        await both('signrawtransactionwithkey', half.hex, [a.wif], [previous]);
        const other = await both<{ hex: string }>('signrawtransactionwithkey', foreign, [b.wif], [previous]);
        await both('combinerawtransaction', [half.hex, other.hex]);
        await both('signrawtransaction', half.hex, [previous], [a.wif]);
      }
    }
  });

  it('locks outputs until they are spent', async () => {
    const [first, second] = coins as [Coin, Coin];
    await both('lockunspent', false, [pointOf(first), pointOf(second)]);
    await send(first, { [own[1]!]: 0.99 });
    expect(await both('listlockunspent')).toEqual([pointOf(second)]);
    for (const unlock of [true, false]) await both('lockunspent', unlock, [pointOf(first)]);
    await mine(1);
    await look();
    await all([['lockunspent', true], ['listlockunspent'], ['resendwallettransactions']]);
  });

  it('makes and fills PSBTs', async () => {
    const [first, second] = coins as [Coin, Coin];
    const back = { changeAddress: own[1], changePosition: 1 };
    const pays = [{ [ADDRESS]: 0.5 }];
    const made = await both('createpsbt', [pointOf(first), pointOf(second), UNKNOWN_POINT], pays);
    const funded: Params[] = [
      [[pointOf(first)], pays, 0, back],
      [[pointOf(first)], { [ADDRESS]: 0.5 }, 0, { ...back, changePosition: 0 }, true],
      [[pointOf(first)], pays, 77, { ...back, feeRate: 0.001 }],
      [[pointOf(first)], pays, 0, { ...back, changePosition: 5 }],
      [[pointOf(first)], [...pays, { data: 'abcd' }], 0, back],
      ...[[0], [0, 0], [1], [-1]].map((subtractFeeFromOutputs) => [
        [pointOf(first)],
        pays,
        0,
        { ...back, subtractFeeFromOutputs },
      ]),
      [[pointOf(first, { sequence: 5 })], pays, 0, { ...back, replaceable: true }],
      [[pointOf(first)], pays, 0, { ...back, conf_target: 3, feeRate: 0.01 }],
      [[pointOf(first)], pays, 0, { ...back, lockUnspents: true }],
      [[UNKNOWN_POINT], pays, 0, back],
      [[], [{ [ADDRESS]: 50 }]],
      [[pointOf(first)], [{ [ADDRESS]: 0 }]],
    ];
    const psbts: unknown[] = [made];
    for (const params of funded) {
      const { psbt } = await both<{ psbt?: string }>('walletcreatefundedpsbt', ...params);
      await both('listlockunspent');
      if (psbt !== undefined) psbts.push(psbt);
    }
    for (const psbt of psbts) {
      for (const params of [
        [],
        [false],
        [true, 'SINGLE'],
        [true, 'x'],
        [true, 'ALL', true],
        [false, 'ALL', true],
      ]) {
        const filled = await both<{ psbt?: string }>('walletprocesspsbt', psbt, ...params);
        if (filled.psbt === undefined) continue;
        await all([
          ['decodepsbt', filled.psbt],
          ['walletprocesspsbt', filled.psbt],
          ['finalizepsbt', filled.psbt],
          ['finalizepsbt', filled.psbt, false],
        ]);
      }
    }
  });

  it('abandons, removes and finds again conflicting transactions', async () => {
    const [coin] = coins as [Coin];
    const one = await send(coin, { [own[0]!]: 0.5, [own[2]!]: 0.4999 }, 1);
    const child = await send({ txid: one, vout: 0, scriptPubKey: '' }, { [ADDRESS]: 0.4998 });
    await all([
      ['abandontransaction', one],
      ['bumpfee', one],
    ]);
    const two = await send(coin, { [own[1]!]: 0.99 }, 2);
    await look(one, child, two);
    for (const id of [child, child, one]) await both('abandontransaction', id);
    await look(one, child, two);
    await mine(1);
    await look(one, child, two);
    const tip = await both<string>('getbestblockhash');
    await takeBack(tip);
    await look(one, child, two);
    await both('reconsiderblock', tip);
    await theirs.rpc('syncwithvalidationinterfacequeue');
    await look(one, child, two);
    await both('abandontransaction', two);
  });

  it('bumps fees, and lists the transactions since a block', async () => {
    const [first, second, third] = coins as [Coin, Coin, Coin];
    const change = await both<string>('getrawchangeaddress');
    const waits = await send(first, { [ADDRESS]: 0.5, [change]: 0.4999 });
    for (const options of [
      ...[1, 10_000, -1, 0, 'x', 100_000_000, 49_990_000].map((totalFee) => ({ totalFee })),
      { confTarget: 2, totalFee: 20_000 },
      { confTarget: 0 },
      { estimate_mode: 'x' },
      { foo: 1 },
      7,
    ])
      await both('bumpfee', waits, options);
    const bumped = await both<{ txid: string }>('bumpfee', waits, { totalFee: 50_000 });
    const again = await both<{ txid: string }>('bumpfee', bumped.txid, {
      totalFee: 90_000,
      replaceable: false,
    });
    const whole = await send(second, { [ADDRESS]: 0.9999 });
    const final = await send(third, { [ADDRESS]: 0.5, [own[0]!]: 0.4 }, 0xffffffff);
    for (const id of [waits, again.txid, whole, final, UNKNOWN_ID, 'zz'])
      await both('bumpfee', id, { totalFee: 120_000 });
    await look(waits, bumped.txid, again.txid, final);
    const before = await both<string>('getbestblockhash');
    await mine(2);
    const since: Params[] = [1, 2, 3, 500, 0, -1].map((target) => [before, target]);
    for (const params of [...since, [''], ['00'.repeat(32)], ['zz'], [null, 2, true, false]])
      await both('listsinceblock', ...params);
    const gone = await both<string>('getbestblockhash');
    const { previousblockhash } = await both<{ previousblockhash: string }>('getblockheader', gone);
    await takeBack(previousblockhash);
    for (const isAfter of [false, true]) {
      if (isAfter) await mine(1, own[2]);
      for (const params of [[gone], [gone, 1, true, false], [before], [previousblockhash, 2]])
        await both('listsinceblock', ...params);
      await look(again.txid);
    }
    for (const depth of [0, 1, 2, 101, -1])
      await all([
        ['getbalance', '*', depth],
        ['getreceivedbyaddress', own[2], depth],
        ['getreceivedbylabel', 'of bech32', depth],
        ['listunspent', depth, 200, [own[2], own[0]]],
        ['getbalance', 'of bech32', depth],
      ]);
  });

  it('watches addresses before and after the import of their keys', async () => {
    const watched = keyOf('watched');
    await both('importaddress', watched.legacy, 'watched', false);
    await both('importpubkey', keyOf('watched by key').pubkey, '', false);
    await mine(1, watched.legacy);
    await mine(1, keyOf('watched by key').bech32);
    await mine(100);
    const [coin] = await both<[Coin]>('listunspent', 1, 9999, [watched.legacy]);
    const raw = await both('createrawtransaction', [pointOf(coin)], { [ADDRESS]: 0.5, [own[0]!]: 0.4 });
    await both('signrawtransactionwithwallet', raw);
    const { hex } = await both<{ hex: string }>('signrawtransactionwithkey', raw, [watched.wif]);
    const id = await both<string>('sendrawtransaction', hex);
    for (const withWatched of [true, false])
      await all([
        ['gettransaction', id, withWatched],
        ['listtransactions', '*', 10, 0, withWatched],
        ['getbalance', '*', 0, withWatched],
        ['listreceivedbylabel', 0, true, withWatched],
      ]);
    await all([
      ['bumpfee', id],
      ['abandontransaction', id],
      ['importprivkey', watched.wif, 'its own', false],
      ['getaddressinfo', watched.legacy],
    ]);
    await look(id);
    await both('removeprunedfunds', id);
    await look(id);
  });

  it('is encrypted, locked, and continues with the keys in its pool', async () => {
    await each('encryptwallet', PASSPHRASE);
    for (const params of [
      ['x', 10],
      ['', 10],
      [PASSPHRASE, -1],
      [PASSPHRASE, 'x'],
    ])
      await both('walletpassphrase', ...params);
    await each('walletpassphrase', PASSPHRASE, LONG);
    await both('sethdseed', true, keyOf('after encryption').wif);
    const first = await both<string>('getnewaddress');
    await all([['keypoolrefill', 12], ['walletlock'], ['walletlock']]);
    const given: string[] = [];
    for (let n = 0; n < 15; n++) {
      const address = await both('getnewaddress', '', TYPES[n % 3]);
      if (typeof address === 'string') given.push(address);
      await both('getrawchangeaddress', TYPES[n % 3]);
    }
    expect(given).toHaveLength(12);
    for (const address of given.slice(0, 5).reverse()) await mine(1, address);
    await mine(101);
    await look();
    const [coin] = (await both<Coin[]>('listunspent')) as [Coin];
    const { wif } = keyOf('imported');
    await all([
      ['sendtoaddress', ADDRESS, 1],
      ['claimname', 'x', 'ab', 0.1],
      ['dumpprivkey', first],
      ['signmessage', first, 'x'],
      ['importprivkey', wif],
      ['importaddress', keyOf('imported').legacy, '', false],
      ['keypoolrefill', 50],
      ['sethdseed'],
      ['walletpassphrasechange', 'x', 'y'],
      ['walletpassphrasechange', PASSPHRASE, ''],
      ['getaccountaddress', 'another'],
    ]);
    const psbt = await both('createpsbt', [pointOf(coin)], [{ [ADDRESS]: 0.5 }, { [given[1]!]: 0.4 }]);
    await both('walletprocesspsbt', psbt);
    await both('walletpassphrasechange', PASSPHRASE, 'next');
    await both('walletpassphrase', PASSPHRASE, LONG);
    await each('walletpassphrase', 'next', LONG);
    await all([
      ['walletprocesspsbt', psbt],
      ['walletprocesspsbt', psbt, true, 'ALL', true],
      ['dumpprivkey', first],
      ['signmessage', first, 'text'],
      ['importprivkey', wif, '', false],
      ['dumpprivkey', keyOf('imported').legacy],
      ['getnewaddress'],
      ['getrawchangeaddress'],
    ]);
    await look();
  });
});
