import { describe, expect, it } from 'vitest';
import type { ClaimIndexReader, ClaimRecord, ResolvedUrl } from '../../../src/index/claims/claimReader.js';
import { BackedClaimSearch, type WaitingParts } from '../../../src/search/claimSearch.js';
import { cutPage } from '../../../src/search/hits/hits.js';
import type { SearchFollower } from '../../../src/search/follow/follower.js';
import type { SearchBackend } from '../../../src/search/searchBackend.js';
import type { SearchQuery } from '../../../src/search/query/searchQuery.js';
import { SILENT_LOGGER } from '../../../src/util/logging.js';

/** A search over claims, each identified by one byte. A test can change the list at any time. */
function searchOver(claims: number[]) {
  const queries: SearchQuery[] = [];
  const hexOf = (byte: number) => byte.toString(16).padStart(2, '0').repeat(20);
  const status = { tip: { height: 1, hash: 'aa' }, failure: null, isStuck: false };
  const backend = {
    description: 'a list',
    load: { running: 0, waiting: 0 },
    search: async (query: SearchQuery) => {
      queries.push(query);
      const { page, total } = cutPage(
        claims.map((byte) => ({
          claimId: hexOf(byte),
          channelId: null,
          signerId: null,
          repostedId: null,
          creationHeight: byte,
          transaction: hexOf(byte),
        })),
        query,
      );
      return { rows: page.map(({ claimId }) => claimId), total, blocked: [], height: status.tip.height };
    },
  } as unknown as SearchBackend;
  const follower = { status, waitForTip: () => Promise.resolve() } as unknown as SearchFollower;
  const search = new BackedClaimSearch({} as ClaimIndexReader, backend, follower, SILENT_LOGGER);
  const become = (...others: number[]) => {
    claims.splice(0, claims.length, ...others);
    status.tip = { height: status.tip.height + 1, hash: 'bb' };
  };
  return { search, queries, become };
}

const bytesOf = (rows: readonly Uint8Array[]): number[] => rows.map((row) => row[0]!);

/** A search over an empty index that records its queries. */
function emptySearch(index: Partial<ClaimIndexReader> = {}) {
  let looks = 0;
  const queries: SearchQuery[] = [];
  const backend = {
    description: 'nothing',
    load: { running: 0, waiting: 0 },
    search: async (query: SearchQuery) => {
      looks++;
      queries.push(query);
      return { rows: [], total: 0, blocked: [], height: 1 };
    },
  } as unknown as SearchBackend;
  const status = { tip: { height: 1, hash: 'aa' }, failure: null as string | null, isStuck: false };
  const follower = { status, waitForTip: () => Promise.resolve() } as unknown as SearchFollower;
  const search = new BackedClaimSearch(index as ClaimIndexReader, backend, follower, SILENT_LOGGER);
  return { search, status, queries, looks: () => looks };
}

it('an index that waits for an unreadable block does not answer, one that is only late does', async () => {
  const { search, status, looks } = emptySearch();
  status.failure = 'The disk is full';
  await search.search({ name: 'one' });
  expect(looks()).toBe(1);
  Object.assign(status, { failure: 'blk00001.dat is damaged', isStuck: true });
  await expect(search.search({ name: 'one' })).rejects.toMatchObject({
    kind: 'unavailable',
    message: 'The search index cannot follow the chain: blk00001.dat is damaged',
  });
});

it('a search that waits for the index finds a mempool claim that arrives meanwhile', async () => {
  const backend = {
    description: 'nothing',
    load: { running: 0, waiting: 0 },
    search: async () => ({ rows: [], total: 0, blocked: [], height: 1 }),
  } as unknown as SearchBackend;
  const status = { tip: { height: 1, hash: 'aa' }, failure: null, isStuck: false };
  // The index never reaches the tip.
  const follower = { status, waitForTip: () => new Promise(() => undefined) } as unknown as SearchFollower;
  let [version, looks] = [0, 0];
  const outputs: { claimId: string }[] = [];
  const search = {
    get version() {
      return version;
    },
    find: async () => {
      if (++looks === 1)
        setImmediate(() => {
          outputs.push({ claimId: '\x07'.repeat(20) });
          version++;
        });
      return [...outputs];
    },
  };
  const parts = { search, shown: {} } as unknown as WaitingParts;
  const index = {} as ClaimIndexReader;
  const searching = new BackedClaimSearch(index, backend, follower, SILENT_LOGGER, null, parts);
  expect(bytesOf((await searching.search({ name: 'new' })).rows)).toEqual([7]);
  // A claim that the mempool does not have is not searched again before the mempool changes.
  expect(looks).toBe(2);
});

it('an index at the tip is read while the mempool is searched, and again after a block that a claim left for', async () => {
  const steps: string[] = [];
  const status = { tip: { height: 1, hash: 'aa' }, failure: null, isStuck: false };
  const claim = '07'.repeat(20);
  const backend = {
    description: 'one claim from block 2 on',
    load: { running: 0, waiting: 0 },
    search: async () => {
      const { height } = status.tip;
      steps.push(`index ${height}`);
      return { rows: height < 2 ? [] : [claim], total: height - 1, blocked: [], height };
    },
  } as unknown as SearchBackend;
  const follower = { status, isAtTip: true, waitForTip: async () => undefined } as unknown as SearchFollower;
  let version = 0;
  let blockComes = false;
  const search = {
    get version() {
      return version;
    },
    find: async () => {
      steps.push('mempool');
      if (!blockComes) return version === 0 ? [{ claimId: '\x07'.repeat(20) }] : [];
      blockComes = false;
      version++;
      status.tip = { height: 2, hash: 'bb' };
      return [];
    },
  };
  const parts = { search, shown: {} } as unknown as WaitingParts;
  const searching = new BackedClaimSearch(
    {} as ClaimIndexReader,
    backend,
    follower,
    SILENT_LOGGER,
    null,
    parts,
  );
  expect(bytesOf((await searching.search({ name: 'one' })).rows)).toEqual([7]);
  expect(steps.splice(0)).toEqual(['index 1', 'mempool']);
  blockComes = true;
  expect(bytesOf((await searching.search({ name: 'two' })).rows)).toEqual([7]);
  expect(steps).toEqual(['index 1', 'mempool', 'mempool', 'index 2']);
});

it('answers are cached up to a memory limit', async () => {
  const { search, looks } = emptySearch();
  const asked = { name: 'one' };
  for (let n = 0; n < 3; n++) await search.search(asked);
  expect(looks()).toBe(1);
  for (let n = 0; n < 20; n++) await search.search({ not_tags: [`${n}${'x'.repeat(1_000_000)}`] });
  expect(looks()).toBe(21);
  await search.search(asked);
  expect(looks()).toBe(22);
});

it('a channel is the one that the URL names, or the signer of the claim that it names', async () => {
  const claim = (name: string, id: number) =>
    ({ name: Buffer.from(name), claimId: Buffer.alloc(20, id) }) as unknown as ClaimRecord;
  const urls: Record<string, Pick<ResolvedUrl, 'claim' | 'channel'>> = {
    '@c': { claim: claim('@c', 1), channel: null },
    '@in': { claim: claim('@in', 2), channel: claim('@c', 1) },
    '@c/s': { claim: claim('s', 3), channel: claim('@c', 1) },
    alone: { claim: claim('alone', 4), channel: null },
    none: { claim: null, channel: null },
  };
  const { search, queries } = emptySearch({
    resolve: async ([url]) => [urls[url!] as ResolvedUrl],
  });
  for (const channel of Object.keys(urls)) await search.search({ channel });
  const ids = queries.map(({ conditions: [condition] }) => condition!.kind === 'ids' && condition.values[0]);
  expect(ids).toEqual(['01', '02'].map((byte) => byte.repeat(20)));
  expect((await search.search({ channel: '@c/s' })).total).toBe(0);
  await expect(search.search({ channel: 7 })).rejects.toMatchObject({ kind: 'bad-request' });
});

it('no search is longer than ten lists of ids', async () => {
  const { search } = emptySearch();
  const ids = Array.from({ length: 2048 }, (_, n) => n.toString(16).padStart(40, '0'));
  const lists = ['claim_ids', 'channel_ids', 'not_channel_ids', 'not_claim_ids', 'any_tags', 'all_tags'];
  const others = ['not_tags', 'reposted_claim_id', 'title', 'author'];
  await search.search(Object.fromEntries([...lists, ...others].map((name) => [name, ids])));
  const tooLong = { kind: 'bad-request', message: 'The constraints are too long.' };
  const size = 1 << 20;
  for (const constraints of [
    { not_tags: ['x'.repeat(size)] },
    // Ignored constraints count as well.
    { name: ['x'.repeat(size / 2), 'y'.repeat(size / 2 + 1)] },
    { unknown: 'x'.repeat(size + 1) },
  ])
    await expect(search.search(constraints)).rejects.toMatchObject(tooLong);
});

describe('consecutive pages', () => {
  const asked = { order_by: 'trending_score', limit: 2 };

  it('show each claim once, although blocks change the hits and their order', async () => {
    const { search, become } = searchOver([1, 2, 3, 4, 5]);
    const first = await search.walk(asked, '');
    expect(first).toMatchObject({ total: 5, height: 1 });
    become(9, 4, 1, 2, 3, 5);
    const second = await search.walk(asked, first.next!);
    become(3, 9);
    const third = await search.walk(asked, second.next!);
    expect([first, second, third].map(({ rows }) => bytesOf(rows))).toEqual([[1, 2], [3, 4], [5]]);
    expect(third).toMatchObject({ total: 5, height: 1, next: null });
    // A page with a cursor can be requested again with the same result. A page with an offset has the present claims.
    expect(await search.walk({ limit: 2, order_by: 'trending_score' }, second.next!)).toEqual(third);
    expect(bytesOf((await search.search({ ...asked, offset: 1 })).rows)).toEqual([9]);
  });

  it('begin at an offset, and end when a page is full', async () => {
    const { search, queries } = searchOver([1, 2, 3, 4, 5]);
    const first = await search.walk({ limit: 2, offset: 1 }, '');
    expect(bytesOf(first.rows)).toEqual([2, 3]);
    const second = await search.walk({ limit: 2, offset: 1 }, first.next!);
    expect(bytesOf(second.rows)).toEqual([4, 5]);
    expect(second).toMatchObject({ total: 5, next: null });
    expect(await search.walk({ offset: 7 }, '')).toMatchObject({ rows: [], total: 5, next: null });
    expect(queries.map(({ allPages }) => allPages)).toEqual([true, true]);
  });

  it('belong to one search, also to a stored one', async () => {
    const { search } = searchOver([1, 2, 3]);
    const refusal = (constraints: object, after: string) =>
      search.walk({ ...constraints }, after).then(
        () => null,
        (error: unknown) => error,
      );
    const wrong = (message: string) => ({ kind: 'bad-request', message });
    const { next } = await search.walk({ limit: 1, height: 7n }, '');
    expect(next).toMatch(/^[0-9a-f]{32}-1$/);
    const other = wrong('after: the previous page was requested with other constraints.');
    expect(await refusal({ limit: 2, height: 7n }, next!)).toMatchObject(other);
    expect(await refusal({ limit: 1, height: 8n }, next!)).toMatchObject(other);
    expect(await refusal({ limit: 1, height: 7n }, `${next}0`)).toBeNull();
    const none = wrong('after: the value is not the "next" of a page.');
    for (const after of ['1', `${next} `, `${next!.toUpperCase()}z`, `x${next}`])
      expect(await refusal({}, after), after).toMatchObject(none);
    const gone = wrong(
      'after: the result of this search is not stored any more. Begin again with an empty "after".',
    );
    expect(await refusal({}, `${'0'.repeat(32)}-1`)).toMatchObject(gone);
    expect(await refusal({ limit: 0 }, '')).toMatchObject({ kind: 'bad-request' });
    expect(await refusal({ height: 'x' }, '')).toMatchObject({ kind: 'bad-request' });
    // The pages of the latest thousand requests are kept.
    const second = await search.walk({ limit: 1 }, '');
    for (let n = 0; n < 999; n++) await search.walk({ limit: 1 }, '');
    expect(bytesOf((await search.walk({ limit: 1 }, second.next!)).rows)).toEqual([2]);
    expect(await refusal({ limit: 1, height: 7n }, next!)).toMatchObject(gone);
    await search.walk({ limit: 1 }, '');
    expect(bytesOf((await search.walk({ limit: 1 }, second.next!)).rows)).toEqual([2]);
  });
});
