import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextRound } from 'node:timers/promises';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { TipSnapshot, updateSnapshot } from '../../../../src/hub/link/tipSnapshot.js';
import { ClaimAnswers } from '../../../../src/hub/claims/claimAnswers.js';
import type { ClaimSource } from '../../../../src/hub/link/claimSource.js';
import { messageOf, type FoundOutputs } from '../../../../src/hub/claims/foundOutputs.js';
import { HubCounters } from '../../../../src/hub/link/hubCounters.js';
import type { HubClient } from '../../../../src/hub/protocol/hubClient.js';
import type { HubRpcStub } from '../../../../src/hub/link/hubRpcStub.js';
import type { ToNode } from '../../../../src/hub/link/portMessages.js';
import { SharedClaims } from '../../../../src/hub/link/sharedClaims.js';
import { ClientQueue, type Turn } from '../../../../src/scheduler/clientQueue.js';
import { confirmedClaims } from '../../../../src/index/waiting/waitingIndex.js';
import { loadNative } from '../../../../src/native/binding.js';
import { followedChain } from '../../../../src/node/services/claimSearch.js';
import { regtestParams } from '../../../../src/params/regtest.js';
import { addressPrefixesOf } from '../../../../src/script/address.js';
import { SearchFollower } from '../../../../src/search/follow/follower.js';
import type { FollowerStatus } from '../../../../src/search/follow/followerStatus.js';
import {
  packValues,
  unpackPlaces,
  type PackedPlaces,
} from '../../../../src/search/follow/followerMessages.js';
import { SqliteIndexWriter } from '../../../../src/search/sqlite/sqliteIndexWriter.js';
import { loadSqlite } from '../../../../src/sqlite/sqliteProvider.js';
import { hashToHex, type Bytes } from '../../../../src/util/bytes.js';
import { SILENT_LOGGER } from '../../../../src/util/logging.js';
import { ClaimIndexRun } from '../../../support/claimIndexRun.js';

const CLIENT = { number: 1, hasLeft: false } as HubClient;
const NOTHING: FoundOutputs = { claims: [], notes: [], total: 0 };

/** Both sides of the hub's answers about claims, in one thread. */
class Sides {
  readonly run: ClaimIndexRun;
  readonly moment = new TipSnapshot();
  readonly shared: SharedClaims;
  /** What was asked of the node. */
  readonly asked: string[] = [];
  readonly said: ToNode[] = [];
  private readonly turns = new ClientQueue();

  constructor(run: ClaimIndexRun, path: string | null = null, blockingChannels: readonly Bytes[] = []) {
    this.run = run;
    const { chain, store, claims } = run.chain.opened;
    this.note();
    for (const name of ['blockConnected', 'blockDisconnected'] as const)
      chain.events.on(name, () => this.note());
    const rows = store.share()!;
    const lists = { blocking: [], filtering: [] };
    const start = {
      rows,
      rules: claims.rules,
      snapshot: this.moment.memory,
      blockingChannels,
      search: path === null ? null : { path, lists, readers: 1 },
      addressPrefixes: addressPrefixesOf(regtestParams),
    };
    const ask = <T>(name: string, value: T) => {
      this.asked.push(name);
      return Promise.resolve(value);
    };
    const elsewhere: ClaimSource = {
      resolve: () => ask('resolve', NOTHING),
      claim: () => ask('claim', NOTHING),
      search: () => ask('search', null),
    };
    this.shared = new SharedClaims(start, elsewhere, {
      node: { call: (...args: unknown[]) => this.call(args[2], args[3]) } as unknown as HubRpcStub,
      counters: new HubCounters(),
      say: (item) => this.said.push(item),
      searched: () => undefined,
    });
  }

  get index() {
    return this.run.chain.services.claimIndex!;
  }

  note(isSynced = true): void {
    updateSnapshot(this.moment, this.run.chain.opened.reader, isSynced);
  }

  private async call(operation: unknown, argument: unknown): Promise<unknown> {
    this.asked.push(String(operation));
    if (operation !== 'values') return null;
    return packValues(await this.index.valuesAt(unpackPlaces(argument as PackedPlaces)));
  }

  turn(): Promise<Turn> {
    return this.turns.enter(CLIENT);
  }

  async resolve(urls: readonly string[]): Promise<string> {
    const turn = await this.turn();
    return messageOf(await this.shared.resolve(CLIENT, turn, urls).finally(() => turn.leave()));
  }
}

describe.skipIf(!loadNative())("answers about claims in the hub's thread", () => {
  const folder = mkdtempSync(join(tmpdir(), 'lbcnode-sharedclaims-'));
  const made: { close(): Promise<void> }[] = [];

  afterEach(async () => {
    for (const one of made.splice(0).reverse()) await one.close();
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  async function begin(seed: number): Promise<ClaimIndexRun> {
    const run = new ClaimIndexRun(seed);
    await run.open();
    made.push(run);
    return run;
  }

  /** URLs and ids of all live claims, and some that lead nowhere. */
  async function everything({ model, chain }: ClaimIndexRun): Promise<{ urls: string[]; ids: string[] }> {
    const ids = model.claims.map(({ id }) => Buffer.from(id, 'hex'));
    const records = await chain.services.claimIndex!.claims(ids);
    const urls = records.flatMap((record) => [record!.shortUrl, record!.canonicalUrl]);
    return { urls: [...urls, 'a', '@c', '@c/x', 'nobody', '@nobody/x', '%'], ids: ids.map(hashToHex) };
  }

  it('are those of the node, over blocks, flushes and reorganisations', async () => {
    const run = await begin(31);
    const sides = new Sides(run);
    const own = new ClaimAnswers(confirmedClaims(sides.index), null);
    const depths = [9, 3, 1];
    let rows = 0;
    for (let round = 0; round < 9; round++) {
      for (let n = 0; n < 4; n++) await run.mine(6);
      if (round % 3 === 1) await run.chain.opened.flusher.flush();
      if (round % 3 === 2) await run.reorganise(depths.pop()!, 4, false);
      const { urls, ids } = await everything(run);
      rows += ids.length;
      const turn = await sides.turn();
      expect(await sides.resolve(urls)).toBe(messageOf(await own.resolve(urls, turn)));
      for (const id of [...ids, '00'.repeat(20)])
        expect(messageOf(await sides.shared.claim(CLIENT, turn, id))).toBe(messageOf(await own.byId(id)));
      turn.leave();
    }
    expect(rows).toBeGreaterThan(50);
    expect(sides.asked).toEqual([]);
  });

  it('are of one tip while blocks come and go', async () => {
    const run = await begin(32);
    for (let n = 0; n < 20; n++) await run.mine(6);
    const sides = new Sides(run);
    const own = new ClaimAnswers(confirmedClaims(sides.index), null);
    const { chain } = run.chain.opened;
    // As many as are assembled in one go.
    const urls = (await everything(run)).urls.slice(0, 25);
    const turn = await sides.turn();
    const known = new Set([messageOf(NOTHING)]);
    const lowest = run.height - 4;
    const first = chain.index.active.at(lowest + 1);
    for (let height = run.height; height >= lowest; height--) {
      known.add(messageOf(await own.resolve(urls, turn)));
      if (height > lowest) await chain.invalidateBlock(chain.index.active.at(height));
    }
    expect(known.size).toBeGreaterThan(3);
    const seen = new Set<string>();
    let isOver = false;
    const answering = (async () => {
      while (!isOver) {
        seen.add(await sides.resolve(urls));
        await nextRound();
      }
    })();
    for (let n = 0; n < 3; n++) {
      await chain.reconsiderBlock(first);
      await chain.invalidateBlock(first);
    }
    isOver = true;
    await answering;
    for (const answer of seen) expect(known).toContain(answer);
    turn.leave();
  });

  it('are asked of the node where the chain is not where it was told to be, or the index is behind', async () => {
    const run = await begin(33);
    for (let n = 0; n < 10; n++) await run.mine(6);
    const sides = new Sides(run);
    sides.note(false);
    expect(await sides.resolve(['a'])).toBe(messageOf(NOTHING));
    // It asked where the chain stands first, each time that it started over.
    expect(sides.asked).toEqual(['tip', 'tip', 'tip', 'resolve']);
    sides.note();
    sides.asked.length = 0;
    expect(await sides.resolve(['a'])).not.toBe(messageOf(NOTHING));
    expect(sides.asked).toEqual([]);
  });

  it('find what a search index has, in threads of their own, once it is reported', async () => {
    const run = await begin(34);
    for (let n = 0; n < 20; n++) await run.mine(6);
    const path = join(folder, 'search.sqlite');
    const prefixes = addressPrefixesOf(regtestParams);
    const writer = new SqliteIndexWriter(await loadSqlite(), { path, chain: 'chain', prefixes });
    const sides = new Sides(run, path);
    made.push(sides.shared);
    const follower = new SearchFollower(
      sides.index,
      followedChain(run.chain.opened.reader),
      writer,
      SILENT_LOGGER,
    );
    const search = async (constraints: Record<string, unknown>): Promise<FoundOutputs | null> => {
      const turn = await sides.turn();
      return sides.shared.search(CLIENT, turn, constraints).finally(() => turn.leave());
    };
    await expect(search({ limit: 5 })).rejects.toThrow('The search index is being built');
    await follower.sync();
    sides.shared.followed(follower.status);
    const found = await search({ limit: 50 });
    const { ids } = await everything(run);
    expect(found!.total).toBe(follower.status.documents);
    expect(ids.length).toBeGreaterThan(0);
    await expect(search({ channel: 7 })).rejects.toMatchObject({ code: 1 });
    // A block that the follower has not come to: it is told that someone waits.
    await run.mine(6);
    const late = search({ limit: 49 });
    await expect.poll(() => sides.said).toContainEqual(['follower', 'poke']);
    await follower.sync();
    const status: FollowerStatus = follower.status;
    sides.shared.followed(status);
    expect((await late)!.total).toBe(status.documents);
    expect(sides.asked).toEqual([]);
    await sides.shared.release();
    await writer.close();
  });
});
