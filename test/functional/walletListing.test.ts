/** Balances, transactions, receipts, labels and accounts of a wallet. Every answer matches the declaration of its method. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { METHODS } from '../../src/rpc/declare/methodTable.js';
import { checkJson } from '../../src/schema/schemaCheck.js';
import { parseJson } from '../../src/util/json/jsonParse.js';
import { ADDRESS as UNOWNED, startRegtest, type RegtestNode } from './support/node.js';

interface Item {
  txid: string;
  category: string;
  amount: number;
  confirmations: number;
  label?: string;
  vout: number;
  fee?: number;
  abandoned?: boolean;
  trusted?: boolean;
  blockhash?: string;
  walletconflicts: string[];
  account?: string;
}

let node: RegtestNode;
let folder: string;

/** Calls a method, and compares the answer with its declaration. */
async function rpc<T = unknown>(method: string, params: readonly unknown[] = []): Promise<T> {
  const { text } = await node.post(JSON.stringify({ id: 1, method, params }));
  const answer = JSON.parse(text) as { result: T; error: { code: number; message: string } | null };
  if (answer.error !== null) throw new Error(`${answer.error.code} ${answer.error.message}`);
  const declared = METHODS.find(({ name }) => name === method)!;
  const result = /^\{"result":(.*),"error":null,"id":1\}\s*$/s.exec(text)![1]!;
  expect(checkJson(declared.result, parseJson(result))).toEqual([]);
  return answer.result;
}
const failure = (method: string, ...params: unknown[]): Promise<string> =>
  rpc(method, params).then(
    () => 'no error',
    (error: Error) => error.message,
  );

const start = async (args: readonly string[] = []): Promise<void> => {
  node = await startRegtest({ dataDir: folder, args: ['-fallbackfee=0.0002', '-keypool=20', ...args] });
};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'listing-'));
  await start();
});
afterAll(async () => {
  await node.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Answers of the wallet, which another process must repeat. */
let reported: unknown[];
const tell = async (): Promise<unknown[]> => [
  await rpc('getbalance'),
  await rpc('listtransactions', ['*', 1000]),
  await rpc('listsinceblock'),
  await rpc('listreceivedbyaddress', [0, true, true]),
  await rpc('listreceivedbylabel', [0, true, true]),
  await rpc('listaddressgroupings'),
  await rpc('listlabels'),
];

describe('the lists of a wallet', () => {
  let alice: string;
  let bob: string;
  const foreign = UNOWNED;

  it('contain received, sent and remaining amounts', async () => {
    alice = await rpc('getnewaddress', ['alice']);
    bob = await rpc('getnewaddress', ['bob']);
    expect(await rpc('getbalance')).toBe(0);
    expect(await rpc('listtransactions')).toEqual([]);
    await rpc('generatetoaddress', [105, alice]);
    const mature = await rpc<number>('getbalance');
    expect(mature).toBeGreaterThan(0);
    expect(await rpc('getbalance', ['*', 104])).toBeLessThan(mature);
    expect(await rpc('getbalance', [null, 200])).toBe(0);
    const mined = await rpc<Item[]>('listtransactions', ['*', 1000]);
    expect(mined.map(({ category }) => category)).toEqual([
      ...Array.from({ length: 5 }, () => 'generate'),
      ...Array.from({ length: 100 }, () => 'immature'),
    ]);
    // Mined coins do not count as received.
    expect(await rpc('getreceivedbyaddress', [alice])).toBe(0);

    const sent = await rpc<string>('sendtoaddress', [bob, 0.25, 'a note', 'to myself']);
    const [send, receive] = await rpc<Item[]>('listtransactions', ['*', 2]);
    expect([send, receive].map((item) => item!.category).sort()).toEqual(['receive', 'send']);
    expect(send).toMatchObject({ txid: sent, confirmations: 0, trusted: true });
    expect(await rpc('gettransaction', [sent])).toMatchObject({
      amount: 0,
      comment: 'a note',
      to: 'to myself',
      'bip125-replaceable': 'no',
      details: [{ category: 'send' }, { category: 'receive', label: 'bob', amount: 0.25 }],
    });
    expect(await rpc('getreceivedbyaddress', [bob])).toBe(0);
    expect(await rpc('getreceivedbyaddress', [bob, 0])).toBe(0.25);
    expect(await rpc('getreceivedbylabel', ['bob', 0])).toBe(0.25);
    expect(await rpc('getunconfirmedbalance')).toBe(0);
    await rpc('sendtoaddress', [foreign, 0.5]);
    await rpc('generatetoaddress', [1, foreign]);
    expect(await rpc('listtransactions', ['bob'])).toMatchObject([{ category: 'receive', confirmations: 1 }]);
    expect(await rpc('listtransactions', ['bob', 1, 1])).toEqual([]);
    expect(await rpc('listreceivedbyaddress', [1, false, false, bob])).toMatchObject([
      { address: bob, amount: 0.25, confirmations: 1, txids: [sent] },
    ]);
    expect(await rpc('listreceivedbylabel')).toMatchObject([{ label: 'bob', amount: 0.25 }]);
    const groups = await rpc<[string, number, string?][][]>('listaddressgroupings');
    expect(groups.flat().find(([address]) => address === bob)).toEqual([bob, 0.25, 'bob']);
  });

  it('follow disconnected blocks', async () => {
    const tip = await rpc<string>('getbestblockhash');
    const txid = await rpc<string>('sendtoaddress', [bob, 0.125]);
    const [stale] = await rpc<string[]>('generatetoaddress', [1, foreign]);
    const since = async (
      hash: string,
    ): Promise<{ transactions: Item[]; removed: Item[]; lastblock: string }> => rpc('listsinceblock', [hash]);
    expect((await since(tip)).transactions.map((item) => item.txid)).toEqual([txid, txid]);
    expect((await since(stale!)).transactions).toEqual([]);
    await rpc('invalidateblock', [stale]);
    const { transactions, removed, lastblock } = await since(stale!);
    expect(transactions.every((item) => item.txid === txid && item.confirmations === 0)).toBe(true);
    expect(removed.map((item) => item.txid)).toEqual([txid, txid]);
    expect(lastblock).toBe(tip);
    // Pays to another address, so that the block differs from the disconnected one.
    await rpc('generatetoaddress', [2, '2MssfVSPTwVTeDYk8AEZZTabMq4DJVi7Vnb']);
    expect((await rpc<Item>('gettransaction', [txid])).confirmations).toBeGreaterThan(0);
    expect(await rpc('listsinceblock', [tip, 1000, false, false])).toEqual({
      transactions: (await since(tip)).transactions,
      lastblock: '00'.repeat(32),
    });
  });

  it('contain the labels of the owner', async () => {
    expect(await rpc('setlabel', [foreign, 'żółw'])).toBeNull();
    expect(await rpc('listlabels')).toEqual(['alice', 'bob', 'żółw']);
    expect(await rpc('listlabels', ['send'])).toEqual(['żółw']);
    expect(await rpc('getaddressesbylabel', ['żółw'])).toEqual({ [foreign]: { purpose: 'send' } });
    expect(await rpc('setlabel', [bob, 'robert'])).toBeNull();
    expect(await rpc('getreceivedbylabel', ['robert'])).toBe(0.375);
    expect(await failure('getaddressesbylabel', 'bob')).toBe('-11 No addresses with label bob');
  });

  it('refuses what the reference refuses', async () => {
    const other = 'bW5PZEvEBNPQRVhwpYXSjabFgbSw1oaHyR';
    for (const [expected, method, ...params] of [
      ['-32 dummy first argument must be excluded or set to "*".', 'getbalance', 'alice'],
      ['-1 JSON value is not a string as expected', 'getbalance', 1],
      ['-1 JSON value is not an integer as expected', 'getbalance', '*', 'x'],
      ['-5 Invalid or non-wallet transaction id', 'gettransaction', '00'],
      ['-8 Label argument must be a valid label name or "*".', 'listtransactions', ''],
      ['-8 Negative count', 'listtransactions', '*', -1],
      ['-8 Negative from', 'listtransactions', '*', 1, -1],
      ['-5 Block not found', 'listsinceblock', '00'],
      ['-8 Invalid parameter', 'listsinceblock', '', 0],
      ['-5 Invalid Bitcoin address', 'getreceivedbyaddress', 'x'],
      ['-4 Address not found in wallet', 'getreceivedbyaddress', foreign],
      ['-4 address_filter parameter was invalid', 'listreceivedbyaddress', 0, false, false, other.slice(1)],
      ['-11 Invalid label name', 'getreceivedbylabel', '*'],
      ['-11 Invalid label name', 'setlabel', foreign, '*'],
      ['-5 Invalid Bitcoin address', 'setlabel', 'x', 'y'],
    ] as [string, string, ...unknown[]][])
      expect(await failure(method, ...params)).toBe(expected);
    for (const [method, ...params] of [
      ['getaccount', bob],
      ['getaccountaddress', 'a'],
      ['getaddressesbyaccount', 'a'],
      ['getreceivedbyaccount', 'a'],
      ['listaccounts'],
      ['listreceivedbyaccount'],
      ['setaccount', bob, 'a'],
      ['move', 'a', 'b', 1],
      // The option is checked before the arguments.
      ['move', 'a'],
    ] as [string, ...unknown[]][]) {
      expect(await failure(method, ...params)).toBe(
        `-32 ${method} is deprecated and will be removed in V0.18. To use this command, start with -deprecatedrpc=accounts.`,
      );
    }
  });

  it('are the same after loading the file', async () => {
    reported = await tell();
    await node.stop();
    await start(['-deprecatedrpc=accounts']);
    const again = await tell();
    const plain = (answer: unknown): unknown =>
      JSON.parse(JSON.stringify(answer, (key, value: unknown) => (key === 'account' ? undefined : value)));
    // Balances of accounts differ. The other answers have one more field.
    expect(again.slice(1).map(plain)).toEqual(reported.slice(1).map(plain));
    expect(again[0]).toBe(reported[0]);
  });

  it('contain accounts if they are enabled', async () => {
    const before = await rpc<Record<string, number>>('listaccounts');
    expect(Object.keys(before)).toEqual(['', 'alice', 'robert']);
    expect(before['robert']).toBe(0.375);
    expect(await rpc('move', ['alice', 'robert', 0.5, 1, 'a loan'])).toBe(true);
    expect(await rpc('getbalance', ['robert'])).toBe(0.875);
    const [from, to] = await rpc<Item[]>('listtransactions', ['*', 2]);
    expect(from).toMatchObject({ account: 'alice', category: 'move', amount: -0.5, comment: 'a loan' });
    expect(to).toMatchObject({ account: 'robert', otheraccount: 'alice', amount: 0.5 });
    expect(await rpc('getaccount', [bob])).toBe('robert');
    const address = await rpc<string>('getaccountaddress', ['robert']);
    expect(await rpc('getaccountaddress', ['robert'])).toBe(address);
    await rpc('sendtoaddress', [address, 0.0625]);
    const next = await rpc<string>('getaccountaddress', ['robert']);
    expect(next).not.toBe(address);
    expect((await rpc<string[]>('getaddressesbyaccount', ['robert'])).sort()).toEqual(
      [address, bob, next].sort(),
    );
    expect(await rpc('setaccount', [next, 'carol'])).toBeNull();
    expect(await rpc('getaccountaddress', ['robert'])).not.toBe(next);
    expect(await rpc('getreceivedbyaccount', ['robert'])).toBe(0.375);
    expect(await rpc('listreceivedbyaccount', [0])).toMatchObject([{ account: 'robert', amount: 0.4375 }]);
    for (const [expected, method, ...params] of [
      ['-3 Invalid amount for send', 'move', 'a', 'b', 0],
      ['-3 Amount out of range', 'move', 'a', 'b', -1],
      ['-11 Invalid label name', 'move', '*', 'b', 1],
      ['-11 Invalid label name', 'getaccountaddress', '*'],
      ['-5 Invalid Bitcoin address', 'getaccount', 'x'],
    ] as [string, string, ...unknown[]][])
      expect(await failure(method, ...params)).toBe(expected);
  });
});
