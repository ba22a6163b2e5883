import { expect, it } from 'vitest';
import type { ClaimIndexReader, ClaimRecord, ResolvedUrl } from '../../../src/index/claims/claimReader.js';
import { BackedClaimSearch } from '../../../src/search/claimSearch.js';
import type { SearchFollower } from '../../../src/search/follower.js';
import type { SearchBackend } from '../../../src/search/searchBackend.js';
import type { SearchQuery } from '../../../src/search/searchQuery.js';
import { SILENT_LOGGER } from '../../../src/util/logging.js';

/** A search over nothing, and how often it looked, and for what. */
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

it('an index that waits for what cannot be read does not answer, one that is only late does', async () => {
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

it('answers are remembered until what they were asked for takes too much memory', async () => {
  const { search, looks } = emptySearch();
  const asked = { name: 'one' };
  for (let n = 0; n < 3; n++) await search.search(asked);
  expect(looks()).toBe(1);
  for (let n = 0; n < 20; n++) await search.search({ not_tags: [`${n}${'x'.repeat(1_000_000)}`] });
  expect(looks()).toBe(21);
  await search.search(asked);
  expect(looks()).toBe(22);
});

it('a channel is the one that the URL names, or that signed what it names', async () => {
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
    // What is passed over counts as well.
    { name: ['x'.repeat(size / 2), 'y'.repeat(size / 2 + 1)] },
    { nobody: 'x'.repeat(size + 1) },
  ])
    await expect(search.search(constraints)).rejects.toMatchObject(tooLong);
});
