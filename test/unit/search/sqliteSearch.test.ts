import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseConstraints } from '../../../src/search/constraints.js';
import { SqliteReader } from '../../../src/search/sqliteReader.js';
import { SqliteWriter } from '../../../src/search/sqliteWriter.js';
import { loadSqlite } from '../../../src/search/sqliteProvider.js';
import { trendingAfter } from '../../../src/search/trending.js';
import {
  Random,
  modelDocuments,
  modelSearch,
  randomClaims,
  randomSearch,
  type ModelDocument,
} from '../../support/claimSearchModel.js';

const SEED = 20160624;
const SEARCHES = 2000;

describe('searches in the SQLite index', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lbcnode-search-'));
  const random = new Random(SEED);
  const path = join(folder, 'search.sqlite');
  let documents: ModelDocument[];
  let writer: SqliteWriter;
  let reader: SqliteReader;

  beforeAll(async () => {
    const provider = await loadSqlite();
    writer = SqliteWriter.open(provider, path, 'chain');
    const base = modelDocuments(randomClaims(random, 1500));
    writer.startBuild({ height: 200, hash: 'aa' });
    writer.addDocuments(base.slice(0, 700), [], '00');
    writer.addDocuments(base.slice(700), [], 'ff');
    writer.endDocuments();
    const scores = base
      .filter(() => random.chance(0.7))
      .map((document) => ({
        claimId: document.claimId,
        formerSat: 0n,
        latterSat: BigInt(1 + random.below(5)) * 100_000_000n,
      }));
    writer.addScores([{ height: 200, scores }]);
    writer.endBuild();

    const latter = new Map(scores.map((change) => [change.claimId, change.latterSat]));
    documents = base.map((document) => ({
      ...document,
      score: latter.has(document.claimId)
        ? trendingAfter(null, 200, 0n, latter.get(document.claimId)!)
        : null,
    }));
    reader = new SqliteReader(provider, path, { blocking: [], filtering: [] });
  });

  afterAll(() => {
    reader.close();
    writer.close();
    rmSync(folder, { recursive: true });
  });

  it(`answers ${SEARCHES} random ones as loops over arrays do`, async () => {
    let found = 0;
    for (let i = 0; i < SEARCHES; i++) {
      const search = randomSearch(random, documents);
      const page = reader.search(parseConstraints(search.constraints), 10_000);
      const expected = modelSearch(documents, search);
      const name = `${i}: ${JSON.stringify(search.constraints)}`;
      expect({ rows: page.rows, total: page.total }, name).toEqual(expected);
      expect(page.height).toBe(200);
      if (expected.total > 0) found++;
      // Whoever runs the tests is told of them in between.
      await nextTurn();
    }
    expect(found).toBeGreaterThan(SEARCHES / 2);
  });

  it('ends a search whose time is up, and goes on with others', () => {
    const query = parseConstraints({ order_by: 'release_time' });
    const timeout = (() => {
      try {
        return reader.search(query, -1);
      } catch (error) {
        return error;
      }
    })();
    expect(timeout).toMatchObject({
      name: 'SearchError',
      kind: 'timeout',
      code: -32000,
      message: 'query timed out',
    });
    expect(reader.search(query, 10_000).total).toBe(1000);
  });

  it('leaves out what listed channels repost, and counts it', async () => {
    const repost = documents.find(
      (d) => d.repostedId !== null && d.isSignatureValid && d.channelId !== null,
    )!;
    const target = documents.find((d) => d.claimId === repost.repostedId)!;
    const query = parseConstraints({ claim_ids: [repost.claimId, target.claimId] });
    const open = async (blocking: string[], filtering: string[]) =>
      new SqliteReader(await loadSqlite(), path, { blocking, filtering });
    const censored = await open([], [repost.channelId!]);
    // Both are of the channel's list: the target, and the repost of it.
    expect(censored.search(query, 10_000)).toMatchObject({
      rows: [],
      total: 2,
      blocked: [{ channelId: repost.channelId, count: 2 }],
    });
    const types = parseConstraints({ claim_ids: [target.claimId], censor_type: '>=1' });
    expect(censored.search(types, 10_000).total).toBe(1);
    censored.close();
    const blocked = await open([repost.channelId!], []);
    const filtered = parseConstraints({ claim_ids: [target.claimId], censor_type: 1 });
    expect(blocked.search(filtered, 10_000).total).toBe(0);
    blocked.close();
    expect(reader.search(query, 10_000)).toMatchObject({ total: 2, blocked: [] });
  });
});
