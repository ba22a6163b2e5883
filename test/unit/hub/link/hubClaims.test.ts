import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextRound } from 'node:timers/promises';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { TipSnapshot, updateSnapshot } from '../../../../src/hub/link/tipSnapshot.js';
import { ClaimAnswers, type HubSearch } from '../../../../src/hub/claims/claimAnswers.js';
import { messageOf, type HubOutputs } from '../../../../src/hub/claims/foundOutputs.js';
import { HubCounters } from '../../../../src/hub/link/hubCounters.js';
import type { HubClient } from '../../../../src/hub/protocol/hubClient.js';
import type { ToHub, ToNode } from '../../../../src/hub/link/portMessages.js';
import { HubClaims } from '../../../../src/hub/link/hubClaims.js';
import { HubRpcServer } from '../../../../src/hub/link/hubRpcServer.js';
import { HubRpcClient } from '../../../../src/hub/link/hubRpcClient.js';
import type { HubServices } from '../../../../src/hub/link/hubServices.js';
import { Batches } from '../../../../src/threads/batches.js';
import type { AnswerItem } from '../../../../src/threads/protocol.js';
import { ClientQueue, type Turn } from '../../../../src/scheduler/clientQueue.js';
import { ClaimIndexNotReadyError } from '../../../../src/index/claims/claimIndexQueries.js';
import { confirmedClaims } from '../../../../src/index/waiting/waitingIndex.js';
import { loadNative } from '../../../../src/native/binding.js';
import { followedChain } from '../../../../src/node/services/claimSearch.js';
import { regtestParams } from '../../../../src/params/regtest.js';
import { addressPrefixesOf } from '../../../../src/script/address.js';
import { SearchFollower } from '../../../../src/search/follow/follower.js';
import type { FollowerStatus } from '../../../../src/search/follow/followerStatus.js';
import { SearchError } from '../../../../src/search/query/searchError.js';
import { SqliteIndexWriter } from '../../../../src/search/sqlite/sqliteIndexWriter.js';
import { loadSqlite } from '../../../../src/sqlite/sqliteProvider.js';
import { hashFromHex, hashToHex } from '../../../../src/util/bytes.js';
import { SILENT_LOGGER } from '../../../../src/util/logging.js';
import { ClaimIndexRun } from '../../../support/claimIndexRun.js';

const CLIENT = { number: 1, hasLeft: false } as HubClient;
const NOTHING: HubOutputs = { claims: [], notes: [], total: 0 };

/** Client and server of the hub's calls about claims in one thread. Messages are cloned, as between threads. */
class Sides {
  readonly run: ClaimIndexRun;
  readonly moment = new TipSnapshot();
  readonly shared: HubClaims;
  /** Requests to the node. */
  readonly asked: string[] = [];
  readonly said: ToNode[] = [];
  private readonly turns = new ClientQueue();
  private isSynced = true;
  /** Called before a call reaches the node. */
  beforeCall: (operation: string) => Promise<void> = () => Promise.resolve();

  constructor(
    run: ClaimIndexRun,
    {
      path = null,
      isShared = true,
      search = null,
    }: { path?: string | null; isShared?: boolean; search?: HubSearch | null } = {},
  ) {
    this.run = run;
    const { chain, store, claims, reader } = run.chain.opened;
    this.note();
    for (const name of ['blockConnected', 'blockDisconnected'] as const)
      chain.events.on(name, () => this.note());
    const lists = { blocking: [], filtering: [] };
    const start = {
      rows: isShared ? store.share()! : null,
      rules: claims.rules,
      snapshot: this.moment.memory,
      blockingChannels: [],
      search: path === null ? null : { path, lists, readers: 1 },
      addressPrefixes: addressPrefixesOf(regtestParams),
    };
    const toHub = new Batches<ToHub>(
      {
        postMessage: (items) => {
          for (const item of structuredClone(items) as readonly ToHub[])
            node.receive(item as AnswerItem<number>);
        },
      },
      () => undefined,
    );
    const server = new HubRpcServer({
      hub: {
        node: { chain: reader },
        search,
        claimValues: (places) => this.index.valuesAt(places),
      } as Partial<HubServices> as HubServices,
      methods: new Map(),
      batches: toHub,
      failed: (error) => expect.unreachable(String(error)),
    });
    const receive = async (item: ToNode): Promise<void> => {
      if (item[0] === 'call') {
        this.asked.push(item[2]);
        await this.beforeCall(item[2]);
        this.note(this.isSynced);
      }
      if (item[0] === 'call' || item[0] === 'more' || item[0] === 'cancel') server.receive(item);
      else if (item[0] === 'unhold') server.unhold();
      else this.said.push(item);
    };
    const toNode = new Batches<ToNode>(
      { postMessage: (items) => (structuredClone(items) as ToNode[]).forEach((item) => void receive(item)) },
      () => undefined,
    );
    const node = new HubRpcClient(toNode, this.turns);
    this.shared = new HubClaims(start, {
      node,
      counters: new HubCounters(),
      say: (item) => toNode.add(item),
      searched: () => undefined,
    });
  }

  get index() {
    return this.run.chain.services.claimIndex!;
  }

  note(isSynced = true): void {
    this.isSynced = isSynced;
    updateSnapshot(this.moment, this.run.chain.opened.reader, isSynced);
  }

  turn(): Promise<Turn> {
    return this.turns.enter(CLIENT);
  }

  async resolve(urls: readonly string[]): Promise<string> {
    const turn = await this.turn();
    return messageOf(await this.shared.resolve(turn, urls).finally(() => turn.leave()));
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

  /** URLs and ids of all live claims, and some that do not resolve. */
  async function everything({ model, chain }: ClaimIndexRun): Promise<{ urls: string[]; ids: string[] }> {
    const ids = model.claims.map(({ id }) => Buffer.from(id, 'hex'));
    const records = await chain.services.claimIndex!.claims(ids);
    const urls = records.flatMap((record) => [record!.shortUrl, record!.canonicalUrl]);
    return { urls: [...urls, 'a', '@c', '@c/x', 'nobody', '@nobody/x', '%'], ids: ids.map(hashToHex) };
  }

  it.each([
    ['by shared memory', true],
    ['by calls of the node', false],
  ])('equal those of the node, over blocks, flushes and reorganisations, %s', async (_name, isShared) => {
    const run = await begin(31);
    const sides = new Sides(run, { isShared });
    const own = new ClaimAnswers(confirmedClaims(sides.index), null);
    const depths = [3, 9];
    let rows = 0;
    for (let round = 0; round < 6; round++) {
      for (let n = 0; n < 4; n++) await run.mine(6);
      if (round % 3 === 1) await run.chain.opened.flusher.flush();
      if (round % 3 === 2) await run.reorganise(depths.pop()!, 4, false);
      const { urls, ids } = await everything(run);
      rows += ids.length;
      const turn = await sides.turn();
      expect(await sides.resolve(urls)).toBe(messageOf(await own.resolve(urls, turn)));
      for (const id of [...ids, '00'.repeat(20)])
        expect(messageOf(await sides.shared.claim(id))).toBe(messageOf(await own.byId(id)));
      turn.leave();
    }
    expect(rows).toBeGreaterThan(50);
    expect(new Set(sides.asked)).toEqual(new Set(isShared ? [] : ['rows', 'rowRange']));
  });

  it.each([
    ['by shared memory', true],
    ['by calls of the node', false],
  ])('are of one tip while blocks are connected and disconnected, %s', async (_name, isShared) => {
    const run = await begin(32);
    for (let n = 0; n < 20; n++) await run.mine(6);
    const sides = new Sides(run, { isShared });
    const own = new ClaimAnswers(confirmedClaims(sides.index), null);
    const { chain } = run.chain.opened;
    // As many URLs as are processed in one step.
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

  it('are refused while the index is behind', async () => {
    const run = await begin(33);
    for (let n = 0; n < 10; n++) await run.mine(6);
    const sides = new Sides(run);
    sides.note(false);
    await expect(sides.resolve(['a'])).rejects.toBeInstanceOf(ClaimIndexNotReadyError);
    sides.note();
    expect(await sides.resolve(['a'])).not.toBe(messageOf(NOTHING));
    expect(sides.asked).toEqual([]);
  });

  it('hold the chain for one read if it changes during each', async () => {
    const run = await begin(36);
    for (let n = 0; n < 10; n++) await run.mine(6);
    const { chain } = run.chain.opened;
    const sides = new Sides(run, { isShared: false });
    const { urls } = await everything(run);
    // A block is disconnected before each read. While the chain is held, the change waits for the end of the answer.
    const waiting: Promise<unknown>[] = [];
    let isHeld = false;
    sides.beforeCall = async (operation) => {
      isHeld ||= operation === 'hold';
      if (operation !== 'rows') return;
      const change = chain.invalidateBlock(chain.index.active.tip);
      if (isHeld) waiting.push(change);
      else await change;
    };
    const answer = await sides.resolve(urls.slice(0, 5));
    sides.beforeCall = () => Promise.resolve();
    expect(sides.asked.filter((operation) => operation === 'hold')).toHaveLength(1);
    await Promise.all(waiting);
    expect(waiting.length).toBeGreaterThan(0);
    expect(answer).not.toBe(messageOf(NOTHING));
  });

  it('read staged rows through the node', async () => {
    const run = await begin(37);
    for (let n = 0; n < 10; n++) await run.mine(6);
    const sides = new Sides(run);
    const { urls } = await everything(run);
    const answer = await sides.resolve(urls);
    expect(sides.asked).toEqual([]);
    sides.moment.hasStaged = true;
    // The call updates the snapshot, so that only the first read is of staged rows.
    expect(await sides.resolve(urls)).toBe(answer);
    expect(sides.asked).toHaveLength(1);
  });

  it('search through the node if this thread cannot, and return the result', async () => {
    const run = await begin(38);
    for (let n = 0; n < 10; n++) await run.mine(6);
    const { ids } = await everything(run);
    const rows = ids.slice(0, 3).map(hashFromHex);
    const wanted: unknown[] = [];
    const search: HubSearch = {
      search: (constraints) => {
        wanted.push(constraints);
        if (constraints['text'] === 'bad') throw new SearchError('bad-request', 'no such text');
        return Promise.resolve({ rows, total: 7, blocked: [] });
      },
    };
    const sides = new Sides(run, { search });
    const turn = await sides.turn();
    const found = await sides.shared.search(CLIENT, turn, { limit: 3 });
    expect(found!.total).toBe(7);
    const alone = new ClaimAnswers(confirmedClaims(sides.index), search);
    expect(messageOf(found!)).toBe(messageOf((await alone.search({ limit: 3 }, turn, CLIENT))!));
    expect(wanted).toEqual([{ limit: 3 }, { limit: 3 }]);
    await expect(sides.shared.search(CLIENT, turn, { text: 'bad' })).rejects.toMatchObject({
      code: 1,
      message: 'no such text',
    });
    turn.leave();
  });

  it('search in threads of their own, once there is a search index', async () => {
    const run = await begin(34);
    for (let n = 0; n < 20; n++) await run.mine(6);
    const path = join(folder, 'search.sqlite');
    const prefixes = addressPrefixesOf(regtestParams);
    const writer = new SqliteIndexWriter(await loadSqlite(), { path, chain: 'chain', prefixes });
    const sides = new Sides(run, { path });
    made.push(sides.shared);
    const follower = new SearchFollower(
      sides.index,
      followedChain(run.chain.opened.reader),
      writer,
      SILENT_LOGGER,
    );
    const search = async (constraints: Record<string, unknown>): Promise<HubOutputs | null> => {
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
    // The follower has not processed this block. It is notified that a search waits.
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
