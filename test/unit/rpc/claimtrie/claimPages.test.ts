/** Pages of `getclaimsforname`, `getclaimbyid` and `getclaimsfortx` are parts of the whole answers. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../../src/util/json/json.js';
import { itemsKey } from '../../../../src/store/claims/rows/claimKeys.js';
import { hashToHex } from '../../../../src/util/bytes.js';
import { blockHashAt, claimOutput, plainOutput, supportOutput, World, type Mined } from './world.js';

const NAME = 'many';
const CLAIMS = 7;
const SUPPORTS = 5;
const WITHOUT_CLAIM = 4;

interface Claim {
  readonly claimId: string;
  readonly supports: readonly unknown[];
  readonly nextSupports?: string;
}

interface NamePage {
  readonly claims: readonly Claim[];
  readonly supportsWithoutClaim: readonly unknown[];
  readonly blockhash: string;
  readonly claimCount?: number;
  readonly supportsWithoutClaimCount?: number;
  readonly next?: string;
}

/** A name with seven claims in one transaction, five supports for the first one, and four supports without a claim. */
async function manyClaims(): Promise<{ world: World; made: Mined }> {
  const world = new World();
  await world.mine();
  const claims = Array.from({ length: CLAIMS }, (_, n) => claimOutput(NAME, `0${n}`, BigInt(100 - n)));
  const [made] = await world.mine([[], [plainOutput(1n), ...claims]]);
  const supports = Array.from({ length: SUPPORTS }, (_, n) =>
    supportOutput(NAME, made!.claimId(1), BigInt(n + 1)),
  );
  const without = Array.from({ length: WITHOUT_CLAIM }, (_, n) =>
    supportOutput(NAME, Buffer.alloc(20, n + 1), 1n),
  );
  await world.mine([[], [...supports, ...without]]);
  return { world, made: made! };
}

describe('pages of claims', () => {
  let world: World;
  let made: Mined;
  let whole: NamePage;

  beforeAll(async () => {
    ({ world, made } = await manyClaims());
    whole = await name();
  });

  const name = async (...more: JsonValue[]): Promise<NamePage> =>
    (await world.call('documented', 'getclaimsforname', NAME, ...more)) as unknown as NamePage;

  it('getclaimsforname: all pages together are the whole answer of the block of the first page', async () => {
    for (const count of [1, 2, 3, 10, 1000]) {
      const pages: NamePage[] = [];
      for (let after: string | undefined | null = null; after !== undefined; after = pages.at(-1)!.next) {
        pages.push(await name(null, false, count, after));
        expect(pages.at(-1)).toMatchObject({ claimCount: CLAIMS, supportsWithoutClaimCount: WITHOUT_CLAIM });
        expect(pages.at(-1)!.blockhash).toBe(pages[0]!.blockhash);
        await world.mineEmpty(1);
      }
      expect(pages).toHaveLength(Math.ceil((CLAIMS + WITHOUT_CLAIM) / count));
      const claims = pages.flatMap((page) => page.claims);
      expect(claims.map(({ nextSupports: _, ...claim }) => claim)).toEqual(
        whole.claims.map((claim) => ({ ...claim, supports: claim.supports.slice(0, count) })),
      );
      expect(claims.map(({ nextSupports }) => nextSupports !== undefined)).toEqual(
        whole.claims.map(({ supports }) => supports.length > count),
      );
      expect(pages.flatMap((page) => page.supportsWithoutClaim)).toEqual(whole.supportsWithoutClaim);
    }
  });

  it('getclaimbyid: goes on with the supports that a page of getclaimsforname leaves out', async () => {
    const [{ claimId, supports: first, nextSupports }] = (await name(null, false, 2)).claims as [Claim];
    const found = [...first];
    const page = async (after: string): Promise<Claim> =>
      (await world.call('documented', 'getclaimbyid', claimId, 2, after)) as unknown as Claim;
    for (let after = nextSupports; after !== undefined;) {
      const { supports, nextSupports: next } = await page(after);
      expect(supports.length).toBeLessThanOrEqual(2);
      found.push(...supports);
      after = next;
    }
    const txids = (items: readonly unknown[]) => items.map((item) => (item as { n: number }).n);
    expect(txids(found)).toEqual(txids(whole.claims[0]!.supports));
    const [all, some] = [
      await world.call('documented', 'getclaimbyid', claimId),
      await world.call('documented', 'getclaimbyid', claimId, 1000),
    ];
    expect(some).toEqual(all);
  });

  it('getclaimbyid: refuses a later page if the claim has ended since the first page', async () => {
    const { world: other, made: mined } = await manyClaims();
    const claimId = hashToHex(mined.claimId(1));
    const { nextSupports } = (await other.call('documented', 'getclaimbyid', claimId, 2)) as unknown as Claim;
    await other.mine([[mined.out(1)], [plainOutput(1n)]]);
    expect(await other.failure('documented', 'getclaimbyid', claimId, 2, nextSupports!)).toEqual([
      -5,
      `Could not find claim at ${claimId}`,
    ]);
    expect(await other.call('documented', 'getclaimbyid', claimId, 2)).toEqual({});
  });

  it('getclaimsfortx: the pages together are the whole answer', async () => {
    const entries = (await world.call('documented', 'getclaimsfortx', made.id)) as { nOut: number }[];
    expect(entries).toHaveLength(CLAIMS);
    for (const count of [1, 3, CLAIMS, 100]) {
      const found: { nOut: number }[] = [];
      for (let isMore = true; isMore;) {
        const from = found.length === 0 ? 0 : found.at(-1)!.nOut + 1;
        const page = (await world.call('documented', 'getclaimsfortx', made.id, from, count)) as {
          nOut: number;
        }[];
        expect(page.length).toBeLessThanOrEqual(count);
        found.push(...page);
        isMore = page.length === count;
      }
      expect(found).toEqual(entries);
    }
    expect(await world.call('documented', 'getclaimsfortx', made.id, 4)).toEqual(entries.slice(3));
  });

  it('getclaimsforname: keeps its text for further calls, except while blocks below a snapshot are missing', async () => {
    const { world: other } = await manyClaims();
    const services = other.services();
    const { chain } = services;
    const ask = async (): Promise<[height: number, claims: number, reads: number]> => {
      const before = other.reads;
      const { claims, height } = (await other.call('documented', 'getclaimsforname', NAME)) as NamePage & {
        height: number;
      };
      return [height, claims.length, other.reads - before];
    };
    const setBehind = (text: string | null): void =>
      void Object.defineProperty(chain, 'transactionsBehindSnapshot', { value: text, configurable: true });
    setBehind('The node was started from a snapshot');
    const [height, , reads] = await ask();
    expect(reads).toBeGreaterThan(0);
    expect(await ask()).toEqual([height, CLAIMS, reads]);
    setBehind(null);
    expect(await ask()).toEqual([height, CLAIMS, reads]);
    expect(await ask()).toEqual([height, CLAIMS, 0]);
    // The cached text is not used while blocks below a snapshot are missing.
    setBehind('The node was started from a snapshot');
    expect(await ask()).toEqual([height, CLAIMS, reads]);
  });

  it('getclaimsfortx: describes all outputs as of one block if blocks arrive during the call', async () => {
    const { world: other, made: mined } = await manyClaims();
    const { claims } = other.services();
    const standings = claims.standings.bind(claims);
    let blocks = 2;
    claims.standings = async (query) => {
      const found = await standings(query);
      // Each block ends a claim of the transaction.
      if (blocks-- > 0) await other.mine([[mined.out(1 + blocks)], [plainOutput(1n)]]);
      return found;
    };
    const entries = (await other.call('documented', 'getclaimsfortx', mined.id)) as {
      nOut: number;
      depth: number;
      'is controlling'?: boolean;
    }[];
    expect(entries.map(({ nOut }) => nOut)).toEqual([3, 4, 5, 6, 7]);
    expect(new Set(entries.map(({ depth }) => depth))).toEqual(new Set([other.height - mined.height]));
    expect(entries.filter((entry) => entry['is controlling'] === true)).toHaveLength(1);
    expect(entries[0]).toMatchObject({ 'in claim trie': true, 'is controlling': true });
  });

  it('refuses cursors of other methods, names and claims', async () => {
    const { world: other } = await manyClaims();
    const [second] = await other.mine([[], [claimOutput('other', '01', 5n), claimOutput('other', '02', 4n)]]);
    await other.mine([[], [1n, 2n, 3n].map((amount) => supportOutput('other', second!.claimId(0), amount))]);
    const ask = (method: string, ...args: JsonValue[]) => other.call('documented', method, ...args);
    const ids = new Map<string, string>();
    for (const one of [NAME, 'other'])
      ids.set(one, ((await ask('getclaimsforname', one)) as NamePage).claims[0]!.claimId);
    const lists: { readonly title: string; readonly ask: (after: string | null) => Promise<unknown> }[] = [];
    const cursors: string[] = [];
    for (const one of [NAME, 'other']) {
      const id = ids.get(one)!;
      lists.push(
        { title: `listclaims ${one}`, ask: (after) => ask('listclaims', one, 1, after) },
        {
          title: `getclaimsforname ${one}`,
          ask: (after) => ask('getclaimsforname', one, null, false, 1, after),
        },
        { title: `listsupports ${one}`, ask: (after) => ask('listsupports', id, 1, after) },
        { title: `getclaimbyid ${one}`, ask: (after) => ask('getclaimbyid', id, 1, after) },
      );
    }
    for (const { ask: page } of lists) {
      const { next, nextSupports } = (await page(null)) as { next?: string; nextSupports?: string };
      cursors.push((next ?? nextSupports)!);
    }
    // The cursor that getclaimsforname shows for the supports of a claim belongs to getclaimbyid.
    const { claims } = (await ask('getclaimsforname', NAME, null, false, 1)) as NamePage;
    expect(claims[0]!.nextSupports).toBe(
      cursors[lists.findIndex(({ title }) => title === `getclaimbyid ${NAME}`)],
    );
    for (const [i, list] of lists.entries()) {
      for (const [k, cursor] of cursors.entries()) {
        const asked = list.ask(cursor);
        if (i === k) await expect(asked, list.title).resolves.toBeTypeOf('object');
        else
          await expect(asked, `${list.title} with the cursor of ${lists[k]!.title}`).rejects.toMatchObject({
            code: -8,
            message: expect.stringContaining('after is the cursor of another list') as string,
          });
      }
    }
  });

  it('refuses wrong cursors and sizes, and pages in the other profiles', async () => {
    const wrongCursor = [-8, 'after must be the value "next" of the previous page'];
    const wrongCount = [-8, 'count must be between 1 and 1000'];
    const id = hashToHex(made.claimId(1));
    const { next } = await name(null, false, 2);
    const refused = (method: string, ...args: JsonValue[]) => world.failure('documented', method, ...args);
    expect(await refused('getclaimsforname', NAME, null, false, 1, 'zz')).toEqual(wrongCursor);
    expect(await refused('getclaimsforname', NAME, null, false, 0)).toEqual(wrongCount);
    expect(await refused('getclaimbyid', id, 1001)).toEqual(wrongCount);
    expect(await refused('getclaimbyid', id, 1, 'zz')).toEqual([
      -8,
      'after must be the value "nextSupports" of the previous page',
    ]);
    expect(await refused('getclaimsforname', NAME, blockHashAt(1), false, 1, next!)).toEqual([
      -8,
      'blockhash differs from the block of the previous page',
    ]);
    expect(await refused('getclaimbyid', id.slice(0, 6), 1, next!)).toEqual([
      -8,
      'claimid must have 40 hexadecimal digits',
    ]);
    expect(await refused('getclaimsfortx', made.id, -1)).toEqual([
      -8,
      'from must be between 0 and 2147483647',
    ]);
    expect(await refused('getclaimsfortx', made.id, 0, 0)).toEqual(wrongCount);
    for (const profile of ['lbrycrd', 'lbcd'] as const) {
      if (profile === 'lbrycrd')
        expect((await world.failure(profile, 'getclaimsforname', NAME, null, false, 1))[0]).toBe(-1);
      expect((await world.failure(profile, 'getclaimbyid', id, 1))[0]).toBeLessThan(0);
      expect((await world.failure(profile, 'getclaimsfortx', made.id, 0))[0]).toBeLessThan(0);
    }
  });
});

/** Maximum number of claims and supports that are read without a yield to the event loop. */
const READ_AT_ONCE = 512;

describe('a call about a name with many claims', () => {
  const COUNT = 1300;

  /** Records the keys of claims and supports of the name that each read of rows has. */
  function watchReads(world: World): string[][] {
    const reads: string[][] = [];
    const { rows } = world;
    const getMany = rows.getMany.bind(rows);
    const prefix = itemsKey(NAME);
    rows.getMany = (keys) => {
      reads.push(keys.filter((key) => key.startsWith(prefix)));
      return getMany(keys);
    };
    return reads;
  }

  it('reads each claim once, in bounded steps', async () => {
    const world = new World();
    await world.mine();
    const [made] = await world.mine([
      [],
      Array.from({ length: COUNT }, (_, n) => claimOutput(NAME, '00', BigInt(n + 1))),
    ]);
    await world.mineEmpty(1);
    const reads = watchReads(world);
    const id = hashToHex(made!.claimId(0));
    for (const [method, args, most] of [
      ['getclaimsforname', [NAME], COUNT],
      ['getclaimbyid', [id], 1],
      ['getclaimbyid', [id, 10], 1],
      ['getclaimsfortx', [made!.id, 0, 100], 100],
    ] as const) {
      await world.mine([[], [claimOutput(NAME, '00', 1n)]]);
      reads.splice(0);
      await world.call('documented', method, ...args);
      const keys = reads.flat();
      expect([method, keys.length]).toEqual([method, new Set(keys).size]);
      expect(keys.length).toBeLessThanOrEqual(most + world.height);
      expect(Math.max(0, ...reads.map(({ length }) => length))).toBeLessThanOrEqual(READ_AT_ONCE);
    }
  });
});
