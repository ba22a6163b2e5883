/**
 * Spending with a real node: payments of every kind, errors, encrypted and watch-only wallets, PSBTs of several wallets, and the
 * state after a kill.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { METHODS } from '../../src/rpc/declare/methodTable.js';
import { checkResult } from '../../src/schema/schemaCheck.js';
import type { JsonObject } from '../../src/util/json/json.js';
import { parseJson } from '../../src/util/json/jsonParse.js';
import type { JsonOut } from '../../src/util/json/jsonWrite.js';
import { ADDRESS, startRegtest, type RegtestNode } from './support/node.js';

interface Failure {
  code: number;
  message: string;
}
interface Unspent {
  txid: string;
  vout: number;
  address: string;
  amount: number;
  spendable: boolean;
  solvable: boolean;
  safe: boolean;
  redeemScript?: string;
}
interface Output {
  txid: string;
  vout: number;
}
const UNKNOWN_TXID = '00'.repeat(32);
const LOCKED = 'Error: Please enter the wallet passphrase with walletpassphrase first.';
const ARGS = ['-keypool=10', '-wallet=', '-deprecatedrpc=signrawtransaction', '-persistmempool=0'];

let folder: string;
let node: RegtestNode;

/** Calls a wallet, and compares the answer with its declaration. */
async function to<T = unknown>(wallet: string | null, method: string, ...params: unknown[]): Promise<T> {
  const path = wallet === null ? '/' : `/wallet/${wallet}`;
  const { text } = await node.post(JSON.stringify({ id: 1, method, params }), path);
  const { result, error } = JSON.parse(text) as { result: T; error: Failure | null };
  if (error !== null) throw Object.assign(new Error(error.message), { code: error.code });
  const declared = METHODS.find(({ name }) => name === method)!;
  const exact = parseJson(text) as JsonObject;
  expect(await checkResult(declared.result, exact.get('result') as JsonOut), method).toEqual([]);
  return result;
}
const rpc = <T = unknown>(method: string, ...params: unknown[]): Promise<T> => to<T>('', method, ...params);
async function refused(wallet: string | null, method: string, ...params: unknown[]): Promise<string> {
  try {
    return `answered ${JSON.stringify(await to(wallet, method, ...params))}`;
  } catch (error) {
    const { code, message } = error as Error & Failure;
    return `${code} ${message}`;
  }
}
const isWaiting = async (txid: string): Promise<boolean> =>
  (await rpc<string[]>('getrawmempool')).includes(txid);
const keyOf = ({ txid, vout }: Output): string => `${txid}:${vout}`;

const start = async (...args: string[]): Promise<void> => {
  node = await startRegtest({ args: [...ARGS, ...args], dataDir: folder });
};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'spending-'));
  await start();
  // Witnesses are valid from block 150 on.
  await rpc('generate', 155);
});
afterAll(async () => {
  await node.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe('spending', () => {
  it('pays one and several recipients, and lists the remaining coins', async () => {
    const before = await rpc<number>('getbalance');
    const own = await rpc<string>('getnewaddress', 'mine', 'p2sh-segwit');
    const one = await rpc<string>(
      'sendtoaddress',
      own,
      1.5,
      'what for',
      'whom',
      false,
      true,
      6,
      'ECONOMICAL',
    );
    const many = await rpc<string>(
      'sendmany',
      '',
      { [own]: '0.25', [ADDRESS]: 0.5 },
      1,
      'c',
      [ADDRESS],
      false,
      3,
    );
    expect(await isWaiting(one)).toBe(true);
    expect(await isWaiting(many)).toBe(true);
    await rpc('generate', 1);
    const at = await rpc<Unspent[]>('listunspent', 1, 9_999_999, [own]);
    expect(at.map(({ amount }) => amount).sort()).toEqual([0.25, 1.5]);
    expect(at[0]).toMatchObject({ address: own, label: 'mine', spendable: true, solvable: true, safe: true });
    expect(at[0]!.redeemScript).toMatch(/^0014[0-9a-f]{40}$/);
    expect(await rpc<number>('getbalance')).toBeLessThan(before + 2);
    const all = await rpc<Unspent[]>('listunspent');
    const wire = (hex: string): string => Buffer.from(hex, 'hex').reverse().toString('hex');
    expect(all.map(({ txid }) => wire(txid))).toEqual(all.map(({ txid }) => wire(txid)).sort());
    expect(await rpc<Unspent[]>('listunspent', 1, 9_999_999, [], true, { maximumCount: 2 })).toEqual(
      all.slice(0, 2),
    );
    // The coins of one address are those of the whole list with that address. But `maximumCount` applies before the filter.
    const addresses = [...new Set(all.map(({ address }) => address))];
    expect(addresses.length).toBeGreaterThan(1);
    for (const address of addresses)
      expect(await rpc('listunspent', 1, 9_999_999, [address])).toEqual(
        all.filter((coin) => coin.address === address),
      );
    expect(await rpc('listunspent', 1, 9_999_999, addresses)).toEqual(all);
    expect(await rpc('listunspent', 1, 9_999_999, [own], true, { maximumCount: 1 })).toEqual(
      all.slice(0, 1).filter(({ address }) => address === own),
    );
    const small = await rpc<Unspent[]>('listunspent', 1, 99, [], true, {
      maximumAmount: 0.3,
      minimumAmount: '0.2',
    });
    expect(small.every(({ amount }) => amount >= 0.2 && amount <= 0.3)).toBe(true);
    expect(await rpc<Unspent[]>('listunspent', 1, 99, [], true, { minimumSumAmount: 0.1 })).toHaveLength(1);
  });

  it('does not spend locked outputs', async () => {
    const [first, ...rest] = await rpc<Unspent[]>('listunspent');
    const output = { txid: first!.txid, vout: first!.vout };
    expect(await rpc('lockunspent', false, [output])).toBe(true);
    expect(await rpc('listlockunspent')).toEqual([output]);
    expect((await rpc<Unspent[]>('listunspent')).map(keyOf)).toEqual(rest.map(keyOf));
    expect(await refused('', 'lockunspent', false, [output])).toBe(
      '-8 Invalid parameter, output already locked',
    );
    expect(await refused('', 'lockunspent', false, [{ ...output, vout: 99 }])).toBe(
      '-8 Invalid parameter, vout index out of bounds',
    );
    expect(await rpc('lockunspent', true, [output])).toBe(true);
    expect(await refused('', 'lockunspent', true, [output])).toBe(
      '-8 Invalid parameter, expected locked output',
    );
    const raw = await rpc<string>('createrawtransaction', [], [{ [ADDRESS]: 0.1 }]);
    await rpc('fundrawtransaction', raw, { lockUnspents: true });
    expect(await rpc<Output[]>('listlockunspent')).toHaveLength(1);
    expect(await rpc('lockunspent', true)).toBe(true);
    expect(await rpc('listlockunspent')).toEqual([]);
    // A transaction that names a locked output as its input can spend it. The output is then no longer in the list.
    await rpc('lockunspent', false, [output]);
    const back = { [await rpc<string>('getnewaddress')]: (first!.amount - 0.001).toFixed(8) };
    const spending = await rpc<string>('createrawtransaction', [output], back);
    const { hex } = await rpc<{ hex: string }>('signrawtransactionwithwallet', spending);
    await rpc('sendrawtransaction', hex);
    expect(await rpc('listlockunspent')).toEqual([]);
  });

  it('reports which script makes an output spendable by the wallet', async () => {
    const changeAddress = await rpc<string>('getrawchangeaddress', 'p2sh-segwit');
    const { psbt } = await rpc<{ psbt: string }>('walletcreatefundedpsbt', [], [{ [ADDRESS]: 0.1 }], 0, {
      changeAddress,
      changePosition: 1,
    });
    const { outputs } = await rpc<{ outputs: unknown[] }>('decodepsbt', psbt);
    expect(outputs).toEqual([{}, { redeem_script: expect.objectContaining({ type: 'witness_v0_keyhash' }) }]);
  });

  it('funds, signs and sends raw transactions', async () => {
    const raw = await rpc<string>('createrawtransaction', [], [{ [ADDRESS]: 2.3 }]);
    const funded = await rpc<{ hex: string; fee: number; changepos: number }>('fundrawtransaction', raw, {
      changePosition: 0,
      feeRate: 0.001,
      subtractFeeFromOutputs: [0],
    });
    expect(funded.changepos).toBe(0);
    const unsigned = await rpc<{ complete: boolean }>('signrawtransactionwithkey', funded.hex, []);
    expect(unsigned.complete).toBe(false);
    const signed = await rpc<{ hex: string; complete: boolean }>('signrawtransactionwithwallet', funded.hex);
    expect(await rpc('signrawtransaction', funded.hex)).toEqual(signed);
    const { vsize, vout } = await rpc<{ vsize: number; vout: { value: number }[] }>(
      'decoderawtransaction',
      signed.hex,
    );
    expect(Math.abs(funded.fee * 1e8 - vsize * 100)).toBeLessThan(300);
    expect(Math.round((vout[1]!.value + funded.fee) * 1e8)).toBe(2.3e8);
    expect(await isWaiting(await rpc<string>('sendrawtransaction', signed.hex))).toBe(true);
    await rpc('generate', 1);
  });

  it('bumps fees, and does not abandon transactions in the mempool', async () => {
    const txid = await rpc<string>('sendtoaddress', ADDRESS, 1, '', '', false, true);
    const bumped = await rpc<{ txid: string; origfee: number; fee: number; errors: string[] }>(
      'bumpfee',
      txid,
      {
        confTarget: 2,
      },
    );
    expect(bumped.fee).toBeGreaterThan(bumped.origfee);
    expect(bumped.errors).toEqual([]);
    expect(await isWaiting(txid)).toBe(false);
    expect(await refused('', 'bumpfee', txid)).toBe(
      `-4 Cannot bump transaction ${txid} which was already bumped by transaction ${bumped.txid}`,
    );
    expect(await refused('', 'abandontransaction', bumped.txid)).toBe(
      '-5 Transaction not eligible for abandonment',
    );
    expect(await rpc<string[]>('resendwallettransactions')).toEqual([bumped.txid]);
    const again = await rpc<{ txid: string }>('bumpfee', bumped.txid, {
      totalFee: 100_000,
      replaceable: false,
    });
    expect(await refused('', 'bumpfee', again.txid)).toBe('-4 Transaction is not BIP 125 replaceable');
    await rpc('generate', 1);
    expect(await refused('', 'bumpfee', again.txid)).toBe(
      '-4 Transaction has been mined, or is conflicted with a mined transaction',
    );
    expect(await rpc<string[]>('resendwallettransactions')).toEqual([]);
  });

  it('never spends a coin twice in concurrent calls', async () => {
    const sends = Array.from({ length: 8 }, () => rpc<string>('sendtoaddress', ADDRESS, 0.6));
    const txids = await Promise.all(sends);
    const spent: string[] = [];
    for (const txid of txids) {
      const { vin } = await rpc<{ vin: Output[] }>(
        'decoderawtransaction',
        (await rpc<{ hex: string }>('gettransaction', txid)).hex,
      );
      spent.push(...vin.map(keyOf));
    }
    expect(new Set(spent).size).toBe(spent.length);
    await rpc('generate', 1);
  });

  it('refuses with the messages of the reference', async () => {
    const reported: [string, unknown[], string][] = [
      ['sendtoaddress', [ADDRESS, 'x'], '-3 Invalid amount'],
      ['sendtoaddress', [ADDRESS, 0], '-3 Invalid amount for send'],
      ['sendtoaddress', [ADDRESS, 0.000001], '-4 Transaction amount too small'],
      ['sendtoaddress', ['x', 1], '-5 Invalid address'],
      ['sendtoaddress', [ADDRESS, 9_000_000_000], '-6 Insufficient funds'],
      [
        'sendtoaddress',
        [ADDRESS, 1, '', '', false, false, 0],
        '-8 Invalid conf_target, must be between 1 - 1008',
      ],
      ['sendmany', ['x', { [ADDRESS]: 1 }], '-8 Dummy value must be set to ""'],
      ['sendmany', ['', { x: 1 }], '-5 Invalid Bitcoin address: x'],
      ['sendmany', ['', { [ADDRESS]: 9_000_000_000 }], '-6 Wallet has insufficient funds'],
      ['sendmany', ['', {}], '-6 Transaction must have at least one recipient'],
      [
        'sendfrom',
        ['', ADDRESS, 1],
        '-32 sendfrom is deprecated and will be removed in V0.18. To use this command, start with -deprecatedrpc=accounts.',
      ],
      ['abandontransaction', [UNKNOWN_TXID], '-5 Invalid or non-wallet transaction id'],
      ['bumpfee', [UNKNOWN_TXID], '-5 Invalid or non-wallet transaction id'],
      ['bumpfee', [UNKNOWN_TXID, { totalFee: 0 }], '-8 Invalid totalFee 0.00 (must be greater than 0)'],
      ['fundrawtransaction', ['00'], '-22 TX decode failed'],
      ['fundrawtransaction', ['01000000000000000000'], '-8 TX must have at least one output'],
      ['fundrawtransaction', ['01000000000000000000', { x: 1 }], '-3 Unexpected key x'],
      ['walletcreatefundedpsbt', [[], [{ [ADDRESS]: 9_000_000_000 }]], '-4 Insufficient funds'],
      ['walletprocesspsbt', ['x'], '-22 TX decode failed Invalid base64'],
      [
        'lockunspent',
        [false, [{ txid: UNKNOWN_TXID, vout: 0 }]],
        '-8 Invalid parameter, unknown transaction',
      ],
      ['listunspent', [1, 9, ['x']], '-5 Invalid Bitcoin address: x'],
      ['settxfee', ['x'], '-3 Invalid amount'],
    ];
    for (const [method, params, answer] of reported) {
      const got = await refused('', method, ...params);
      expect(method === 'walletprocesspsbt' ? got.slice(0, 20) : got, method).toBe(
        method === 'walletprocesspsbt' ? answer.slice(0, 20) : answer,
      );
    }
    expect(await refused('nobody', 'listunspent')).toBe(
      '-18 Requested wallet does not exist or is not loaded',
    );
  });
});

describe('several wallets', () => {
  it('an encrypted one signs only when it is open', async () => {
    await rpc('createwallet', 'vault');
    expect(await refused(null, 'sendtoaddress', ADDRESS, 1)).toBe(
      '-19 Wallet file not specified (must request wallet RPC through /wallet/<filename> uri-path).',
    );
    const address = await to<string>('vault', 'getnewaddress');
    await rpc('sendtoaddress', address, 5);
    await rpc('generate', 6);
    await to('vault', 'encryptwallet', 'secret');
    const raw = await to<string>('vault', 'createrawtransaction', [], [{ [ADDRESS]: 1 }]);
    const { hex } = await to<{ hex: string }>('vault', 'fundrawtransaction', raw);
    expect(await refused('vault', 'sendtoaddress', ADDRESS, 1)).toBe(`-13 ${LOCKED}`);
    expect(await refused('vault', 'sendmany', '', { [ADDRESS]: 1 })).toBe(`-13 ${LOCKED}`);
    expect(await refused('vault', 'signrawtransactionwithwallet', hex)).toBe(`-13 ${LOCKED}`);
    expect(await refused('vault', 'bumpfee', UNKNOWN_TXID)).toBe(`-13 ${LOCKED}`);
    const { psbt } = await to<{ psbt: string }>(
      'vault',
      'walletcreatefundedpsbt',
      [],
      [{ [ADDRESS]: 1 }],
      0,
      {},
      true,
    );
    expect(await to('vault', 'walletprocesspsbt', psbt)).toMatchObject({ complete: false });
    await to('vault', 'walletpassphrase', 'secret', 600);
    expect(await to('vault', 'signrawtransactionwithwallet', hex)).toMatchObject({ complete: true });
    expect(await to('vault', 'walletprocesspsbt', psbt, true, 'ALL', true)).toMatchObject({ complete: true });
    expect(await isWaiting(await to<string>('vault', 'sendtoaddress', ADDRESS, 1))).toBe(true);
    await to('vault', 'walletlock');
  });

  it('a watch-only wallet funds transactions that others sign', async () => {
    await rpc('createwallet', 'watch', true);
    const address = await rpc<string>('getnewaddress');
    await rpc('sendtoaddress', address, 2);
    await rpc('generate', 1);
    await to('watch', 'importaddress', address);
    const watched = await to<Unspent[]>('watch', 'listunspent');
    expect(watched.length).toBeGreaterThan(0);
    expect(watched.every(({ spendable, solvable }) => !spendable && !solvable)).toBe(true);
    const { pubkey } = await rpc<{ pubkey: string }>('getaddressinfo', address);
    await to('watch', 'importpubkey', pubkey, '', false);
    const raw = await rpc<string>('createrawtransaction', [], [{ [ADDRESS]: 0.1 }]);
    expect(await refused('watch', 'fundrawtransaction', raw, true)).toBe(
      "-4 Can't generate a change-address key. Private keys are disabled for this wallet.",
    );
    expect(await refused('watch', 'fundrawtransaction', raw, { changeAddress: address })).toBe(
      '-4 Insufficient funds',
    );
    const { hex } = await to<{ hex: string }>('watch', 'fundrawtransaction', raw, {
      changeAddress: address,
      includeWatching: true,
    });
    expect(await to('watch', 'signrawtransactionwithwallet', hex)).toMatchObject({ complete: false });
    expect(await rpc('signrawtransactionwithwallet', hex)).toMatchObject({ complete: true });
  });

  it('two of three signers sign one PSBT', async () => {
    const names = ['one', 'two', 'three'];
    const keys: string[] = [];
    for (const name of names) {
      await rpc('createwallet', name);
      const info = await to<{ pubkey: string }>(
        name,
        'getaddressinfo',
        await to<string>(name, 'getnewaddress'),
      );
      keys.push(info.pubkey);
    }
    let shared = '';
    for (const name of names) {
      shared = (await to<{ address: string }>(name, 'addmultisigaddress', 2, keys, '', 'p2sh-segwit'))
        .address;
      await to(name, 'importaddress', shared, '', false);
    }
    await rpc('sendtoaddress', shared, 3);
    await rpc('generate', 1);
    const options = { includeWatching: true, changeAddress: shared };
    const { psbt } = await to<{ psbt: string }>(
      'one',
      'walletcreatefundedpsbt',
      [],
      [{ [ADDRESS]: 1 }],
      0,
      options,
    );
    const parts: string[] = [];
    for (const name of ['one', 'three']) {
      const part = await to<{ psbt: string; complete: boolean }>(name, 'walletprocesspsbt', psbt);
      expect(part.complete).toBe(false);
      parts.push(part.psbt);
    }
    const combined = await rpc<string>('combinepsbt', parts);
    const final = await rpc<{ hex: string; complete: boolean }>('finalizepsbt', combined);
    expect(final.complete).toBe(true);
    expect(await isWaiting(await rpc<string>('sendrawtransaction', final.hex))).toBe(true);
    await rpc('generate', 1);
    for (const name of [...names, 'watch', 'vault']) await to(null, 'unloadwallet', name);
  });
});

describe('after a restart', () => {
  it('from a kill, sent transactions exist, spend their coins, and are in the mempool again', async () => {
    const before = (await rpc<Unspent[]>('listunspent')).map(keyOf);
    const txid = await rpc<string>('sendtoaddress', ADDRESS, 3);
    const after = (await rpc<Unspent[]>('listunspent')).map(keyOf);
    await node.kill();
    await start();
    expect(await isWaiting(txid)).toBe(true);
    expect((await rpc<Unspent[]>('listunspent')).map(keyOf)).toEqual(after);
    expect(after.length).toBeLessThan(before.length);
    expect(await rpc('gettransaction', txid)).toMatchObject({ txid, confirmations: 0 });
  });

  it('with -walletbroadcast=0, nothing is sent, and transactions can be abandoned', async () => {
    await rpc('generate', 1);
    await node.stop();
    await start('-walletbroadcast=0');
    const before = await rpc<Unspent[]>('listunspent');
    const txid = await rpc<string>('sendtoaddress', ADDRESS, 1);
    expect(await isWaiting(txid)).toBe(false);
    expect((await rpc<Unspent[]>('listunspent')).length).toBeLessThan(before.length);
    expect(await refused('', 'resendwallettransactions')).toBe(
      '-4 Error: Wallet transaction broadcasting is disabled with -walletbroadcast',
    );
    expect(await rpc('abandontransaction', txid)).toBe(null);
    expect(await rpc('abandontransaction', txid)).toBe(null);
    expect((await rpc<Unspent[]>('listunspent')).map(keyOf)).toEqual(before.map(keyOf));
    await node.stop();
    await start('-deprecatedrpc=accounts');
    expect(await isWaiting(txid)).toBe(false);
  });

  it('accounts exist, if they are enabled', async () => {
    expect(await refused('', 'sendfrom', 'rent', ADDRESS, 1)).toBe('-6 Account has insufficient funds');
    expect(await refused('', 'sendfrom', '*', ADDRESS, 1)).toBe('-11 Invalid label name');
    expect(await refused('', 'sendmany', 'rent', { [ADDRESS]: 1 })).toBe('-6 Account has insufficient funds');
    const address = await rpc<string>('getnewaddress', 'rent');
    await rpc('sendtoaddress', address, 2);
    await rpc('generate', 1);
    expect(await isWaiting(await rpc<string>('sendfrom', 'rent', ADDRESS, 0.5, 1, 'c', 't'))).toBe(true);
    expect(await refused('', 'sendfrom', 'rent', ADDRESS, 1.5)).toBe('-6 Account has insufficient funds');
    const [listed] = await rpc<(Unspent & { account: string })[]>('listunspent', 0, 99, [address]);
    if (listed !== undefined) expect(listed.account).toBe('rent');
  });
});
