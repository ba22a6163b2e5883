/** The claim methods in lbcd's profile, with a real claim store. */
import { describe, expect, it } from 'vitest';
import { invokeMethod } from '../../../../src/rpc/call/callMethod.js';
import { METHODS } from '../../../../src/rpc/declare/methodTable.js';
import { hashToHex } from '../../../../src/util/bytes.js';
import { JsonArrayStream } from '../../../../src/util/json/jsonWrite.js';
import { REGTEST_RULES } from '../../../support/claimChain.js';
import { countTurns } from '../../../support/slices.js';
import { testContext } from '../support.js';
import {
  ADDRESS,
  blockHashAt,
  claimOutput,
  plainOutput,
  SIDE_BLOCK_HASH,
  supportOutput,
  World,
} from './world.js';

/** A controlling claim with a support, and a pending one. */
async function someClaims() {
  const world = new World();
  await world.mine();
  const [first] = await world.mine([[], [claimOutput('Name', 'aa', 200n)]]);
  await world.mineEmpty(95);
  const [second] = await world.mine([[], [claimOutput('name', 'bb', 300n)]]);
  const [support] = await world.mine([[], [supportOutput('name', first!.claimId(0), 50n)]]);
  return { world, first: first!, second: second!, support: support! };
}

describe('getclaimsforname', () => {
  it('returns lower case names and satoshis, and values only on request', async () => {
    const { world, first, second, support } = await someClaims();
    expect(await world.call('lbcd', 'getclaimsforname', 'NAME')).toEqual({
      hash: blockHashAt(98),
      height: 98,
      lasttakeoverheight: 1,
      normalizedname: 'name',
      claims: [
        {
          claimid: hashToHex(first.claimId(0)),
          bid: 0,
          sequence: 0,
          txid: first.id,
          n: 0,
          height: 1,
          validatheight: 1,
          amount: 200,
          effectiveamount: 250,
          supports: [{ txid: support.id, n: 0, height: 98, validatheight: 98, amount: 50 }],
        },
        {
          claimid: hashToHex(second.claimId(0)),
          bid: 1,
          sequence: 1,
          txid: second.id,
          n: 0,
          height: 97,
          validatheight: 100,
          amount: 300,
          effectiveamount: 0,
        },
      ],
    });
    for (const includeValues of [true, 1]) {
      expect(await world.call('lbcd', 'getclaimsforname', 'name', '', includeValues)).toMatchObject({
        claims: [
          { value: 'aa', address: ADDRESS, supports: [{ address: ADDRESS }] },
          { value: 'bb', address: ADDRESS },
        ],
      });
    }
  });

  it('accepts the height or hash of a block as a string', async () => {
    const { world } = await someClaims();
    for (const block of ['1', '+1', blockHashAt(1)]) {
      expect(await world.call('lbcd', 'getclaimsforname', 'name', block)).toMatchObject({
        hash: blockHashAt(1),
        height: 1,
        claims: [{ effectiveamount: 200 }],
      });
    }
  });

  it.each([
    ['getclaimsforname', 'name', 1],
    ['getclaimsfornamebyid', 'name', [], 1],
    ['getclaimsfornamebybid', 'name', [], 1],
    ['getclaimsfornamebyseq', 'name', [], 1],
    ['getchangesinblock', 1],
  ])('refuses a number as a block: %s', async (method, ...params) => {
    const { world } = await someClaims();
    expect(await world.failure('lbcd', method, ...params)).toEqual([-32602, expect.any(String)]);
  });

  it('fails as lbcd does', async () => {
    const { world } = await someClaims();
    const ask = (name: string, block: string) => world.failure('lbcd', 'getclaimsforname', name, block);
    expect(await ask('nobody', '')).toEqual([-1, 'Message: name does not exist at height 98: nobody']);
    expect(await ask('name', '0')).toEqual([-1, 'Message: name does not exist at height 0: name']);
    expect(await ask('name', '99')).toEqual([
      -5,
      'Unable to locate a block at height 99: no block at height 99 exists',
    ]);
    expect(await ask('name', '-1')).toEqual([
      -5,
      'Unable to locate a block at height -1: no block at height -1 exists',
    ]);
    expect((await ask('name', 'zz'))[0]).toBe(-8);
    expect((await ask('name', 'a'.repeat(65)))[0]).toBe(-8);
    expect(await ask('name', SIDE_BLOCK_HASH)).toEqual([
      -5,
      `Unable to find a block with hash ${SIDE_BLOCK_HASH}: block ${SIDE_BLOCK_HASH} is not in the main chain`,
    ]);
  });

  it('returns null as the claims of a name whose claims have ended', async () => {
    const world = new World();
    await world.mine();
    const [made] = await world.mine([[], [claimOutput('n', '', 1n)]]);
    await world.mine([[made!.out(0)], [plainOutput(1n)]]);
    expect(await world.call('lbcd', 'getclaimsforname', 'n')).toMatchObject({ height: 2, claims: null });
  });

  it('lists a pending claim with valid supports among the active claims', async () => {
    const { world, second } = await someClaims();
    await world.mine([[], [claimOutput('name', '', 1n)]]);
    const [boost] = await world.mine([[], [supportOutput('name', second.claimId(0), 1000n)]]);
    await world.mineEmpty(2);
    const answer = await world.call('lbcd', 'getclaimsforname', 'name');
    expect(boost!.height).toBe(100);
    expect(answer).toMatchObject({ claims: [{ bid: 0 }, { bid: 1 }, { bid: 2 }] });
  });
});

describe('the methods that select claims', () => {
  it('select by prefixes of ids, by bids in the requested order, and by sequence numbers', async () => {
    const { world, first, second } = await someClaims();
    const txids = async (method: string, list: (string | number)[]) => {
      const answer = await world.call('lbcd', method, 'name', list);
      return (answer as { claims: { txid: string }[] | null }).claims?.map(({ txid }) => txid) ?? null;
    };
    const id = hashToHex(second.claimId(0));
    expect(await txids('getclaimsfornamebyid', [id.slice(0, 6)])).toEqual([second.id]);
    expect(await txids('getclaimsfornamebyid', [id, hashToHex(first.claimId(0))])).toEqual([
      first.id,
      second.id,
    ]);
    expect(await txids('getclaimsfornamebyid', ['x'])).toBeNull();
    expect(await txids('getclaimsfornamebybid', [1, 0, 1, 7, -1])).toEqual([second.id, first.id, second.id]);
    expect(await txids('getclaimsfornamebyseq', [1])).toEqual([second.id]);
    expect(await txids('getclaimsfornamebyseq', [])).toBeNull();
    expect((await world.failure('lbcd', 'getclaimsfornamebybid', 'name', ['x']))[0]).toBe(-32602);
  });

  it('accept very many items, repeated ones included, without blocking the event loop', async () => {
    const { world, first, second } = await someClaims();
    const count = 50_000;
    const ask = async (method: string, item: (n: number) => string | number) => {
      const list = Array.from({ length: count }, (_, n) => item(n));
      const { value, turns } = await countTurns(() => world.call('lbcd', method, 'name', list));
      // At least one yield for every few thousand items, in each of two passes: checking and selecting.
      expect(turns).toBeGreaterThan((2 * count) / 4096);
      return (value as { claims: { txid: string }[] | null }).claims?.map(({ txid }) => txid) ?? null;
    };
    // The matching claims are far apart in the list.
    const bid = (n: number): number => (n % 10_000 === 5_000 ? 1 : n === 7 ? 0 : 9);
    expect(await ask('getclaimsfornamebybid', bid)).toEqual([first.id, ...Array<string>(5).fill(second.id)]);
    expect(await ask('getclaimsfornamebybid', () => 9)).toBeNull();
    expect(await ask('getclaimsfornamebyseq', (n) => n + 1)).toEqual([second.id]);
    const id = hashToHex(second.claimId(0));
    expect(await ask('getclaimsfornamebyid', (n) => (n === 9 ? id.slice(0, 39) : `${id}${n}`))).toEqual([
      second.id,
    ]);
    expect(await ask('getclaimsfornamebyid', (n) => (n % 2 === 0 ? '' : 'g'))).toEqual([first.id, second.id]);
  });

  it('format long answers while they are sent', async () => {
    const { world } = await someClaims();
    const method = METHODS.find(({ name }) => name === 'getclaimsfornamebybid')!;
    const ctx = testContext({ profile: 'lbcd', services: world.services() });
    const zeros = Array.from({ length: 1000 }, () => 0);
    const answer = await invokeMethod(method, ctx, ['name', zeros]);
    expect((answer as { claims: unknown }).claims).toBeInstanceOf(JsonArrayStream);
  });

  it('exist only in the lbcd profile', async () => {
    const world = new World();
    await expect(world.call('lbrycrd', 'getclaimsfornamebybid', 'name', [0])).rejects.toThrow('no getclaims');
    await expect(world.call('documented', 'normalize', 'name')).rejects.toThrow('no normalize');
  });
});

describe('getchangesinblock', () => {
  it('lists the names that a block changed', async () => {
    const world = new World();
    await world.mine();
    await world.mine([
      [],
      [claimOutput('b', '', 1n), claimOutput('A', '', 1n), claimOutput(Buffer.of(0xff), '', 1n)],
    ]);
    expect(await world.call('lbcd', 'getchangesinblock', '1')).toEqual({
      hash: blockHashAt(1),
      height: 1,
      names: ['a', 'b', '\ufffd'],
    });
    expect(await world.call('lbcd', 'getchangesinblock', '0')).toMatchObject({ names: [] });
    expect(await world.call('lbcd', 'getchangesinblock')).toMatchObject({ height: 1 });
  });

  it('omits a name that is not a branching point of the trie any more', async () => {
    const world = new World();
    await world.mine();
    const parting = ['ab', 'abc', 'abd'].map((name) => claimOutput(name, '', 1n));
    const [made] = await world.mine([[], parting]);
    await world.mine([[made!.out(0)], [plainOutput(1n)]]);
    await world.mine([[made!.out(2)], [plainOutput(1n)]]);
    expect(await world.call('lbcd', 'getchangesinblock')).toMatchObject({ names: ['abd'] });
  });

  it.each([
    [0, 'a'],
    [100, 'A'],
  ])(
    'lists the name of an expired item that is spent, with names normalized from height %i on',
    async (fork, name) => {
      const world = new World({ ...REGTEST_RULES, normalizationForkHeight: fork, originalExpiration: 3 });
      await world.mine();
      const [claim, other] = await world.mine([[], [claimOutput('A', '', 1n)]], [[], [plainOutput(1n)]]);
      await world.mineEmpty(5);
      await world.mine([[other!.out(0), claim!.out(0)], [plainOutput(1n)]]);
      const names = async (height: number) =>
        ((await world.call('lbcd', 'getchangesinblock', String(height))) as { names: string[] }).names;
      expect(await Promise.all([4, 6, 7].map(names))).toEqual([[name], [], [name]]);
      world.pruned.add(7);
      expect(await names(7)).toEqual([name]);
    },
  );
});

describe('a support of a name without claims at the normalization fork', () => {
  const FORK = 10;
  const rules = { ...REGTEST_RULES, normalizationForkHeight: FORK, originalExpiration: 40 };

  /**
   * A chain in which the normalization fork leaves a support behind: its claim of `NAME` is spent before the fork. `name` has
   * three later supports.
   */
  async function left() {
    const world = new World(rules);
    await world.mine();
    const [gone] = await world.mine([[], [claimOutput('NAME', '', 1n)]]);
    const [stranded] = await world.mine([[], [supportOutput('NAME', gone!.claimId(0), 7n)]]);
    const [claim] = await world.mine([[gone!.out(0)], [claimOutput('name', '', 1n)]]);
    for (const amount of [1n, 2n, 3n])
      await world.mine([[], [supportOutput('name', claim!.claimId(0), amount)]]);
    await world.mineEmpty(FORK - world.height);
    const amounts = async (height: number) => {
      const { claims } = (await world.call('lbcd', 'getclaimsforname', 'name', String(height))) as {
        claims: { supports: { amount: number }[] }[];
      };
      return claims[0]!.supports.map(({ amount }) => amount);
    };
    const names = async (height: number) =>
      ((await world.call('lbcd', 'getchangesinblock', String(height))) as { names: string[] }).names;
    return { world, stranded: stranded!, amounts, names };
  }

  it('moves to the normalized name in lbcd, and the last support takes its position when it is spent', async () => {
    const { world, stranded, amounts, names } = await left();
    await world.mine([[stranded.out(0)], [plainOutput(1n)]]);
    expect(await Promise.all([FORK, FORK + 1].map(names))).toEqual([['NAME', 'name'], ['name']]);
    expect(await amounts(FORK)).toEqual([1, 2, 3]);
    expect(await amounts(FORK + 1)).toEqual([3, 1, 2]);
    // The support was the next one of its name to expire.
    await world.mineEmpty(stranded.height + rules.originalExpiration - world.height);
    expect(await names(world.height)).toEqual(['name']);
    expect(await amounts(world.height)).toEqual([3, 1, 2]);
  });

  it.each([0, 1])('expires in lbcd %i blocks before it is spent', async (blocks) => {
    const { world, stranded, amounts, names } = await left();
    const expiry = stranded.height + rules.originalExpiration;
    await world.mineEmpty(expiry - world.height);
    if (blocks > 0) await world.mine([[stranded.out(0)], [plainOutput(1n)]]);
    expect(await Promise.all([expiry - 2, expiry].map(names))).toEqual([[], ['name']]);
    expect(await amounts(expiry - 1)).toEqual([1, 2, 3]);
    expect(await amounts(expiry)).toEqual([3, 1, 2]);
  });

  it('alone makes its normalized name known', async () => {
    const world = new World(rules);
    await world.mine();
    const [gone] = await world.mine([[], [claimOutput('ONLY', '', 1n)]]);
    await world.mine([[gone!.out(0)], [supportOutput('ONLY', gone!.claimId(0), 7n)]]);
    await world.mineEmpty(FORK + 1 - world.height);
    expect(await world.call('lbcd', 'getclaimsforname', 'only')).toMatchObject({
      lasttakeoverheight: FORK,
      claims: null,
    });
    expect(await world.failure('lbcd', 'getclaimsforname', 'nobody')).toContain(-1);
  });
});

describe('normalize', () => {
  it('returns an object', async () => {
    expect(await new World().call('lbcd', 'normalize', 'ÀB')).toEqual({ normalizedname: 'a\u0300b' });
  });
});
