import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { regtestParams } from '../../../src/params/regtest.js';
import { addressPrefixesOf } from '../../../src/script/address.js';
import { hashToHex } from '../../../src/util/bytes.js';
import { SearchFollower } from '../../../src/search/follower.js';
import { SqliteIndexWriter } from '../../../src/search/sqliteIndexWriter.js';
import { loadSqlite } from '../../../src/search/sqliteProvider.js';
import { trendingAfter } from '../../../src/search/trending.js';
import { SILENT_LOGGER } from '../../../src/util/logging.js';
import { FakeClaimIndex } from '../../support/fakeClaimIndex.js';
import { Random } from '../../support/claimSearchModel.js';

const folder = mkdtempSync(join(tmpdir(), 'lbcnode-follower-'));
const provider = await loadSqlite();
const prefixes = addressPrefixesOf(regtestParams);
let files = 0;

afterAll(() => rmSync(folder, { recursive: true }));

const newPath = () => join(folder, `${files++}.sqlite`);

function openWriter(path: string): SqliteIndexWriter {
  return new SqliteIndexWriter(provider, { path, chain: 'chain', prefixes });
}

/** All that a search can see of an index, whatever numbers it gave. */
function contents(path: string) {
  const database = provider.open(path);
  try {
    const labels = new Map(
      database
        .prepare('SELECT n, text, count FROM label')
        .all()
        .map((row) => [row['n'], row]),
    );
    const labeled = new Map<number, string[]>();
    for (const { n, id } of database.prepare('SELECT n, id FROM labeled').all()) {
      const texts = labeled.get(id as number) ?? [];
      labeled.set(id as number, [...texts, labels.get(n!)!['text'] as string].sort());
    }
    const rows = database
      .prepare('SELECT * FROM claim c JOIN words w ON w.id = c.id ORDER BY c.id')
      .all()
      .map((row): Record<string, unknown> => ({ ...row, labels: labeled.get(row['id'] as number) ?? [] }));
    return {
      rows,
      labels: [...labels.values()]
        .filter((row) => row['count'] !== 0)
        .map(({ text, count }) => `${text as string} ${count as number}`)
        .sort(),
      totals: database.prepare(`SELECT value FROM state WHERE key = 'totals'`).get(),
      words: database.prepare(`SELECT rowid FROM text_index WHERE text_index MATCH 'bitcoin'`).all(),
      tip: database.prepare(`SELECT value FROM state WHERE key = 'tip'`).get(),
    };
  } finally {
    database.close();
  }
}

async function freshBuild(index: FakeClaimIndex, keptBlocks: number) {
  const path = newPath();
  const writer = openWriter(path);
  const follower = new SearchFollower(index, index, writer, SILENT_LOGGER, { keptBlocks });
  await follower.sync();
  await writer.close();
  return contents(path);
}

/** Scores from all changes up to the tip, told by a loop. */
function expectedScores(index: FakeClaimIndex): Map<string, number> {
  const scores = new Map<string, number>();
  index.allTrending.forEach((changes, height) => {
    for (const { claimId, formerSat, latterSat } of changes) {
      const id = hashToHex(claimId);
      scores.set(id, trendingAfter(scores.get(id) ?? null, height, formerSat, latterSat));
    }
  });
  return scores;
}

describe('the follower of the search index', () => {
  it('has after random blocks and reorganisations what a build from nothing has', async () => {
    const random = new Random(7);
    const index = new FakeClaimIndex(11);
    for (let n = 0; n < 40; n++) index.mine(12);
    const path = newPath();
    let writer = openWriter(path);
    let follower = new SearchFollower(index, index, writer, SILENT_LOGGER, { keptBlocks: 10 });
    await follower.sync();
    for (let round = 0; round < 40; round++) {
      if (random.chance(0.4)) index.takeBack(1 + random.below(random.chance(0.1) ? 30 : 4));
      for (let n = random.below(5); n >= 0; n--) index.mine(12);
      if (random.chance(0.1)) {
        await writer.close();
        writer = openWriter(path);
        follower = new SearchFollower(index, index, writer, SILENT_LOGGER, { keptBlocks: 10 });
      }
      await follower.sync();
      expect(follower.status.tip).toEqual({ height: index.height, hash: index.hashAt(index.height) });
      if (round % 8 !== 0) continue;
      const followed = contents(path);
      const scores = expectedScores(index);
      for (const row of followed.rows) {
        const id = Buffer.from(row['claim_id'] as Uint8Array).toString('hex');
        expect(row['trending_score']).toBe(scores.get(id) ?? null);
      }
      expect(followed).toEqual(await freshBuild(index, random.pick([0, 5, 1000])));
    }
    await writer.close();
  });

  it('reads claims again that it saw on a branch to which it had not come', async () => {
    const index = new FakeClaimIndex(3);
    for (let n = 0; n < 30; n++) index.mine(8);
    const path = newPath();
    const writer = openWriter(path);
    // The chain changes its branch while documents are read: between two answers of the index.
    let calls = 0;
    const restless = new Proxy(index, {
      get(target, name) {
        if (name !== 'claims') return Reflect.get(target, name) as unknown;
        return async (ids: readonly Uint8Array[]) => {
          const answer = await target.claims(ids);
          if (++calls % 3 === 0 && calls < 60) {
            target.takeBack(2);
            for (let n = 0; n < 3; n++) target.mine(8);
          }
          return answer;
        };
      },
    });
    const follower = new SearchFollower(restless, restless, writer, SILENT_LOGGER, { keptBlocks: 20 });
    await follower.sync();
    await follower.sync();
    await writer.close();
    expect(calls).toBeGreaterThan(20);
    expect(contents(path)).toEqual(await freshBuild(index, 0));
  });

  it('goes on with a first build that was interrupted', async () => {
    const index = new FakeClaimIndex(5);
    for (let n = 0; n < 60; n++) index.mine(20);
    const path = newPath();
    let writer = openWriter(path);
    await writer.startBuild({ height: 40, hash: index.hashAt(40)! });
    await writer.close();
    writer = openWriter(path);
    await new SearchFollower(index, index, writer, SILENT_LOGGER).sync();
    await writer.close();
    expect(contents(path)).toEqual(await freshBuild(index, 0));
  });

  it('builds anew when the claim index no longer knows what blocks changed', async () => {
    const index = new FakeClaimIndex(6);
    for (let n = 0; n < 30; n++) index.mine(10);
    index.knownBlocks = 5;
    const path = newPath();
    const writer = openWriter(path);
    const follower = new SearchFollower(index, index, writer, SILENT_LOGGER);
    await follower.sync();
    for (let n = 0; n < 20; n++) index.mine(10);
    await follower.sync();
    await writer.close();
    expect(contents(path)).toEqual(await freshBuild(index, 0));
  });

  it('makes a file anew that is damaged, of another chain, or no index at all', async () => {
    const index = new FakeClaimIndex(9);
    for (let n = 0; n < 30; n++) index.mine(10);
    const path = newPath();
    const expected = await freshBuild(index, 0);
    const damages: readonly (() => void)[] = [
      () => undefined,
      () => writeFileSync(path, 'this is no database, but a text that is longer than a header. '.repeat(200)),
      () => truncateSync(path, 20_000),
      () => new SqliteIndexWriter(provider, { path, chain: 'other', prefixes }).close(),
      () => rmSync(path),
    ];
    for (const damage of damages) {
      damage();
      const writer = openWriter(path);
      const follower = new SearchFollower(index, index, writer, SILENT_LOGGER);
      // What only reading shows to be damaged is found by the first try, and made anew by the second.
      await follower.sync().catch(() => follower.sync());
      await writer.close();
      expect(contents(path)).toEqual(expected);
    }
  });
});
