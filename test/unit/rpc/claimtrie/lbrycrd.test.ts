/** The claim methods in lbrycrd's profile, with a real claim store. Tests of the recorded chains cover the other cases. */
import { describe, expect, it } from 'vitest';
import { hashToHex } from '../../../../src/util/bytes.js';
import { invokeMethod } from '../../../../src/rpc/call/callMethod.js';
import { getClaimsInTrie } from '../../../../src/rpc/methods/claimtrie/getClaimsInTrie.js';
import { checkResult } from '../../../../src/schema/schemaCheck.js';
import { REGTEST_RULES } from '../../../support/claimChain.js';
import { testContext } from '../support.js';
import {
  ADDRESS,
  blockHashAt,
  claimOutput,
  plainOutput,
  supportOutput,
  updateOutput,
  World,
} from './world.js';

describe('getclaimsforname', () => {
  it('returns camel case names and satoshis', async () => {
    const world = new World();
    await world.mine();
    const [made] = await world.mine([[], [claimOutput('Name', 'aa', 200n)]]);
    const [support] = await world.mine([[], [supportOutput('name', made!.claimId(0), 50n)]]);
    expect(await world.call('lbrycrd', 'getclaimsforname', 'NAME')).toEqual({
      normalizedName: 'name',
      claims: [
        {
          name: 'Name',
          value: 'aa',
          address: ADDRESS,
          claimId: hashToHex(made!.claimId(0)),
          txId: made!.id,
          n: 0,
          height: 1,
          validAtHeight: 1,
          amount: 200,
          effectiveAmount: 250,
          supports: [{ address: ADDRESS, txId: support!.id, n: 0, height: 2, validAtHeight: 2, amount: 50 }],
          bid: 0,
          sequence: 0,
        },
      ],
      lastTakeoverHeight: 1,
      supportsWithoutClaim: [],
    });
  });

  it('finds a name by a long spelling, and no name that is longer than a script can hold', async () => {
    const world = new World();
    await world.mine();
    await world.mine([[], [claimOutput('k'.repeat(200), 'aa', 200n)]]);
    await world.mine();
    // The Kelvin sign has three bytes and is folded to a letter of one byte.
    const asked = await world.call('lbrycrd', 'getclaimsforname', '\u212a'.repeat(200));
    expect(asked).toMatchObject({ normalizedName: 'k'.repeat(200), claims: [{ amount: 200 }] });
    const long = 'K'.repeat(5000);
    for (const name of [long, '\u00c9'.repeat(5000)]) {
      const normalizedName = name === long ? long.toLowerCase() : 'e\u0301'.repeat(5000);
      expect(await world.call('lbrycrd', 'checknormalization', name)).toBe(normalizedName);
      expect(await world.call('lbrycrd', 'getclaimsforname', name)).toEqual({
        normalizedName,
        claims: [],
        lastTakeoverHeight: 0,
        supportsWithoutClaim: [],
      });
      expect(await world.call('lbrycrd', 'getvalueforname', name)).toEqual({});
    }
    // The proof that the name has no claim is the same for all names that leave the trie at the same node.
    expect(await world.call('lbrycrd', 'getnameproof', long)).toEqual(
      await world.call('lbrycrd', 'getnameproof', 'K'.repeat(201)),
    );
    await expect(world.call('lbcd', 'getclaimsforname', long)).rejects.toThrow('name does not exist');
  });

  it('omits the name of a claim that has ended at the tip, and has that of its successor', async () => {
    const world = new World();
    await world.mine();
    const [gone, renamed] = await world.mine(
      [[], [claimOutput('gone', 'aa', 1n)]],
      [[], [claimOutput('Kept', 'bb', 1n)]],
    );
    await world.mine(
      [[gone!.out(0)], [plainOutput(1n)]],
      [[renamed!.out(0)], [updateOutput('KEPT', renamed!.claimId(0), 'cc', 1n)]],
    );
    const ask = (name: string) => world.call('lbrycrd', 'getvalueforname', name, blockHashAt(1));
    const answer = await ask('gone');
    expect(answer).toMatchObject({ normalizedName: 'gone', value: 'aa', address: ADDRESS });
    expect(answer).not.toHaveProperty('name');
    expect(await ask('kept')).toMatchObject({ name: 'KEPT', value: 'bb' });
  });

  it('repeats the pending items of one height once for each of them, and sums them up accordingly', async () => {
    const world = new World();
    await world.mine();
    await world.mine([[], [claimOutput('n', '', 1n)]]);
    await world.mineEmpty(95);
    const [a, b] = await world.mine([[], [claimOutput('n', '', 5n)]], [[], [claimOutput('n', '', 4n)]]);
    await world.mine();
    const { claims } = (await world.call('lbrycrd', 'getclaimsforname', 'n')) as {
      claims: { txId: string; bid: number; sequence: number; pendingAmount?: number }[];
    };
    expect(claims.map(({ txId }) => txId).slice(1)).toEqual([a!.id, b!.id, a!.id, b!.id]);
    expect(claims.map(({ bid }) => bid)).toEqual([0, 1, 2, 3, 4]);
    expect(claims.map(({ pendingAmount }) => pendingAmount)).toEqual([undefined, 5, 4, 5, 4]);
    expect(await world.call('lbrycrd', 'getclaimbyseq', 'n', 3)).toMatchObject({ bid: 1, sequence: 3 });
    const documented = (await world.call('documented', 'getclaimsforname', 'n')) as { claims: unknown[] };
    expect(documented.claims).toHaveLength(3);
  });

  it('omits value and address of a spent output', async () => {
    const world = new World();
    await world.mine();
    const tooLong = Buffer.alloc(20_001, 0x51);
    await world.mine([[], [claimOutput('long', 'aa', 1n, tooLong)]]);
    const answer = await world.call('lbrycrd', 'getvalueforname', 'long');
    expect(answer).toMatchObject({ name: 'long', amount: 1 });
    expect(answer).not.toHaveProperty('value');
    expect(await world.call('documented', 'getvalueforname', 'long')).toMatchObject({ value: 'aa' });
  });

  it('omits value and address of a claim whose spend the reference missed near the normalization fork', async () => {
    const world = new World({ ...REGTEST_RULES, normalizationForkHeight: 100, allClaimsForkHeight: 350 });
    await world.mine();
    const [owner] = await world.mine([[], [claimOutput('Name', '', 1n)]]);
    await world.mineEmpty(96);
    // The claim is delayed until block 101, above the fork, so it is queued as `name`. When block 100 spends it, `Name` has no
    // owner and so no delay, so the spend searches under `Name` and does not find it.
    const [queued] = await world.mine([[], [claimOutput('Name', 'bb', 5n)]]);
    await world.mine([[owner!.out(0)], [plainOutput(1n)]]);
    const [spend] = await world.mine([[queued!.out(0)], [plainOutput(1n)]]);
    expect(spend!.height).toBe(100);
    await world.mineEmpty(10);
    const ask = () => world.call('lbrycrd', 'getvalueforname', 'name', blockHashAt(110));
    const expired = await ask();
    expect(expired).toMatchObject({ txId: queued!.id, amount: 5 });
    expect(expired).not.toHaveProperty('value');
    expect(expired).not.toHaveProperty('address');
    // After its expiry the trie has no data of the claim. Its spend is found in a block.
    await world.mineEmpty(495);
    expect(await world.call('lbrycrd', 'getvalueforname', 'name')).toEqual({});
    const { name: _, ...withoutName } = expired as Record<string, unknown>;
    expect(await ask()).toEqual(withoutName);
    // At the block before the spend, the claim has its value.
    expect(await world.call('lbrycrd', 'getvalueforname', 'name', blockHashAt(99))).toMatchObject({
      value: 'bb',
      pendingAmount: 5,
    });
  });
});

describe('getclaimsfortx', () => {
  it('reads only the first unspent output and reports it as output 0', async () => {
    const world = new World();
    await world.mine();
    const [made] = await world.mine([[], [plainOutput(1n), claimOutput('name', 'aa', 5n)]]);
    expect(await world.call('lbrycrd', 'getclaimsfortx', made!.id)).toEqual([]);
    await world.mine([[made!.out(0)], [plainOutput(1n)]]);
    expect(await world.call('lbrycrd', 'getclaimsfortx', made!.id)).toEqual([
      {
        n: 0,
        name: 'name',
        claimId: hashToHex(made!.claimId(0)),
        value: 'aa',
        depth: 1,
        inClaimTrie: false,
        inQueue: false,
      },
    ]);
  });

  it('does not normalize the name', async () => {
    const world = new World();
    await world.mine();
    const [upper, lower] = await world.mine(
      [[], [claimOutput('Up', '', 5n)]],
      [[], [claimOutput('low', '', 5n)]],
    );
    expect(await world.call('lbrycrd', 'getclaimsfortx', upper!.id)).toMatchObject([{ inClaimTrie: false }]);
    expect(await world.call('lbrycrd', 'getclaimsfortx', lower!.id)).toMatchObject([
      { inClaimTrie: true, isControlling: true },
    ]);
  });

  it('is up to date after each block', async () => {
    const world = new World();
    await world.mine();
    const [made] = await world.mine([[], [claimOutput('low', 'aa', 5n), claimOutput('name', 'bb', 5n)]]);
    const answer = (): Promise<unknown> => world.call('lbrycrd', 'getclaimsfortx', made!.id);
    const first = (await answer()) as [Record<string, unknown>];
    expect(first).toMatchObject([{ name: 'low', value: 'aa', depth: 0, isControlling: true }]);
    await world.mine([[], [claimOutput('low', 'cc', 9n)]]);
    await world.mineEmpty(3);
    expect(await answer()).toEqual([{ ...first[0], depth: 4, isControlling: false }]);
    await world.mine([[made!.out(0)], [plainOutput(1n)]]);
    expect(await answer()).toMatchObject([{ name: 'name', value: 'bb', depth: 5 }]);
    await world.mine([[made!.out(1)], [plainOutput(1n)]]);
    expect(await answer()).toEqual([]);
  });

  it('counts the blocks of a pending claim down, and does so again after a takeover', async () => {
    const world = new World();
    await world.mine();
    await world.mine([[], [claimOutput('low', 'aa', 5n)]]);
    await world.mineEmpty(64);
    const [made] = await world.mine([[], [claimOutput('low', 'bb', 4n)]]);
    const answer = async (): Promise<unknown> =>
      ((await world.call('lbrycrd', 'getclaimsfortx', made!.id)) as unknown[])[0];
    for (const blocksToValid of [2, 1]) {
      const pending = { inClaimTrie: false, inQueue: true, blocksToValid };
      for (let repeat = 0; repeat < 2; repeat++) expect(await answer()).toMatchObject(pending);
      await world.mineEmpty(1);
    }
    for (let depth = 2; depth < 5; depth++) {
      expect(await answer()).toMatchObject({ depth, inClaimTrie: true, isControlling: false });
      await world.mineEmpty(1);
    }
    await world.mine([[], [supportOutput('low', made!.claimId(0), 9n)]]);
    await world.mineEmpty(4);
    expect(await answer()).toMatchObject({ depth: 10, inClaimTrie: true, isControlling: true });
  });

  it('is read from the unspent outputs if the block is pruned', async () => {
    const world = new World();
    await world.mine();
    const [made] = await world.mine([[], [claimOutput('low', 'aa', 5n)]]);
    world.pruned.add(1);
    const rows = world.rows.begin();
    for (const [key] of world.coins) rows.put(`C${Buffer.from(key, 'hex').toString('latin1')}`, Buffer.of(1));
    rows.commit();
    expect(await world.call('lbrycrd', 'getclaimsfortx', made!.id)).toMatchObject([
      { name: 'low', value: 'aa' },
    ]);
  });
});

describe('getclaimsintrie', () => {
  const message =
    'getclaimsintrie is deprecated and will be removed in v0.18. To use this command, start with ' +
    '-deprecatedrpc=getclaimsintrie';

  it('is refused unless an option of the start enables it', async () => {
    const world = new World();
    await world.mine();
    expect(await world.failure('lbrycrd', 'getclaimsintrie')).toEqual([-32, message]);
    await world.mine([[], [claimOutput('name', 'aa', 5n)]]);
    const ctx = testContext({
      profile: 'lbrycrd',
      services: world.services(),
      isDeprecatedEnabled: (name) => name === 'getclaimsintrie',
    });
    const answer = await invokeMethod(getClaimsInTrie, ctx, []);
    expect(await checkResult(getClaimsInTrie.result, answer)).toEqual([]);
  });
});

describe('getclaimproofbyseq', () => {
  it('has the members and the name of the reference', async () => {
    const world = new World(REGTEST_RULES);
    await world.mine();
    const [made] = await world.mine([[], [claimOutput('n', '', 5n)]]);
    expect(await world.call('lbrycrd', 'getclaimproofbyseq', 'n', 0)).toEqual({
      nodes: [{ children: [{ character: 110 }] }, { children: [] }],
      txId: made!.id,
      n: 0,
      lastTakeoverHeight: 1,
    });
    expect(await world.failure('lbrycrd', 'getclaimproofbyseq', 'n', 0, 'zz')).toEqual([
      -8,
      "blockhash (optional parameter 3 must be hexadecimal string (not 'zz')",
    ]);
  });

  it('is refused for a block below the proof window', async () => {
    const world = new World(REGTEST_RULES);
    await world.mine();
    const services = world.services();
    const { ProofUnavailableError } = await import('../../../../src/store/claims/query/proofQueries.js');
    const claims = {
      ...services.claims,
      proofAt: () => Promise.reject(new ProofUnavailableError(3, 10)),
    };
    const { getNameProof } = await import('../../../../src/rpc/methods/claimtrie/proofs/getNameProof.js');
    const ctx = testContext({ profile: 'lbrycrd', services: { ...services, claims } });
    await expect(invokeMethod(getNameProof, ctx, ['n'])).rejects.toMatchObject({
      code: -32603,
      message: 'Block is too deep: name proofs reach back to block 10; block 3 is older',
    });
  });
});

describe('a reorganisation while a query runs', () => {
  it.each(['failed', 'answered'])('repeats the query, whether it %s', async (first) => {
    const world = new World();
    await world.mine();
    await world.mine([[], [claimOutput('n', '', 5n)]]);
    const services = world.services();
    const { active } = services.chain.chain.index;
    const answered: number[] = [];
    let disconnects = 7;
    const moving = Object.defineProperties(
      { ...active, tip: 1, height: 1 },
      { disconnects: { get: () => disconnects } },
    );
    const chain = {
      ...services.chain,
      chain: { ...services.chain.chain, height: 1, index: { active: moving } },
    };
    const claims = {
      ...services.claims,
      claimAt: async (...[query, choice]: Parameters<typeof services.claims.claimAt>) => {
        answered.push(query.height);
        if (answered.length === 1) {
          disconnects++;
          if (first === 'failed') throw new Error('the row is gone');
        }
        return services.claims.claimAt(query, choice);
      },
    };
    const { getValueForName } = await import('../../../../src/rpc/methods/claimtrie/getValueForName.js');
    const ctx = testContext({ services: { ...services, chain, claims } as unknown as typeof services });
    expect(await invokeMethod(getValueForName, ctx, ['n'])).toMatchObject({ name: 'n' });
    expect(answered).toEqual([1, 1]);
  });
});
