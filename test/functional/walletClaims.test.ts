/**
 * Claims of a wallet on a real node: created, supported, updated, abandoned and listed. Errors have the texts of the reference.
 * The output of a claim is only spent if the call names it.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { METHODS } from '../../src/rpc/declare/methodTable.js';
import { MethodTable } from '../../src/rpc/declare/table.js';
import { checkedCall, type Failure } from './support/checkedCall.js';
import { ADDRESS, startRegtest, type RegtestNode } from './support/node.js';

const table = new MethodTable(METHODS);
const NAME = 'mindblown';
const NO_NAME =
  'The name is empty, and no lbry:// URL can refer to such a claim. To claim it anyway, pass true as the fourth argument (force)';
/** The fee for a byte of a new name, in thousandths of an LBC. */
const NAME_BYTE_FEE = 2;

interface NameClaim {
  name: string;
  claimtype: string;
  claimId: string;
  value?: string;
  account: string;
  address: string;
  category: string;
  amount: number;
  vout: number;
  fee: number;
  height?: number;
  confirmations: number;
  blockhash?: string;
  blockindex?: number;
  txid: string;
  time: number;
  timereceived: number;
  'is spent': boolean;
  'is in name trie'?: boolean;
  'is in support map'?: boolean;
}

interface Balances {
  balance: number;
  available_balance: number;
  staked_claim_balance: number;
  staked_support_balance: number;
}

describe('claims of a wallet', () => {
  let node: RegtestNode;
  const at = async <T>(path: string, method: string, params: readonly unknown[] = []) => {
    const declared = table.find(method, path === 'lbrycrd' ? 'lbrycrd' : 'documented');
    return checkedCall<T>(`${node.url}${path}`, declared, method, params);
  };
  const call = async <T>(path: string, method: string, params: readonly unknown[] = []): Promise<T> => {
    const { result, error } = await at<T>(path, method, params);
    if (error !== null) throw new Error(`${method} ${JSON.stringify(params)}: ${JSON.stringify(error)}`);
    return result;
  };
  const refused = async (path: string, method: string, params: readonly unknown[]): Promise<Failure> => {
    const { result, error } = await at(path, method, params);
    if (error === null)
      throw new Error(`${method} ${JSON.stringify(params)} answered ${JSON.stringify(result)}`);
    return error;
  };
  const demo = <T = string>(method: string, params: readonly unknown[] = []): Promise<T> =>
    call<T>('wallet/demo', method, params);
  const error = (method: string, ...params: readonly unknown[]): Promise<Failure> =>
    refused('wallet/demo', method, params);
  const late = <T = string>(method: string, params: readonly unknown[] = []): Promise<T> =>
    call<T>('wallet/late', method, params);
  const lateError = (method: string, ...params: readonly unknown[]): Promise<Failure> =>
    refused('wallet/late', method, params);
  const mine = (blocks = 1): Promise<string[]> => node.rpc('generatetoaddress', [blocks, ADDRESS]);
  const listed = (...params: readonly unknown[]): Promise<NameClaim[]> =>
    demo<NameClaim[]>('listnameclaims', params);

  beforeAll(async () => {
    node = await startRegtest({ args: ['-txindex', '-keypool=5', '-walletrejectlongchains=0'] });
    for (const name of ['demo', 'other']) await node.rpc('createwallet', [name]);
    await node.rpc('createwallet', ['watching', true]);
    await demo('generate', [10]);
    await call('wallet/other', 'generate', [1]);
    await mine(101);
  });
  afterAll(() => node.stop());

  it('are created at a new address, with a fee by the length of the name', async () => {
    const before = await demo<Balances>('getwalletinfo');
    const txid = await demo('claimname', [NAME, 'cafe', 0.5]);
    expect(await listed(true, true, 0)).toHaveLength(1);
    // By default unconfirmed claims are not listed.
    expect(await listed()).toEqual([]);
    const [hash] = await mine();
    const height = await node.rpc<number>('getblockcount');
    const [claim] = await listed();
    const value = await node.rpc<{ claimId: string }>('getvalueforname', [NAME]);
    const { time } = await demo<{ time: number }>('gettransaction', [txid]);
    expect(claim).toEqual({
      name: NAME,
      claimtype: 'CLAIM',
      claimId: value.claimId,
      value: 'cafe',
      account: '',
      address: claim!.address,
      category: 'name',
      amount: 0.5,
      vout: claim!.vout,
      fee: (NAME.length * NAME_BYTE_FEE) / 1000,
      height,
      confirmations: 1,
      blockhash: hash,
      blockindex: 1,
      txid,
      time,
      timereceived: claim!.timereceived,
      'expiration height': height + 500,
      expired: false,
      'blocks to expiration': 500,
      'is spent': false,
      'is in name trie': true,
    });
    const after = await demo<Balances>('getwalletinfo');
    expect(after.staked_claim_balance).toBe(0.5);
    expect(before.balance - after.balance).toBeCloseTo((NAME.length * NAME_BYTE_FEE) / 1000, 8);
    expect(after.available_balance).toBeCloseTo(after.balance - 0.5, 8);
    // Two bytes of UTF-8.
    await demo('claimname', ['ü', '00', 0.01]);
    await mine();
    expect((await listed()).at(-1)).toMatchObject({ name: 'ü', fee: (2 * NAME_BYTE_FEE) / 1000 });
  });

  it('are supported, with metadata and as a tip, with their state in the result', async () => {
    const { claimId, address } = (await listed())[0]!;
    const txid = await demo('supportclaim', [NAME, claimId.slice(0, 8).toUpperCase(), 0.2]);
    expect(txid).toMatch(/^[0-9a-f]{64}$/);
    await mine();
    expect(await listed()).toMatchObject([{}, {}, { claimtype: 'SUPPORT', claimId, amount: 0.2, txid }]);
    expect((await listed())[2]).toMatchObject({ 'is in support map': true });
    expect((await listed())[2]).not.toHaveProperty('value');
    expect(await listed(false)).toHaveLength(2);
    // With the tip argument, the support belongs to the owner of the claim.
    await demo('sendtoaddress', [await call('wallet/other', 'getnewaddress'), 3]);
    await mine();
    await call('wallet/other', 'supportclaim', [NAME, claimId, 0.3, '', true]);
    await mine();
    expect(await call<NameClaim[]>('wallet/other', 'listnameclaims')).toMatchObject([
      { address, amount: 0.3, 'is spent': false },
    ]);
    expect(await listed()).toHaveLength(3);
    expect(await demo<Balances>('getwalletinfo')).toMatchObject({ staked_support_balance: 0.5 });
    expect(await node.rpc('getvalueforname', [NAME])).toMatchObject({ 'effective amount': 1 });
    expect((await error('supportclaim', NAME, claimId, 0.1, 'beef')).message).toBe(
      'value/metadata on supports is not enabled yet',
    );
    // The height from which supports can have metadata.
    await mine(360 - (await node.rpc<number>('getblockcount')));
    await demo('supportclaim', [NAME, claimId, 0.1, 'beef']);
    await mine();
    expect((await listed()).at(-1)).toMatchObject({ claimtype: 'SUPPORT', value: 'beef', amount: 0.1 });
  });

  it('are updated by spending the claim output, and abandoned with its supports', async () => {
    const { txid, claimId } = (await listed())[0]!;
    const updated = await demo('updateclaim', [txid, '0102', 0.7]);
    expect(await error('updateclaim', txid, '03', 0.7)).toEqual({
      code: -4,
      message: 'Error: The claim of the given transaction is already spent',
    });
    await mine();
    const all = await listed(true, false);
    expect(all.find((one) => one.txid === txid)).toMatchObject({
      'is spent': true,
      'is in name trie': false,
    });
    expect(all.at(-1)).toMatchObject({
      txid: updated,
      claimId,
      value: '0102',
      amount: 0.7,
      claimtype: 'CLAIM',
    });
    // By default spent claims are listed, as in the specification. The reference leaves them out.
    expect(await listed()).toHaveLength(all.length);
    expect(await listed(true, true)).toHaveLength(all.length - 1);
    const own = await demo('getnewaddress');
    const support = all.find(({ claimtype }) => claimtype === 'SUPPORT')!.txid;
    expect((await error('abandonclaim', support, own)).code).toBe(-1);
    expect((await error('abandonsupport', updated, own)).message).toBe(
      'Error: The given transaction contains no support scripts owned by this wallet',
    );
    const ended = [await demo('abandonsupport', [support, own]), await demo('abandonclaim', [updated, own])];
    await mine();
    const value = await node.rpc('getvalueforname', [NAME]);
    expect(value).toEqual({});
    for (const id of ended) {
      const { details } = await demo<{ details: { amount: number; address: string }[] }>('gettransaction', [
        id,
      ]);
      expect(details.every(({ address }) => address === own)).toBe(true);
    }
    expect((await error('abandonclaim', updated, own)).message).toContain('is already spent');
  });

  it('are spent only by calls that name them', async () => {
    await demo('claimname', ['kept', '00', 0.4]);
    await mine();
    const kept = (await listed(true, true)).find(({ name }) => name === 'kept')!;
    await demo('supportclaim', ['kept', kept.claimId, 0.3]);
    await mine();
    const { balance, available_balance } = await demo<Balances>('getwalletinfo');
    expect(balance).toBeGreaterThan(available_balance + 0.7 - 1e-9);
    const stakes = async (): Promise<string[]> =>
      (await listed(true, true)).map(({ txid, vout }) => `${txid}:${vout}`).sort();
    const before = await stakes();
    // A call cannot spend more than the balance without claims and supports, whichever method it uses.
    const much = Number((balance - 0.1).toFixed(8));
    expect(await error('sendtoaddress', ADDRESS, much)).toEqual({ code: -4, message: 'Insufficient funds' });
    const raw = await node.rpc<string>('createrawtransaction', [[], { [ADDRESS]: much }]);
    expect(await error('fundrawtransaction', raw)).toEqual({ code: -4, message: 'Insufficient funds' });
    expect((await error('walletcreatefundedpsbt', [], [{ [ADDRESS]: much }])).message).toBe(
      'Insufficient funds',
    );
    expect((await error('sendmany', '', { [ADDRESS]: much })).message).toBe('Insufficient funds');
    const all = Number(available_balance.toFixed(8));
    await demo('sendtoaddress', [ADDRESS, all, '', '', true]);
    await mine();
    expect(await stakes()).toEqual(before);
    const left = await demo<Balances>('getwalletinfo');
    expect(left.balance).toBeCloseTo(left.staked_claim_balance + left.staked_support_balance, 8);
    expect(left.available_balance).toBe(0);
    expect((await error('claimname', 'x', '00', 0.1)).message).toBe('Insufficient funds');
    // The amount of the support pays the fee of its own abandonment.
    await demo('abandonsupport', [(await listed(true, true)).at(-1)!.txid, ADDRESS]);
    await mine();
    expect(await stakes()).toHaveLength(before.length - 1);
  });

  it('claims an empty name only on request, and in the lbrycrd profile as the reference does', async () => {
    await call('wallet/other', 'claimname', ['', '0a', 0.01, true]);
    await call('lbrycrd/wallet/other', 'claimname', ['', '0b', 0.02]);
    // QUIRK: lbrycrd accepts a fourth argument and ignores it.
    await call('lbrycrd/wallet/other', 'claimname', ['', '0c', 0.03, 'anything']);
    await mine();
    expect((await node.rpc<{ claims: unknown[] }>('getclaimsforname', [''])).claims).toHaveLength(3);
  });

  it('refuses what the reference refuses', async () => {
    const fresh = '00'.repeat(32);
    const [claim] = await call<NameClaim[]>('wallet/demo', 'listnameclaims', [false, true]);
    const { txid } = claim!;
    const cases: [number, string, string, ...unknown[]][] = [
      [-8, 'value must be hexadecimal', 'claimname', 'a', 'zz', 1],
      [-8, 'value must be hexadecimal', 'claimname', 'a', '', 1],
      [-8, 'value must be hexadecimal', 'updateclaim', txid, 'abc', 1],
      [-3, 'Amount out of range', 'claimname', 'a', '00', -1],
      [-3, 'Amount is not a number or string', 'claimname', 'a', '00', true],
      [-8, 'Invalid amount', 'claimname', 'a', '00', 0],
      [-6, 'Insufficient funds', 'claimname', 'a', '00', 1e6],
      [-1, 'JSON value is not a string as expected', 'claimname', 1, '00', 1],
      [-5, 'Invalid or non-wallet transaction id', 'updateclaim', 'zz', '00', 1],
      [-5, 'Invalid or non-wallet transaction id', 'abandonclaim', fresh, ADDRESS],
      [-5, 'Invalid or non-wallet transaction id', 'abandonsupport', fresh, ADDRESS],
      [-5, 'Invalid address', 'abandonclaim', txid, 'nope'],
      [-8, 'Unable to find a claim named nope', 'supportclaim', 'nope', 'aa', 1],
      [-8, 'Unable to find a claimid that starts with 0x12', 'supportclaim', 'kept', '0x12', 1],
      [-8, "claimid must be a 20-character hexadecimal string (not '')", 'supportclaim', 'kept'],
      [-8, "claimid must be a 20-character hexadecimal string (not 'xyz')", 'supportclaim', 'kept', 'xyz', 1],
      [-8, 'claimid must be maximum of length 40', 'supportclaim', 'kept', 'a'.repeat(41), 1],
      [-1, 'JSON value is not a boolean as expected', 'listnameclaims', 'x'],
      [-1, 'JSON value is not an integer as expected', 'listnameclaims', true, true, 'x'],
      [
        -1,
        'claimname takes 3 to 5 arguments, 2 were given.\nUsage: claimname "name" "value" amount ( force hex )',
        'claimname',
        'foo',
        '6f6d67',
      ],
      [
        -1,
        'updateclaim takes 3 arguments, 2 were given.\nUsage: updateclaim "txid" "value" amount',
        'updateclaim',
        txid,
        '00',
      ],
      // The reference accepts these calls, although the claim would be invalid or lost.
      [-8, NO_NAME, 'claimname', '', '00', 0.1],
      [-8, NO_NAME, 'claimname', '', '00', 0.1, false],
      [-8, 'name must be at most 255 bytes (not 256)', 'claimname', 'a'.repeat(256), '00', 0.1],
    ];
    for (const [code, message, method, ...params] of cases)
      expect(await error(method, ...params), `${method} ${JSON.stringify(params)}`).toEqual({
        code,
        message,
      });
    expect((await error('claimname', 'a', '00'.repeat(8200), 0.1)).code).toBe(-8);
    const { claimId } = (await listed(true, true)).find(({ name }) => name === 'kept')!;
    const bad = await error('supportclaim', 'kept', claimId, 0.1, 'zz');
    expect(bad).toEqual({ code: -8, message: 'value/metadata must be of hexadecimal data' });
    // Which wallet.
    expect((await refused('', 'claimname', ['a', '00', 1])).code).toBe(-19);
    expect((await refused('wallet/none', 'claimname', ['a', '00', 1])).code).toBe(-18);
    expect((await refused('wallet/watching', 'claimname', ['a', '00', 1])).code).toBe(-12);
    // A locked wallet cannot sign, but lists its claims.
    await demo('encryptwallet', ['secret']);
    await demo('walletpassphrase', ['secret', 60]);
    await demo('walletlock');
    const locked = {
      code: -13,
      message: 'Error: Please enter the wallet passphrase with walletpassphrase first.',
    };
    expect(await error('claimname', 'a', '00', 1)).toEqual(locked);
    expect(await error('updateclaim', txid, '00', 1)).toEqual(locked);
    expect(await error('abandonclaim', txid, ADDRESS)).toEqual(locked);
    expect(await error('supportclaim', 'kept', 'aa', 1)).toEqual(locked);
    expect(await listed(true, true)).not.toHaveLength(0);
  });

  it('answers in the shapes of the reference too', async () => {
    for (const name of ['', 'other', 'watching']) await node.rpc('unloadwallet', [name]);
    const [item] = await call<Record<string, unknown>[]>('lbrycrd', 'listnameclaims', [false]);
    expect(Object.keys(item!)).toEqual([
      'name',
      'claimtype',
      'claimId',
      'value',
      'txid',
      'account',
      'address',
      'amount',
      'vout',
      'fee',
      'height',
      'expiration height',
      'expired',
      'blocks to expiration',
      'confirmations',
      'is spent',
      'is in name trie',
    ]);
    await demo('walletpassphrase', ['secret', 60]);
    await demo('generate', [1]);
    await mine(101);
    const { claimId } = (await listed(true, true)).find(({ name }) => name === 'kept')!;
    const made = await call<{ txId: string; address: string }>('lbrycrd', 'supportclaim', [
      'kept',
      claimId,
      0.1,
    ]);
    await mine();
    const supports = await call<Record<string, unknown>[]>('lbrycrd', 'listnameclaims');
    expect(supports.at(-1)).toMatchObject({
      claimtype: 'SUPPORT',
      supported_claimid: claimId,
      txid: made.txId,
      address: made.address,
    });
    await node.rpc('unloadwallet', ['demo']);
    expect((await refused('', 'listnameclaims', [])).code).toBe(-32601);
  });

  it('refuses what is not a claim and a wrong value before a wrong address or amount, as lbrycrd does', async () => {
    await node.rpc('createwallet', ['late']);
    await node.rpc('generatetoaddress', [2, await late('getnewaddress')]);
    await mine(101);
    const [coin] = await late<{ txid: string }[]>('listunspent');
    expect(await lateError('claimname', NAME, 'xx', 'none')).toMatchObject({ code: -8 });
    expect(await lateError('claimname', NAME, 'ca', 'none')).toMatchObject({ code: -3 });
    expect(await lateError('updateclaim', coin!.txid, 'xx', 'none')).toMatchObject({ code: -8 });
    expect(await lateError('updateclaim', coin!.txid, 'ca', 'none')).toMatchObject({ code: -3 });
    for (const [method, kind] of [
      ['abandonclaim', 'claim'],
      ['abandonsupport', 'support'],
    ] as const) {
      expect(await lateError(method, coin!.txid, 'nowhere')).toEqual({
        code: -1,
        message: `Error: The given transaction contains no ${kind} scripts owned by this wallet`,
      });
    }
  });

  it('refuses a name whose fee exceeds -maxtxfee, and keeps its coins', async () => {
    const before = await call<number>('', 'getbalance');
    for (const path of ['', 'lbrycrd']) {
      const failure = await refused(path, 'claimname', ['n'.repeat(255), 'cafe', 0.5]);
      expect(failure.code).toBe(-4);
      expect(failure.message).toMatch(/fee of 0\.51\d* LBC .* 0\.50 LBC \(-maxtxfee\).*Nothing was sent/);
    }
    expect(await call('', 'getbalance')).toBe(before);
    const names = (await call<NameClaim[]>('', 'listnameclaims', [true, true, 0])).map(({ name }) => name);
    expect(names).not.toContain('n'.repeat(255));
  });

  it('reports the memory used by keys', async () => {
    const { locked } = await node.rpc<{ locked: Record<string, number> }>('getmemoryinfo');
    for (const field of ['used', 'free', 'total', 'chunks_used', 'chunks_free'])
      expect(locked[field]).toBeGreaterThan(0);
    expect(locked['used']! + locked['free']!).toBe(locked['total']);
  });

  it('refuses to update an expired claim and says what to do', async () => {
    const txid = await late('claimname', ['transient', 'cafe', 0.5]);
    await mine();
    const find = async (): Promise<NameClaim & Record<string, unknown>> =>
      (await late<NameClaim[]>('listnameclaims', [false, true])).find(
        (one) => one.txid === txid,
      ) as NameClaim & Record<string, unknown>;
    for (let left = 1; left > 0;) {
      left = ((await find())['blocks to expiration'] as number | undefined) ?? 0;
      if (left > 0) await mine(left);
    }
    expect(await find()).toMatchObject({ expired: true, 'is in name trie': false });
    const refusal = await lateError('updateclaim', txid, 'beef', 0.5);
    expect(refusal.code).toBe(-4);
    expect(refusal.message).toMatch(/expired at height \d+.*abandonclaim.*claimname/);
    await late('abandonclaim', [txid, await late('getnewaddress')]);
    const again = await late('claimname', ['transient', 'beef', 0.5]);
    await mine();
    expect((await late<NameClaim[]>('listnameclaims', [false, true])).map((one) => one.txid)).toContain(
      again,
    );
  });
});
