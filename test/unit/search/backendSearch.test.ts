import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseConstraints } from '../../../src/search/query/constraints.js';
import { trendingAfter } from '../../../src/search/document/trending.js';
import {
  Random,
  modelDocuments,
  modelSearch,
  randomClaims,
  randomSearch,
  type ModelDocument,
} from '../../support/claimSearchModel.js';
import { searchBackends, type TestIndex, type TestReader } from '../../support/searchBackends.js';

const SEED = 20160624;
/** Number of searches in each of four rounds. The full size is for `npm run test:full`. */
const SEARCHES = process.env['LBCNODE_FULL'] === '1' ? 500 : 100;
const AT_ONCE = 10;
/** Page size for tests that read all pages. */
const PAGE = 25;
/** Tags of one claim: the maximum number of items in a list of a search. */
const MANY_TAGS = Array.from({ length: 2048 }, (_, n) => `many ${n}`);
/** Number of the claim with these tags. */
const TAGGED = 5;

describe.each(searchBackends)('searches in the index of $name', (backend) => {
  const random = new Random(SEED);
  let documents: ModelDocument[];
  let index: TestIndex;
  let reader: TestReader;

  beforeAll(async () => {
    index = await backend.make();
    const claims = randomClaims(random, 1500).map((claim, n) =>
      n === TAGGED ? { ...claim, metadata: { ...claim.metadata, tags: MANY_TAGS } } : claim,
    );
    const base = modelDocuments(claims);
    const scores = base
      .filter(() => random.chance(0.7))
      .map((document) => ({
        claimId: document.claimId,
        formerSat: 0n,
        latterSat: BigInt(1 + random.below(5)) * 100_000_000n,
      }));
    await index.build({
      base: { height: 200, hash: 'aa' },
      documents: [
        [base.slice(0, 700), '00'],
        [base.slice(700), 'ff'],
      ],
      scores: [{ height: 200, scores }],
    });
    const latter = new Map(scores.map((change) => [change.claimId, change.latterSat]));
    documents = base.map((document) => ({
      ...document,
      score: latter.has(document.claimId)
        ? trendingAfter(null, 200, 0n, latter.get(document.claimId)!)
        : null,
    }));
    reader = await index.openReader({ blocking: [], filtering: [] });
  });

  afterAll(async () => {
    await reader.close();
    await index.remove();
  });

  it.each([1, 2, 3, 4])(`equal loops over arrays for ${SEARCHES} random searches (%i of 4)`, async () => {
    let found = 0;
    for (let i = 0; i < SEARCHES; i += AT_ONCE) {
      const searches = Array.from({ length: AT_ONCE }, () => randomSearch(random, documents));
      const pages = await Promise.all(
        searches.map(({ constraints }) => reader.search(parseConstraints(constraints), 100_000)),
      );
      searches.forEach((search, n) => {
        const { rows, total, height } = pages[n]!;
        const expected = modelSearch(documents, search);
        expect({ rows, total }, `${i + n}: ${JSON.stringify(search.constraints)}`).toEqual(expected);
        expect(height).toBe(200);
        if (expected.total > 0) found++;
      });
      await setImmediate();
    }
    expect(found).toBeGreaterThan(SEARCHES / 2);
  });

  it('find words with wrong letters', async () => {
    const search = (text: string) => reader.search(parseConstraints({ text, order_by: 'height' }), 10_000);
    const page = await search('bitcoin');
    expect(page.total).toBeGreaterThan(100);
    expect(await search('bitcion~1')).toEqual(page);
    expect(await search('bitcion~1 nosuchword~2')).toEqual(page);
    expect((await search('nosuchword~2')).total).toBe(0);
  });

  it('handle signs and lengths that could break the query language', async () => {
    const texts = [
      `it's \\\\ a 'quote' | (& ! <-> :* "x:*" )`,
      `a\\ b* "of the"~100`,
      `${'long'.repeat(1000)}* ${'🙂'.repeat(200)}`,
      `\0 \ud83d* \x1e \x1f%_`,
      `"${Array(200).fill('of').join(' ')}"`,
    ];
    for (const text of texts)
      expect((await reader.search(parseConstraints({ text }), 10_000)).height).toBe(200);
    const odd = ['\0', '\ud83d', "'", '\\', '%', 'x'.repeat(256)];
    for (const key of [
      'name',
      'title',
      'media_types',
      'any_tags',
      'not_tags',
      'all_languages',
      'channel_ids',
    ]) {
      const page = await reader.search(parseConstraints({ [key]: odd }), 10_000);
      expect(page.height).toBe(200);
    }
    const counts = [
      ['>12.5', documents.filter((d) => d.height > 12.5).length],
      ['<99999999999999999999999', documents.length],
      [['0.1', '123456789012345678901234567890.5'], 0],
    ] as const;
    for (const [height, count] of counts) {
      const page = await reader.search(parseConstraints({ height }), 10_000);
      expect(page.total).toBe(Math.min(1000, count));
    }
  });

  it('accept lists of the maximum length, and nested texts', async () => {
    const find = async (constraints: object) =>
      (await reader.search(parseConstraints({ order_by: 'height', ...constraints }), 10_000)).total;
    const range = Array.from({ length: 2048 }, (_, n) =>
      n % 2 === 0 ? `>=${n % 20}` : `<${5000 - (n % 30)}`,
    );
    expect(await find({ height: range })).toBe(await find({ height: ['>=18', '<4971'] }));
    expect(await find({ release_time: Array(2048).fill('>=1') })).toBe(1000);
    const tagged = documents.filter(({ tags }) => tags.includes(MANY_TAGS[0]!)).length;
    expect(await find({ all_tags: MANY_TAGS })).toBe(tagged);
    expect(await find({ all_tags: MANY_TAGS.slice(100, 150) })).toBe(tagged);
    expect(await find({ all_tags: [...MANY_TAGS.slice(0, 50), 'news', 'no such tag'] })).toBe(0);
    expect(await find({ any_tags: MANY_TAGS })).toBe(tagged);
    expect(await find({ any_tags: MANY_TAGS, duration: '<100000', order_by: 'name' })).toBe(
      documents.filter((d) => d.tags.includes(MANY_TAGS[0]!) && d.durationSec !== null).length,
    );
    const some = { any_tags: ['news', 'art'] };
    const withSome = documents.filter((d) => d.tags.includes('news') || d.tags.includes('art')).length;
    expect(await find({ ...some, not_tags: MANY_TAGS })).toBe(withSome);
    const others = ['news', ...MANY_TAGS.slice(1)];
    expect(await find({ ...some, not_tags: others })).toBe(
      documents.filter((d) => !d.tags.includes('news') && d.tags.includes('art')).length,
    );
    const ids = documents.map(({ claimId }) => claimId);
    const listed = ids.slice(0, 1000);
    expect(await find({ ...some, not_claim_ids: listed })).toBe(
      documents.filter((d, n) => n >= 1000 && (d.tags.includes('news') || d.tags.includes('art'))).length,
    );
    expect(await find({ claim_ids: listed, not_channel_ids: ids })).toBe(0);
    const both = await find({ text: 'bitcoin+music' });
    expect(both).toBeGreaterThan(0);
    // Operators apply from left to right: (result or music) and bitcoin.
    expect(await find({ text: `bitcoin + music${' | music + bitcoin'.repeat(120)}` })).toBe(both);
    const nested = '(bitcoin + '.repeat(32) + 'music' + ' + bitcoin'.repeat(32) + ')'.repeat(32);
    expect(await find({ text: nested })).toBe(both);
  });

  it('find the hits of all pages at once', async () => {
    for (const constraints of [
      { text: 'bitcoin' },
      { order_by: 'height' },
      { text: 'bitcoin', remove_duplicates: true, limit_claims_per_channel: 1 },
      { any_tags: ['news'], offset: 7, limit_claims_per_channel: 2 },
    ]) {
      const query = { ...parseConstraints(constraints), limit: PAGE };
      const whole = await reader.search({ ...query, allPages: true }, 10_000);
      const rows: string[] = [];
      for (let { offset } = query; offset < whole.total; offset += PAGE)
        rows.push(...(await reader.search({ ...query, offset }, 10_000)).rows);
      expect(rows.length).toBeGreaterThan(2 * PAGE);
      expect(whole.rows).toEqual(rows);
    }
  });

  it('abort a search at its time limit, and continue with others', async () => {
    const query = parseConstraints({ order_by: 'release_time' });
    await expect(reader.search(query, -1)).rejects.toMatchObject({
      name: 'SearchError',
      kind: 'timeout',
      code: -32000,
      message: 'query timed out',
    });
    expect((await reader.search(query, 10_000)).total).toBe(1000);
  });

  it('exclude and count reposts by listed channels', async () => {
    const repost = documents.find(
      (d) => d.repostedId !== null && d.isSignatureValid && d.channelId !== null,
    )!;
    const target = documents.find((d) => d.claimId === repost.repostedId)!;
    const query = parseConstraints({ claim_ids: [repost.claimId, target.claimId] });
    const censored = await index.openReader({ blocking: [], filtering: [repost.channelId!] });
    // The channel of the list censors both the reposted claim and the repost.
    expect(await censored.search(query, 10_000)).toMatchObject({
      rows: [],
      total: 2,
      blocked: [{ channelId: repost.channelId, count: 2 }],
    });
    const types = parseConstraints({ claim_ids: [target.claimId], censor_type: '>=1' });
    expect((await censored.search(types, 10_000)).total).toBe(1);
    await censored.close();
    const blocked = await index.openReader({ blocking: [repost.channelId!], filtering: [] });
    const filtered = parseConstraints({ claim_ids: [target.claimId], censor_type: 1 });
    expect((await blocked.search(filtered, 10_000)).total).toBe(0);
    await blocked.close();
    expect(await reader.search(query, 10_000)).toMatchObject({ total: 2, blocked: [] });
  });
});
