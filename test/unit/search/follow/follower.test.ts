import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { ClaimIndexNotReadyError } from '../../../../src/index/claims/claimIndexQueries.js';
import { regtestParams } from '../../../../src/params/regtest.js';
import { addressPrefixesOf } from '../../../../src/script/address.js';
import { hashToHex } from '../../../../src/util/bytes.js';
import { BackedClaimSearch } from '../../../../src/search/claimSearch.js';
import { SearchFollower } from '../../../../src/search/follow/follower.js';
import type { SearchBackend } from '../../../../src/search/searchBackend.js';
import { BlockFileError } from '../../../../src/store/files/blockFiles.js';
import { DatabaseCorruptionError } from '../../../../src/store/leveldb/levelDb.js';
import { SqliteIndexWriter } from '../../../../src/search/sqlite/sqliteIndexWriter.js';
import { loadSqlite } from '../../../../src/sqlite/sqliteProvider.js';
import { trendingAfter } from '../../../../src/search/document/trending.js';
import { SILENT_LOGGER, type Logger } from '../../../../src/util/logging.js';
import { FakeClaimIndex } from '../../../support/fakeClaimIndex.js';
import { Random } from '../../../support/claimSearchModel.js';
import {
  searchBackends,
  type SearchBackendOfTests,
  type TestIndex,
} from '../../../support/searchBackends.js';
import { IS_LONG } from '../../../support/long.js';

const made: TestIndex[] = [];

afterEach(async () => {
  for (const index of made.splice(0)) await index.remove();
});

async function makeIndex(backend: SearchBackendOfTests): Promise<TestIndex> {
  const index = await backend.make();
  made.push(index);
  return index;
}

async function freshBuild(backend: SearchBackendOfTests, index: FakeClaimIndex, keptBlocks: number) {
  const fresh = await makeIndex(backend);
  const writer = await fresh.openWriter();
  const follower = new SearchFollower(index, index, writer, SILENT_LOGGER, { keptBlocks });
  await follower.sync();
  await writer.close();
  return fresh.contents();
}

/** Scores from all changes up to the tip, computed by a loop. */
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

describe.each(searchBackends)('the follower of the search index in $name', (backend) => {
  it('equals a build from nothing after random blocks and reorganisations', async () => {
    const random = new Random(7);
    const index = new FakeClaimIndex(11);
    for (let n = 0; n < 40; n++) index.mine(12);
    const kept = await makeIndex(backend);
    let writer = await kept.openWriter();
    let follower = new SearchFollower(index, index, writer, SILENT_LOGGER, { keptBlocks: 10 });
    await follower.sync();
    for (let round = 0; round < 40; round++) {
      if (random.chance(0.4)) index.takeBack(1 + random.below(random.chance(0.1) ? 30 : 4));
      for (let n = random.below(5); n >= 0; n--) index.mine(12);
      if (random.chance(0.1)) {
        await writer.close();
        writer = await kept.openWriter();
        follower = new SearchFollower(index, index, writer, SILENT_LOGGER, { keptBlocks: 10 });
      }
      await follower.sync();
      expect(follower.status.tip).toEqual({ height: index.height, hash: index.hashAt(index.height) });
      if (round % 8 !== 0) continue;
      const followed = await kept.contents();
      const scores = expectedScores(index);
      for (const row of followed['rows'] as Record<string, unknown>[]) {
        const id = Buffer.from(row['claim_id'] as Uint8Array).toString('hex');
        expect(row['trending_score']).toBe(scores.get(id) ?? null);
      }
      expect(followed).toEqual(await freshBuild(backend, index, random.pick([0, 5, 1000])));
    }
    await writer.close();
  });

  it('reads claims again that it read on an abandoned branch', async () => {
    const index = new FakeClaimIndex(3);
    for (let n = 0; n < 30; n++) index.mine(8);
    const kept = await makeIndex(backend);
    const writer = await kept.openWriter();
    // The chain changes its branch while documents are read: between two answers of the index.
    let calls = 0;
    const restless = new Proxy(index, {
      get(target, name) {
        if (name !== 'claimsWithValues') return Reflect.get(target, name) as unknown;
        return async (ids: readonly Uint8Array[]) => {
          const answer = await target.claimsWithValues(ids);
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
    expect(await kept.contents()).toEqual(await freshBuild(backend, index, 0));
  });

  it.each([
    [new BlockFileError('blk00001.dat is damaged'), true],
    [new DatabaseCorruptionError('chainstate', '000005.ldb'), true],
    [new Error('The disk is full'), false],
  ])('reports whether its failure is permanent: %s', async (error, isStuck) => {
    const index = new FakeClaimIndex(3);
    for (let n = 0; n < 10; n++) index.mine(8);
    const writer = await (await makeIndex(backend)).openWriter();
    let isBroken = false;
    const reader = new Proxy(index, {
      get(target, name) {
        if (name !== 'claimsWithValues' || !isBroken) return Reflect.get(target, name) as unknown;
        return () => Promise.reject(error);
      },
    });
    const follower = new SearchFollower(reader, reader, writer, SILENT_LOGGER);
    await follower.sync();
    expect(follower.status).toMatchObject({ failure: null, isStuck: false });
    isBroken = true;
    while (follower.status.failure === null) {
      index.mine(8);
      follower.poke();
      await turn();
    }
    expect(follower.status).toMatchObject({ failure: error.message, isStuck });
    await follower.close();
    await writer.close();
  });

  it.each(IS_LONG ? [7, 16, 17, 18, 19, 20, 142] : [7, 142])(
    'is complete if the chain changes between any two reads, seed %i',
    async (seed) => {
      const random = new Random(seed);
      const index = new FakeClaimIndex(seed + 100);
      for (let n = 0; n < 30; n++) index.mine(8);
      const kept = await makeIndex(backend);
      const writer = await kept.openWriter();
      let isRestless = true;
      let moves = 0;
      const move = () => {
        if (!isRestless || !random.chance(0.2) || ++moves > 60) return;
        index.takeBack(random.below(4));
        for (let n = random.below(4); n > 0; n--) index.mine(8);
      };
      const restless = new Proxy(index, {
        get(target, name: keyof FakeClaimIndex) {
          if (name === 'allClaims')
            return async function* (after: Uint8Array | null) {
              for await (const batch of target.allClaims(after)) {
                move();
                yield batch;
              }
            };
          const value: unknown = target[name];
          if (name !== 'claimsWithValues' && name !== 'changes' && name !== 'trending') return value;
          return async (...asked: never[]) => {
            const method = target[name] as (...args: never[]) => Promise<unknown>;
            const answer = await method.apply(target, asked);
            move();
            return answer;
          };
        },
      });
      const follower = new SearchFollower(restless, restless, writer, SILENT_LOGGER, { keptBlocks: 20 });
      for (let round = 0; round < 6; round++) {
        await follower.sync();
        index.mine(8);
      }
      isRestless = false;
      await follower.sync();
      await writer.close();
      expect(moves).toBeGreaterThan(10);
      expect(await kept.contents()).toEqual(await freshBuild(backend, index, 0));
    },
  );

  it('returns to an indexed block, also after an interruption', async () => {
    const random = new Random(4);
    const index = new FakeClaimIndex(9);
    for (let n = 0; n < 30; n++) index.mine(8);
    const kept = await makeIndex(backend);
    const writer = await kept.openWriter();
    let failing = '';
    let failures = 0;
    const restless = new Proxy(writer, {
      get(target, name: keyof typeof writer) {
        return (...args: never[]) => {
          if (name === failing) {
            failing = '';
            failures++;
            return Promise.reject(new Error('interrupted'));
          }
          return (target[name] as (...given: never[]) => unknown).apply(target, args);
        };
      },
    });
    const follower = new SearchFollower(index, index, restless, SILENT_LOGGER, { keptBlocks: 20 });
    await follower.sync();
    for (let round = 0; round < 20; round++) {
      index.takeBack(2 + random.below(3));
      for (let n = random.below(5); n >= 0; n--) index.mine(8);
      failing = round < 5 ? '' : random.pick(['rewind', 'applyBlocks', 'refresh', 'note']);
      await follower.sync().catch(() => undefined);
      failing = '';
      if (random.chance(0.3)) index.takeBack(1);
      await follower.sync();
    }
    await writer.close();
    expect(failures).toBeGreaterThan(5);
    expect(await kept.contents()).toEqual(await freshBuild(backend, index, 0));
  });

  it.each(['before', 'after'])(
    'builds again if unrecorded blocks that it had read remain, %s a new start',
    async (when) => {
      const index = new FakeClaimIndex(12);
      for (let n = 0; n < 30; n++) index.mine(12);
      const kept = await makeIndex(backend);
      let writer = await kept.openWriter();
      let applied = 0;
      const failing = new Proxy(writer, {
        get(target, name: keyof typeof writer) {
          return (...args: never[]) => {
            if (name === 'applyBlocks' && ++applied === 2) return Promise.reject(new Error('interrupted'));
            return (target[name] as (...given: never[]) => unknown).apply(target, args);
          };
        },
      });
      const builds: string[] = [];
      const logger = { ...SILENT_LOGGER, info: (line: string) => void builds.push(line) } as Logger;
      let follower = new SearchFollower(index, index, failing, logger, { keptBlocks: 5 });
      await follower.sync();
      for (let n = 0; n < 60; n++) index.mine(12);
      // Claims that the first of these blocks changed are written in their state at the last block.
      await expect(follower.sync()).rejects.toThrow('interrupted');
      const leave = () => {
        index.takeBack(10);
        for (let n = 0; n < 12; n++) index.mine(12);
      };
      if (when === 'before') leave();
      await writer.close();
      writer = await kept.openWriter();
      follower = new SearchFollower(index, index, writer, logger, { keptBlocks: 5 });
      if (when === 'after') {
        const { changes } = index;
        index.changes = (height) => {
          index.changes = changes;
          leave();
          return index.changes(height);
        };
      }
      await follower.sync();
      await writer.close();
      expect(builds.filter((line) => line.includes('deeper than it can follow'))).toHaveLength(1);
      expect(await kept.contents()).toEqual(await freshBuild(backend, index, 0));
    },
  );

  it('continues an interrupted first build', async () => {
    const index = new FakeClaimIndex(5);
    for (let n = 0; n < 60; n++) index.mine(20);
    const kept = await makeIndex(backend);
    let writer = await kept.openWriter();
    await writer.startBuild({ height: 40, hash: index.hashAt(40)! });
    await writer.close();
    writer = await kept.openWriter();
    await new SearchFollower(index, index, writer, SILENT_LOGGER).sync();
    await writer.close();
    expect(await kept.contents()).toEqual(await freshBuild(backend, index, 0));
  });

  it('builds once if claims could not be read until many blocks were connected', async () => {
    const index = new FakeClaimIndex(15);
    for (let n = 0; n < 10; n++) index.mine(10);
    index.knownBlocks = 5;
    const kept = await makeIndex(backend);
    const writer = await kept.openWriter();
    const lines: string[] = [];
    const logger = { ...SILENT_LOGGER, info: (line: string) => void lines.push(line) } as Logger;
    const follower = new SearchFollower(index, index, writer, logger, { keptBlocks: 5 });
    const { allClaims } = index;
    index.allClaims = () => {
      throw new ClaimIndexNotReadyError('a sync has begun');
    };
    await expect(follower.sync()).rejects.toThrow('a sync has begun');
    index.allClaims = allClaims;
    for (let n = 0; n < 30; n++) index.mine(10);
    await follower.sync();
    await writer.close();
    expect(lines.filter((line) => line.includes('is built'))).toHaveLength(1);
    expect(lines.filter((line) => line.includes('from a later block'))).toHaveLength(1);
    expect(await kept.contents()).toEqual(await freshBuild(backend, index, 0));
  });

  it('reads the claims of an interrupted first build again', async () => {
    const index = new FakeClaimIndex(16);
    for (let n = 0; n < 40; n++) index.mine(20);
    const kept = await makeIndex(backend);
    const writer = await kept.openWriter();
    const follower = new SearchFollower(index, index, writer, SILENT_LOGGER);
    const { allClaims } = index;
    index.allClaims = async function* (after) {
      yield* allClaims.call(index, after);
      throw new ClaimIndexNotReadyError('a sync has begun');
    };
    await expect(follower.sync()).rejects.toThrow('a sync has begun');
    index.allClaims = allClaims;
    await follower.sync();
    await writer.close();
    expect(await kept.contents()).toEqual(await freshBuild(backend, index, 0));
  });

  it('builds again if the claim index does not have the changes of blocks any more', async () => {
    const index = new FakeClaimIndex(6);
    for (let n = 0; n < 30; n++) index.mine(10);
    index.knownBlocks = 5;
    const kept = await makeIndex(backend);
    const writer = await kept.openWriter();
    const follower = new SearchFollower(index, index, writer, SILENT_LOGGER);
    await follower.sync();
    for (let n = 0; n < 20; n++) index.mine(10);
    await follower.sync();
    await writer.close();
    expect(await kept.contents()).toEqual(await freshBuild(backend, index, 0));
  });
});

describe('the follower of a file of SQLite', () => {
  it('rebuilds a file that is corrupt, of another chain, or not an index', async () => {
    const index = new FakeClaimIndex(9);
    for (let n = 0; n < 30; n++) index.mine(10);
    const folder = mkdtempSync(join(tmpdir(), 'lbcnode-follower-'));
    const path = join(folder, 'search.sqlite');
    const provider = await loadSqlite();
    const prefixes = addressPrefixesOf(regtestParams);
    const openWriter = () => new SqliteIndexWriter(provider, { path, chain: 'chain', prefixes });
    const rowsOf = () => {
      const database = provider.open(path);
      const rows = database.prepare('SELECT * FROM claim c JOIN words w ON w.id = c.id ORDER BY c.id').all();
      database.close();
      return rows.map((row) => ({ ...row, labels: null }));
    };
    const build = async () => {
      const writer = openWriter();
      const follower = new SearchFollower(index, index, writer, SILENT_LOGGER);
      // Corruption that is only found by reading is found by the first attempt, and the second one rebuilds the index.
      await follower.sync().catch(() => follower.sync());
      await writer.close();
    };
    await build();
    const expected = rowsOf();
    expect(expected.length).toBeGreaterThan(20);
    const corruptions: readonly (() => void)[] = [
      () => undefined,
      () =>
        writeFileSync(path, 'this is not a database, but a text that is longer than a header. '.repeat(200)),
      () => truncateSync(path, 20_000),
      () => new SqliteIndexWriter(provider, { path, chain: 'other', prefixes }).close(),
      () => rmSync(path),
    ];
    for (const corruption of corruptions) {
      corruption();
      await build();
      expect(rowsOf()).toEqual(expected);
    }
    rmSync(folder, { recursive: true });
  });

  it('rebuilds a file in which a bit flipped while it was open, and returns no wrong answer meanwhile', async () => {
    const index = new FakeClaimIndex(9);
    for (let n = 0; n < 30; n++) index.mine(10);
    const folder = mkdtempSync(join(tmpdir(), 'lbcnode-follower-'));
    const path = join(folder, 'search.sqlite');
    const prefixes = addressPrefixesOf(regtestParams);
    const writer = new SqliteIndexWriter(await loadSqlite(), { path, chain: 'chain', prefixes });
    const warnings: string[] = [];
    const reported: string[] = [];
    const logger = {
      ...SILENT_LOGGER,
      warn: (message: string) => void warnings.push(message),
      info: (message: string) => void reported.push(message),
    };
    const follower = new SearchFollower(index, index, writer, logger as Logger);
    const page = { rows: ['aa'.repeat(20)], total: 1, blocked: [], height: 30 };
    let searched = 0;
    const backend = {
      search: () => Promise.resolve({ ...page, total: ++searched }),
    } as unknown as SearchBackend;
    const claims = new BackedClaimSearch(index, backend, follower, logger as Logger);
    const search = async () => (await claims.search({ text: 'bitcoin' })).total;

    await follower.scrub();
    await follower.sync();
    const { tip } = follower.status;
    await follower.scrub();
    expect([await search(), await search(), warnings]).toEqual([1, 1, []]);
    const bytes = readFileSync(path);
    bytes[5 * 8192 + 17]! ^= 4;
    writeFileSync(path, bytes, { flag: 'r+' });
    await follower.scrub();
    expect(warnings).toEqual(['The search index is corrupt: its page 6 does not match its checksum']);
    // The rebuild runs in the background.
    const builds = () => reported.filter((line) => line.startsWith('The search index is built: ')).length;
    while (builds() < 2 || follower.status.tip?.height !== index.height) await turn();
    // The tip is the same block, but the cached answers of the corrupt index were discarded.
    expect(follower.status.tip).toEqual(tip);
    expect(await search()).toBe(2);
    await follower.scrub();
    expect(warnings.length).toBe(1);
    await follower.close();
    await writer.close();
    rmSync(folder, { recursive: true });
  });
});
