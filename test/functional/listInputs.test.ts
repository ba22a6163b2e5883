/**
 * Odd and hostile inputs of the methods whose answers the explorer shows: heights above the tip, negative and huge numbers, unknown
 * ids, wrong hex, and cursors of other lists.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPEN_ADDRESS } from './support/network.js';
import { startRegtest, type RegtestNode } from './support/node.js';

const NAME = 'crowded';
const ZERO_HASH = '00'.repeat(32);
const ZERO_ID = '00'.repeat(20);
const NOT_INT = [-1, 'JSON integer out of range'];
const WRONG_COUNT = [-8, 'count must be between 1 and 1000'];
const HEIGHT = [-8, 'Block height out of range'];
const NO_BLOCK = [-5, 'Block not found'];
const FOREIGN = 'is the cursor of another list';

let node: RegtestNode;
let tip = 0;
let txid = '';
let claimId = '';

type Refused = readonly [code: number, message: string];

async function refusalOf(method: string, params: readonly unknown[]): Promise<Refused | 'answered'> {
  try {
    await node.rpc(method, params);
    return 'answered';
  } catch (error) {
    const { code, message } = error as { code: number; message: string };
    return [code, message];
  }
}

beforeAll(async () => {
  node = await startRegtest({
    args: ['-txindex', '-spendindex', '-addressindex', '-claimindex', '-fallbackfee=0.0002'],
  });
  const own = await node.rpc<string>('getnewaddress');
  await node.rpc('generatetoaddress', [110, own]);
  const claim = async (amount: number): Promise<string> => node.rpc('claimname', [NAME, '00', amount]);
  txid = await claim(3);
  await claim(2);
  await claim(1);
  await node.rpc('generatetoaddress', [1, OPEN_ADDRESS]);
  const [made] = await node.rpc<{ claimId: string }[]>('getclaimsfortx', [txid]);
  ({ claimId } = made!);
  for (const amount of [1, 2]) await node.rpc('supportclaim', [NAME, claimId, amount]);
  await node.rpc('generatetoaddress', [2, OPEN_ADDRESS]);
  for (const amount of [0.5, 0.25]) await node.rpc('sendtoaddress', [OPEN_ADDRESS, amount]);
  for (const amount of [0.5, 0.25]) await node.rpc('supportclaim', [NAME, claimId, amount]);
  tip = await node.rpc('getblockcount');
});
afterAll(() => node?.stop());

describe('methods of the explorer', () => {
  it('refuse heights above the tip, negative heights and unknown blocks', async () => {
    for (const [block, refused] of [
      [tip + 1, HEIGHT],
      [-1, HEIGHT],
      [0x7fffffff, HEIGHT],
      [2 ** 31, NOT_INT],
      [ZERO_HASH, NO_BLOCK],
    ] as const) {
      expect(await refusalOf('listclaims', [NAME, 1, null, 'bid', block])).toEqual(refused);
      expect(await refusalOf('getblockevents', [block])).toEqual(refused);
    }
    expect(await refusalOf('getclaimsforname', [NAME, ZERO_HASH])).toEqual(NO_BLOCK);
    const heights = [-8, `from and to must be heights of at most ${tip}, with from not above to`];
    expect(await refusalOf('getchainseries', ['claims', tip + 1])).toEqual(heights);
    expect(await refusalOf('getchainseries', ['claims', 0, tip + 1])).toEqual(heights);
    expect(await refusalOf('getchainseries', ['claims', 5, 4])).toEqual(heights);
    expect(await refusalOf('getchainseries', ['claims', -1])).toEqual([
      -8,
      'from must be between 0 and 2147483647',
    ]);
  });

  it('refuse counts of 0, negative counts and huge ones', async () => {
    for (const [count, refused] of [
      [0, WRONG_COUNT],
      [-1, WRONG_COUNT],
      [-(2 ** 31), WRONG_COUNT],
      [1001, WRONG_COUNT],
      [2 ** 31, NOT_INT],
      [1.5, NOT_INT],
    ] as const) {
      expect(await refusalOf('listclaims', [NAME, count])).toEqual(refused);
      expect(await refusalOf('listsupports', [claimId, count])).toEqual(refused);
      expect(await refusalOf('getclaimsforname', [NAME, null, false, count])).toEqual(refused);
      expect(await refusalOf('getclaimbyid', [claimId, count])).toEqual(refused);
      expect(await refusalOf('getclaimsfortx', [txid, 0, count])).toEqual(refused);
      expect(await refusalOf('gettxinfo', [txid, 0, count])).toEqual(refused);
      expect(await refusalOf('getblockevents', [tip, count])).toEqual(refused);
    }
    for (const points of [0, 1, -1, 2001])
      expect(await refusalOf('getchainseries', ['claims', 0, tip, points])).toEqual([
        -8,
        'points must be between 2 and 2000',
      ]);
    for (const limit of [0, -1, 100_001])
      expect(await refusalOf('getaddresstxids', [{ addresses: [OPEN_ADDRESS], limit }])).toEqual([
        -8,
        '"limit" must be between 1 and 100000',
      ]);
    const from = [-8, 'from must be between 0 and 2147483647'];
    for (const method of ['gettxinfo', 'getclaimsfortx'])
      expect(await refusalOf(method, [txid, -1])).toEqual(from);
    expect(await refusalOf('getblockevents', [tip, 1, -1])).toEqual([
      -8,
      'after must be between 0 and 2147483647',
    ]);
  });

  it('return empty pages for positions after the end of a list', async () => {
    const last = 0x7fffffff;
    expect(await node.rpc<object>('gettxinfo', [txid, last])).toMatchObject({ inputs: [], outputs: [] });
    expect(await node.rpc('getclaimsfortx', [txid, last])).toEqual([]);
    expect(await node.rpc<object>('getblockevents', [tip, 1, last])).toMatchObject({ events: [] });
    const range = { addresses: [OPEN_ADDRESS], start: tip + 10, end: tip + 20, limit: 1 };
    expect(await node.rpc('getaddresstxids', [range])).toEqual({ txids: [] });
  });

  it('refuse unknown ids and wrong hex', async () => {
    expect(await refusalOf('listsupports', [ZERO_ID])).toEqual([-5, `Could not find claim at ${ZERO_ID}`]);
    expect(await node.rpc('getclaimbyid', [ZERO_ID])).toEqual({});
    expect(await node.rpc('getclaimsfortx', [ZERO_HASH])).toEqual([]);
    expect((await refusalOf('gettxinfo', [ZERO_HASH]))[0]).toBe(-5);
    expect(await refusalOf('listsupports', [claimId.slice(1)])).toEqual([
      -8,
      'claimid must have 40 hexadecimal digits',
    ]);
    expect(await refusalOf('listclaims', ['abc', 1, null, 'bid', null, true])).toEqual([
      -8,
      'name must be in hex',
    ]);
    expect(await refusalOf('getclaimsforname', ['xy', null, true])).toEqual([-8, 'name must be in hex']);
    expect(await refusalOf('listclaims', [NAME, 1, null, 'best'])).toEqual([
      -8,
      'order must be one of bid, oldest, newest',
    ]);
    expect(await refusalOf('getaddresstxids', ['no address'])).toEqual([-5, 'Invalid address: no address']);
  });

  it('refuse the cursors of other lists', async () => {
    const other = await node.rpc<string>('getnewaddress');
    await node.rpc('generatetoaddress', [2, other]);
    for (const amount of [0.5, 0.25]) {
      await node.rpc('sendtoaddress', [OPEN_ADDRESS, amount]);
      await node.rpc('supportclaim', [NAME, claimId, amount]);
    }
    const address = (method: string, addresses: string, more: object = {}) => ({
      title: `${method} ${addresses} ${JSON.stringify(more)}`,
      ask: (after: string | null) => {
        const query = { addresses: [addresses], limit: 1, mempool: true, ...more };
        return node.rpc<{ next: string }>(method, [after === null ? query : { ...query, after }]);
      },
    });
    const list = (method: string, params: (after: string | null) => unknown[]) => ({
      title: `${method} ${JSON.stringify(params(null))}`,
      ask: (after: string | null) =>
        node.rpc<{ next?: string; nextSupports?: string }>(method, params(after)),
    });
    const lists = [
      list('listclaims', (after) => [NAME, 1, after]),
      list('listsupports', (after) => [claimId, 1, after]),
      list('getclaimsforname', (after) => [NAME, null, false, 1, after]),
      list('getclaimbyid', (after) => [claimId, 1, after]),
      list('listmempoolclaims', (after) => [null, null, false, 1, after]),
      list('listmempoolclaims', (after) => [NAME, null, false, 1, after]),
      list('listmempoolclaims', (after) => [null, claimId, false, 1, after]),
      address('getaddresstxids', OPEN_ADDRESS),
      address('getaddresstxids', OPEN_ADDRESS, { descending: true }),
      address('getaddresstxids', other),
      address('getaddressutxos', OPEN_ADDRESS),
      address('getaddressutxos', other),
      address('getaddressmempool', OPEN_ADDRESS),
    ];
    const cursors: string[] = [];
    for (const { title, ask } of lists) {
      const { next, nextSupports } = (await ask(null)) as { next?: string; nextSupports?: string };
      expect(next ?? nextSupports, title).toBeTypeOf('string');
      cursors.push((next ?? nextSupports)!);
    }
    let foreign = 0;
    for (const [i, { title, ask }] of lists.entries())
      for (const [k, cursor] of cursors.entries()) {
        if (i === k) {
          expect(await ask(cursor), title).toBeTypeOf('object');
          continue;
        }
        const error = await ask(cursor).then(
          () => null,
          (thrown: { code: number; message: string }) => thrown,
        );
        expect([title, lists[k]!.title, error?.code]).toEqual([title, lists[k]!.title, -8]);
        if (error?.message.includes(FOREIGN) === true) foreign++;
      }
    expect(foreign).toBeGreaterThan(20);
    // A cursor has the tag of the channel.
    for (const cursor of cursors)
      expect((await refusalOf('listchannelclaims', [claimId, 1, cursor]))[0]).toBe(-8);
  });
});
