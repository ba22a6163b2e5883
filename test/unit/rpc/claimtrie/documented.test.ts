/** The claim methods in the documented profile, with a real claim store. */
import { describe, expect, it } from 'vitest';
import { hashToHex } from '../../../../src/util/bytes.js';
import { JsonNumber } from '../../../../src/util/json/json.js';
import { expirationHeight } from '../../../../src/claimtrie/rules.js';
import { REGTEST_RULES } from '../../../support/claimChain.js';
import {
  ADDRESS,
  blockHashAt,
  claimOutput,
  plainOutput,
  SIDE_BLOCK_HASH,
  supportOutput,
  updateOutput,
  World,
} from './world.js';

const COIN = 100_000_000n;

/**
 * Block 1 claims `Name`. Block 2 has a better claim of `name`, which is pending. Block 3 supports the first claim and spends the
 * support.
 */
async function twoClaims() {
  const world = new World();
  await world.mine();
  const [first] = await world.mine([[], [claimOutput('Name', 'aa', 2n * COIN), plainOutput(5n)]]);
  await world.mineEmpty(64);
  const [second] = await world.mine([[], [claimOutput('name', 'bb', 3n * COIN)]]);
  const [support] = await world.mine([[], [supportOutput('NAME', first!.claimId(0), COIN / 2n, 'cc')]]);
  return { world, first: first!, second: second!, support: support! };
}

describe('getclaimsforname', () => {
  it('returns exact names, amounts in coins, and the name of each claim', async () => {
    const { world, first, second, support } = await twoClaims();
    const answer = await world.call('documented', 'getclaimsforname', 'NAME');
    expect(answer).toEqual({
      nLastTakeoverHeight: 1,
      normalized_name: 'name',
      claims: [
        {
          name: 'Name',
          claimId: hashToHex(first.claimId(0)),
          txid: first.id,
          n: 0,
          nHeight: 1,
          nValidAtHeight: 1,
          nAmount: 2,
          value: 'aa',
          address: ADDRESS,
          blockhash: blockHashAt(1),
          'expiration height': 501,
          nEffectiveAmount: 2.5,
          supports: [
            {
              txid: support.id,
              n: 0,
              nHeight: 67,
              nValidAtHeight: 67,
              nAmount: 0.5,
              value: 'cc',
              address: ADDRESS,
              blockhash: blockHashAt(67),
              'expiration height': 567,
              txId: support.id,
              height: 67,
              validAtHeight: 67,
              amount: 50_000_000,
            },
          ],
          bid: 0,
          sequence: 0,
          txId: first.id,
          height: 1,
          validAtHeight: 1,
          amount: 200_000_000,
          effectiveAmount: 250_000_000,
        },
        {
          name: 'name',
          claimId: hashToHex(second.claimId(0)),
          txid: second.id,
          n: 0,
          nHeight: 66,
          nValidAtHeight: 68,
          nAmount: 3,
          value: 'bb',
          address: ADDRESS,
          blockhash: blockHashAt(66),
          'expiration height': 566,
          nEffectiveAmount: 0,
          nPendingAmount: 3,
          supports: [],
          bid: 1,
          sequence: 1,
          txId: second.id,
          height: 66,
          validAtHeight: 68,
          amount: 300_000_000,
          effectiveAmount: 0,
          pendingAmount: 300_000_000,
        },
      ],
      'supports without claims': [],
      height: 67,
      blockhash: blockHashAt(67),
      normalizedName: 'name',
      lastTakeoverHeight: 1,
      supportsWithoutClaim: [],
    });
  });

  it('has all members of the lbrycrd profile, under the same names', async () => {
    const { world } = await twoClaims();
    await world.mine([[], [supportOutput('name', Buffer.alloc(20, 7), 1n)]]);
    const answer = await world.call('documented', 'getclaimsforname', 'name');
    expect(answer).toMatchObject(
      (await world.call('lbrycrd', 'getclaimsforname', 'name')) as Record<string, unknown>,
    );
  });

  it('answers for any past block, with the names of claims that have ended since', async () => {
    const { world, first } = await twoClaims();
    await world.mine([[first.out(0)], [plainOutput(1n)]]);
    const now = (await world.call('documented', 'getclaimsforname', 'name')) as { claims: unknown[] };
    expect(now).toMatchObject({
      nLastTakeoverHeight: 68,
      claims: [{ name: 'name', nValidAtHeight: 68, nEffectiveAmount: 3 }],
    });
    const past = await world.call('documented', 'getclaimsforname', 'name', blockHashAt(66));
    expect(past).toMatchObject({
      nLastTakeoverHeight: 1,
      claims: [
        { name: 'Name', value: 'aa', address: ADDRESS, nEffectiveAmount: 2, supports: [] },
        { name: 'name', value: 'bb', nValidAtHeight: 68, nEffectiveAmount: 0 },
      ],
      height: 66,
      blockhash: blockHashAt(66),
    });
    expect(await world.call('documented', 'getclaimsforname', 'name', blockHashAt(0))).toMatchObject({
      nLastTakeoverHeight: 0,
      claims: [],
    });
  });

  it('lists supports of ids without a claim separately', async () => {
    const { world } = await twoClaims();
    await world.mine([[], [supportOutput('name', Buffer.alloc(20, 7), 1n)]]);
    const answer = await world.call('documented', 'getclaimsforname', 'name');
    expect((answer as Record<string, unknown>)['supports without claims']).toEqual([
      expect.objectContaining({ n: 0, nHeight: 68, nAmount: 0.00000001, address: ADDRESS }),
    ]);
  });

  it('refuses unknown blocks, blocks of side branches and invalid hashes as the reference does', async () => {
    const { world } = await twoClaims();
    const ask = (hash: string) => world.failure('documented', 'getclaimsforname', 'name', hash);
    expect(await ask(blockHashAt(5000))).toEqual([-5, 'Block not found']);
    expect(await ask(SIDE_BLOCK_HASH)).toEqual([-32603, 'Block not in main chain']);
    expect(await ask('zz')).toEqual([
      -8,
      "blockhash (optional parameter 2) must be hexadecimal string (not 'zz')",
    ]);
    expect(await ask('ab')).toEqual([-8, 'blockhash (optional parameter 2) must be of length 64 (not 2)']);
  });
});

describe('on a pruned node', () => {
  it('omits the value of a spent output, and returns that of an unspent one', async () => {
    const { world, first } = await twoClaims();
    await world.mine([[first.out(0)], [updateOutput('Name', first.claimId(0), 'dd', COIN)]]);
    world.pruned.add(1).add(66).add(67);
    const past = await world.call('documented', 'getclaimsforname', 'name', blockHashAt(67));
    const { claims } = past as { claims: Record<string, unknown>[] };
    expect(claims[0]).toMatchObject({ name: 'Name', value: null, pruned: true, nAmount: 2 });
    expect(claims[0]).not.toHaveProperty('address');
    expect(claims[0]!['supports']).toEqual([expect.objectContaining({ value: 'cc', address: ADDRESS })]);
    expect(claims[1]).toMatchObject({ value: 'bb', address: ADDRESS });
    expect(claims[1]).not.toHaveProperty('pruned');
  });
});

describe('the methods about one claim', () => {
  it('getclaimbyid finds a claim by its id and by a prefix of the id', async () => {
    const { world, first } = await twoClaims();
    const id = hashToHex(first.claimId(0));
    const expected = {
      normalized_name: 'name',
      name: 'Name',
      claimId: id,
      amount: 2,
      'effective amount': 2.5,
      height: 1,
      'valid at height': 1,
      value: 'aa',
      supports: [{ 'valid at height': 67, height: 67, amount: 0.5, value: 'cc' }],
      'last takeover height': 1,
      bid: 0,
      sequence: 0,
    };
    expect(await world.call('documented', 'getclaimbyid', id)).toMatchObject(expected);
    expect(await world.call('documented', 'getclaimbyid', id.slice(0, 5))).toMatchObject(expected);
    expect(await world.call('documented', 'getclaimbyid', id.toUpperCase())).toMatchObject(expected);
  });

  it('getclaimbyid returns an empty object for an unknown id and refuses an invalid one', async () => {
    const { world } = await twoClaims();
    expect(await world.call('documented', 'getclaimbyid', '0'.repeat(40))).toEqual({});
    const ask = (id: string | number) => world.failure('documented', 'getclaimbyid', id);
    expect(await ask('ab')).toEqual([-8, 'claimId (parameter 1) should be at least 3 chars']);
    expect(await ask('xyz')).toEqual([-8, 'claimId (parameter 1) must be a hexadecimal string']);
    expect(await ask('')).toEqual([-8, 'claimId (parameter 1) must be a hexadecimal string']);
    expect(await ask(123)).toEqual([-8, 'claimId (parameter 1) must be a hexadecimal string']);
    expect(await ask('a'.repeat(41))).toEqual([
      -8,
      'claimId (parameter 1) must be max 20-character hexadecimal string',
    ]);
  });

  it('getvalueforname returns the controlling claim, or the requested claim', async () => {
    const { world, second } = await twoClaims();
    expect(await world.call('documented', 'getvalueforname', 'name')).toMatchObject({
      value: 'aa',
      name: 'Name',
      'effective amount': 2.5,
    });
    const digits = hashToHex(second.claimId(0)).slice(0, 6);
    const answer = await world.call('documented', 'getvalueforname', 'name', blockHashAt(66), digits);
    expect(answer).toMatchObject({ value: 'bb', 'effective amount': 0, 'pending amount': 3, bid: 1 });
    expect(await world.call('documented', 'getvalueforname', 'nobody')).toEqual({});
  });

  it('getclaimbybid and getclaimbyseq select by position', async () => {
    const { world } = await twoClaims();
    expect(await world.call('documented', 'getclaimbybid', 'name', 1)).toMatchObject({ value: 'bb', bid: 1 });
    expect(await world.call('documented', 'getclaimbybid', 'name', 2)).toEqual({});
    expect(await world.call('documented', 'getclaimbyseq', 'name')).toMatchObject({
      value: 'aa',
      sequence: 0,
    });
    expect(await world.call('documented', 'getclaimbyseq', 'name', 1)).toMatchObject({
      value: 'bb',
      sequence: 1,
    });
    expect(await world.failure('documented', 'getclaimbybid', 'name', -1)).toEqual([
      -8,
      'bid (parameter 2) should not be a negative value',
    ]);
    expect(await world.failure('documented', 'getclaimbyseq', 'name', -1)).toEqual([
      -8,
      'sequence (parameter 2) should not be a negative value',
    ]);
  });
});

describe('getclaimsfortx', () => {
  it('lists every claim and support among the unspent outputs', async () => {
    const { world, first, support } = await twoClaims();
    expect(await world.call('documented', 'getclaimsfortx', first.id)).toEqual([
      {
        nOut: 0,
        'claim type': 'claim',
        name: 'Name',
        claimId: hashToHex(first.claimId(0)),
        value: 'aa',
        depth: 66,
        'in claim trie': true,
        'is controlling': true,
      },
    ]);
    expect(await world.call('documented', 'getclaimsfortx', support.id)).toEqual([
      {
        nOut: 0,
        'claim type': 'support',
        name: 'NAME',
        value: 'cc',
        'supported claimId': hashToHex(first.claimId(0)),
        'supported txid': first.id,
        'supported nout': 0,
        depth: 0,
        'in support map': true,
      },
    ]);
  });

  it('shows the blocks until the activation, and the supported claim after its updates', async () => {
    const { world, first, second, support } = await twoClaims();
    expect(await world.call('documented', 'getclaimsfortx', second.id)).toMatchObject([
      { 'in claim trie': false, 'in queue': true, 'blocks to valid': 1 },
    ]);
    const [update] = await world.mine([
      [first.out(0)],
      [plainOutput(1n), updateOutput('Name', first.claimId(0), 'dd', COIN)],
    ]);
    expect(await world.call('documented', 'getclaimsfortx', support.id)).toMatchObject([
      { 'supported txid': update!.id, 'supported nout': 1 },
    ]);
    expect(await world.call('documented', 'getclaimsfortx', update!.id)).toMatchObject([
      { nOut: 1, 'claim type': 'claim', claimId: hashToHex(first.claimId(0)), 'is controlling': false },
    ]);
    expect(await world.call('documented', 'getclaimsfortx', first.id)).toEqual([]);
  });

  it('is up to date after each block, for a transaction with many claims', async () => {
    const world = new World();
    await world.mine();
    const names = Array.from({ length: 20 }, (_, n) => claimOutput('many', `0${n % 10}`, BigInt(n + 1)));
    const [tx] = await world.mine([[], [plainOutput(1n), ...names]]);
    interface Shown extends Record<string, unknown> {
      nOut: number;
      depth: number;
    }
    const answer = async (): Promise<Shown[]> =>
      (await world.call('documented', 'getclaimsfortx', tx!.id)) as Shown[];
    const first = await answer();
    expect(first.map(({ nOut }) => nOut)).toEqual(names.map((_, n) => n + 1));
    expect(first.filter((one) => one['is controlling']).map(({ nOut }) => nOut)).toEqual([20]);
    expect(await answer()).toEqual(first);
    await world.mineEmpty(3);
    const deeper = await answer();
    expect(deeper).toEqual(first.map((one) => ({ ...one, depth: 3 })));
    // A claim of the name that changes nothing, and one that takes over.
    await world.mine([[], [claimOutput('many', 'ff', 1n)]]);
    expect(await answer()).toEqual(first.map((one) => ({ ...one, depth: 4 })));
    await world.mine([[], [claimOutput('many', 'ff', 100n)]]);
    expect((await answer()).filter((one) => one['is controlling'])).toHaveLength(0);
    await world.mineEmpty(10);
    const later = await answer();
    expect(later).toEqual(first.map((one) => ({ ...one, depth: 15, 'is controlling': false })));
    await world.mine([[tx!.out(3)], [plainOutput(1n)]]);
    expect((await answer()).map(({ nOut }) => nOut)).toEqual(
      names.map((_, n) => n + 1).filter((n) => n !== 3),
    );
  });

  it('updates pending claims after each block', async () => {
    const world = new World();
    await world.mine();
    await world.mine([[], [claimOutput('many', 'aa', 1n)]]);
    await world.mineEmpty(64);
    const names = Array.from({ length: 20 }, () => claimOutput('many', 'bb', 5n));
    const [tx] = await world.mine([[], names]);
    const left = async (): Promise<unknown[]> => [
      ...new Set(
        ((await world.call('documented', 'getclaimsfortx', tx!.id)) as Record<string, unknown>[]).map(
          (one) => one['blocks to valid'],
        ),
      ),
    ];
    expect(await left()).toEqual([2]);
    await world.mineEmpty(1);
    expect(await left()).toEqual([1]);
    await world.mineEmpty(1);
    expect(await left()).toEqual([undefined]);
  });

  it('returns nothing for unknown transactions, and refuses an invalid id', async () => {
    const { world } = await twoClaims();
    expect(await world.call('documented', 'getclaimsfortx', '1'.repeat(64))).toEqual([]);
    expect(await world.failure('documented', 'getclaimsfortx', 'ab')).toEqual([
      -8,
      'txId (parameter 1) must be of length 64 (not 2)',
    ]);
  });
});

describe('the methods about the whole trie', () => {
  it('getclaimsintrie and getnamesintrie list active claims and names in byte order, at any block', async () => {
    const { world } = await twoClaims();
    await world.mine([[], [claimOutput(Buffer.from([0xff]), '', 1n), claimOutput('a', '01', 1n)]]);
    expect(await world.call('documented', 'getnamesintrie')).toEqual(['a', 'name', '\\u00ff']);
    expect(await world.call('documented', 'getnamesintrie', blockHashAt(67))).toEqual(['name']);
    expect(await world.call('documented', 'getnamesintrie', blockHashAt(0))).toEqual([]);
    const entries = await world.call('documented', 'getclaimsintrie');
    expect(entries).toMatchObject([
      { normalized_name: 'a', claims: [{ name: 'a', amount: 0.00000001, value: '01', height: 68 }] },
      { normalized_name: 'name', claims: [{ value: 'bb' }, { value: 'aa' }] },
      { normalized_name: '\\u00ff', claims: [{ value: '' }] },
    ]);
    expect(await world.call('documented', 'getclaimsintrie', blockHashAt(1))).toMatchObject([
      { normalized_name: 'name', claims: [{ value: 'aa' }] },
    ]);
    expect(await world.failure('documented', 'getnamesintrie', blockHashAt(5000))).toEqual([
      -5,
      'Block not found',
    ]);
  });

  it('the totals count active claims', async () => {
    const { world } = await twoClaims();
    expect(await world.call('documented', 'gettotalclaimednames')).toBe(1);
    expect(await world.call('documented', 'gettotalclaims')).toBe(1);
    await world.mineEmpty(1);
    expect(await world.call('documented', 'gettotalclaims')).toBe(2);
    expect(await world.call('documented', 'gettotalvalueofclaims')).toBe(5);
    expect(await world.call('documented', 'gettotalvalueofclaims', true)).toBe(3);
    expect(await world.failure('documented', 'gettotalvalueofclaims', new JsonNumber('1'))).toEqual([
      -1,
      'JSON value is not a boolean as expected',
    ]);
  });

  it('getchangesinblock lists new and expired items', async () => {
    const { world, first, support } = await twoClaims();
    const none = {
      claimsAddedOrUpdated: [],
      claimsRemoved: [],
      supportsAddedOrUpdated: [],
      supportsRemoved: [],
    };
    const changes = (height: number) => world.call('documented', 'getchangesinblock', blockHashAt(height));
    expect(await changes(1)).toEqual({ ...none, claimsAddedOrUpdated: [hashToHex(first.claimId(0))] });
    expect(await changes(2)).toEqual(none);
    expect(await changes(67)).toEqual({ ...none, supportsAddedOrUpdated: [hashToHex(support.claimId(0))] });
    await world.mineEmpty(434);
    expect(await world.call('documented', 'getchangesinblock')).toEqual({
      ...none,
      claimsRemoved: [hashToHex(first.claimId(0))],
    });
    expect(await world.failure('documented', 'getchangesinblock', blockHashAt(0))).toEqual([
      -32603,
      'Unable to read the undo block for height 0',
    ]);
  });

  it('checknormalization normalizes at any height', async () => {
    const world = new World();
    expect(await world.call('documented', 'checknormalization', 'MindBlown É')).toBe('mindblown e\u0301');
    expect(await world.call('documented', 'checknormalization', '')).toBe('');
    expect(await world.failure('documented', 'checknormalization', 5)).toEqual([
      -1,
      'JSON value is not a string as expected',
    ]);
  });

  it('getclaimtrie fails as removed, with any arguments', async () => {
    const message = 'getclaimtrie was removed in v0.17.\nClients should use getnamesintrie.';
    const world = new World();
    expect(await world.failure('documented', 'getclaimtrie')).toEqual([-32, message]);
    expect(await world.failure('lbrycrd', 'getclaimtrie', 1, 2, 3)).toEqual([-32, message]);
  });
});

describe('name proofs', () => {
  it('have the documented members in the form with all claims', async () => {
    const { world, first } = await twoClaims();
    await world.mine([[], [claimOutput('nine', '01', 1n)]]);
    const proof = (await world.call('documented', 'getnameproof', 'name')) as Record<string, unknown>;
    expect(Object.keys(proof)).toEqual(['pairs', 'txhash', 'nOut', 'last takeover height']);
    const other = hashToHex(first.claimId(0)).slice(0, 8);
    expect(await world.call('documented', 'getnameproof', 'name', blockHashAt(68), other)).toMatchObject({
      txhash: first.id,
      nOut: 0,
    });
    expect(Object.keys((await world.call('documented', 'getnameproof', 'none')) as object)).toEqual([
      'pairs',
    ]);
  });

  it('have one character for each child in the older form', async () => {
    const world = new World(REGTEST_RULES);
    await world.mine();
    const [made] = await world.mine([[], [claimOutput('\u00e9', '01', 1n), claimOutput('a', '02', 1n)]]);
    const proof = await world.call('documented', 'getnameproof', '\u00e9');
    expect(proof).toEqual({
      nodes: [
        {
          children: [
            { child: { character: 'a', nodeHash: expect.stringMatching(/^[0-9a-f]{64}$/) } },
            { child: { character: '\u00c3' } },
          ],
        },
        { children: [{ child: { character: '\u00a9' } }] },
        { children: [] },
      ],
      txhash: made!.id,
      nOut: 0,
      'last takeover height': 1,
    });
  });

  it('select claims by position, and are an empty list at a position without a claim', async () => {
    const { world, first, second } = await twoClaims();
    await world.mineEmpty(1);
    const ask = (method: string, place: number) => world.call('documented', method, 'name', place);
    expect(await ask('getclaimproofbybid', 0)).toMatchObject({ txhash: second.id });
    expect(await ask('getclaimproofbybid', 1)).toMatchObject({ txhash: first.id });
    expect(await ask('getclaimproofbybid', 2)).toEqual([]);
    expect(await ask('getclaimproofbyseq', 0)).toMatchObject({ txhash: first.id });
    expect(await ask('getclaimproofbyseq', 2)).toEqual([]);
  });
});

describe('expirationHeight', () => {
  it('uses the extended term for items that would expire at the fork or later', () => {
    expect(expirationHeight(REGTEST_RULES, 299)).toBe(799);
    expect(expirationHeight(REGTEST_RULES, 300)).toBe(900);
    expect(expirationHeight(REGTEST_RULES, 900)).toBe(1500);
  });
});
