/** Queries about past blocks, their cost, and rows that may be dropped. */
import { describe, expect, it } from 'vitest';
import {
  findClaimById,
  matchSupports,
  readChanges,
  readName,
} from '../../../../src/store/claims/query/claimQueries.js';
import { repeatPending } from '../../../../src/store/claims/query/referenceView.js';
import { ProofUnavailableError, readProof } from '../../../../src/store/claims/query/proofQueries.js';
import type { ClaimEvent, ClaimTx } from '../../../../src/store/claims/claimStore.js';
import type { Item } from '../../../../src/claimtrie/item.js';
import { collectRows, type RowRange, type RowReader } from '../../../../src/store/rows/rows.js';
import { hashToHex, toHex, type Bytes } from '../../../../src/util/bytes.js';
import { HandChain, PAST_FORKS, type Made } from '../../../support/claimBlocks.js';
import type { MemoryRows } from '../../../support/memoryRows.js';
import { countTurns } from '../../../support/slices.js';
import { longIt } from '../../../support/long.js';

/** Counts the rows that a query reads. */
class CountingRows implements RowReader {
  read = 0;
  private readonly rows: MemoryRows;

  constructor(rows: MemoryRows) {
    this.rows = rows;
  }

  get(key: string): Promise<Bytes | undefined> {
    this.read++;
    return this.rows.get(key);
  }

  getMany(keys: readonly string[]): Promise<(Bytes | undefined)[]> {
    this.read += keys.length;
    return this.rows.getMany(keys);
  }

  getRange(range: RowRange): Promise<[string, Bytes][]> {
    return collectRows(this.range(range));
  }

  async *range(range: RowRange): AsyncGenerator<[string, Bytes]> {
    for await (const entry of this.rows.range(range)) {
      this.read++;
      yield entry;
    }
  }
}

describe('history of a hot name', () => {
  longIt('costs time in proportion to the live items, at any height', async () => {
    const chain = new HandChain(PAST_FORKS, 10);
    let claim = chain.claim('hot', 10);
    await chain.mine();
    for (let i = 0; i < 3000; i++) {
      claim = chain.update(claim, 10 + i);
      await chain.mine();
    }
    for (const height of [11, 12, 500, 1777, 3010]) {
      const rows = new CountingRows(chain.rows);
      const info = await readName(rows, PAST_FORKS, { name: Buffer.from('hot'), height });
      expect(info.claims.map(({ amount, effectiveAmount }) => [amount, effectiveAmount])).toEqual([
        [BigInt(height - 11 + (height > 11 ? 9 : 10)), BigInt(height - 11 + (height > 11 ? 9 : 10))],
      ]);
      expect(info.lastTakeoverHeight).toBe(11);
      expect(rows.read).toBeLessThan(150);
    }
  });

  it('connects and removes a support in time that is independent of the number of supports', async () => {
    const chain = new HandChain(PAST_FORKS, 10);
    const claim = chain.claim('hot', 10);
    await chain.mine();
    const supports = Array.from({ length: 2000 }, () => chain.support(claim, 1));
    await chain.mine();
    const before = [...chain.rows.rows.entries()].length;
    chain.spend(supports[1234]!);
    const rows = chain.rows.begin();
    let written = 0;
    const put = rows.put.bind(rows);
    rows.put = (key, value) => {
      written += key.length + value.length;
      put(key, value);
    };
    const block = {
      height: chain.height + 1,
      transactions: [{ txid: Buffer.alloc(32), txOffset: 80, spends: [supports[1235]!], outputs: [] }],
    };
    await chain.store.connect(rows, block);
    expect(written).toBeLessThan(600);
    expect(before).toBeGreaterThan(2000);
    expect((await chain.name('hot')).claims[0]!.effectiveAmount).toBe(2010n);
  });
});

describe('a name with many claims and many supports', () => {
  it('is matched in time proportional to their number', () => {
    let asked = 0;
    const withId = (id: number): { claimId: string } => ({
      get claimId() {
        asked++;
        return `id ${id}`;
      },
    });
    const claims = Array.from({ length: 20_000 }, (_, i) => withId(i % 19_999));
    const supports = Array.from({ length: 20_000 }, (_, i) => withId((i * 7) % 25_000));
    const { matched, unmatched } = matchSupports(claims, supports);
    expect(asked).toBeLessThan(4 * (claims.length + supports.length));
    expect(matched).toHaveLength(20_000);
    expect(matched[7]).toEqual([supports[1]]);
    // If a claim is listed twice, its first occurrence gets the supports.
    expect(claims[0]!.claimId).toBe(claims[19_999]!.claimId);
    expect([matched[0]!.length, matched[19_999]!.length]).toEqual([1, 0]);
    expect(unmatched).toHaveLength(
      supports.filter(({ claimId }) => Number(claimId.slice(3)) >= 19_999).length,
    );
  });

  it('is read in time proportional to their number', async () => {
    const chain = new HandChain(PAST_FORKS, 10);
    const claims = Array.from({ length: 600 }, (_, i) => chain.claim('hot', 10 + ((i * 7) % 100)));
    await chain.mine();
    for (let i = 0; i < 900; i++) chain.support(claims[(i * 7) % 500]!, 1 + (i % 3));
    await chain.mine();
    const rows = new CountingRows(chain.rows);
    const info = await readName(rows, PAST_FORKS, { name: Buffer.from('hot'), height: chain.height });
    expect(rows.read).toBeLessThan(2 * 1500 + 20);
    expect(info.claims).toHaveLength(600);
    expect(info.claims.reduce((sum, { supports }) => sum + supports.length, 0)).toBe(900);
    for (const { amount, supports, effectiveAmount, bid, sequence } of info.claims) {
      expect(effectiveAmount).toBe(supports.reduce((sum, support) => sum + support.amount, amount));
      expect(info.claims[bid]!.sequence).toBe(sequence);
    }
    expect(new Set(info.claims.map(({ sequence }) => sequence)).size).toBe(600);
  });

  it('repeats pending items as the reference does, up to a limit', () => {
    const due = (heights: number[]): Item[] =>
      heights.map((dueHeight, i) => ({ dueHeight, ordinal: i }) as Item);
    const few = due([5, 6, 5]);
    expect(repeatPending(few).map(({ ordinal }) => ordinal)).toEqual([0, 2, 1, 0, 2]);
    const some = due(new Array<number>(300).fill(9));
    expect(repeatPending(some)).toHaveLength(90_000);
    const many = due(new Array<number>(20_000).fill(9));
    expect(repeatPending(many)).toEqual(many);
  });

  it('reports a takeover height from before its claims without scanning all longer names', async () => {
    const chain = new HandChain(PAST_FORKS, 10);
    for (let i = 0; i < 800; i++) chain.claim(`name x${i}`, 10);
    await chain.mine();
    const { height } = chain;
    chain.claim('name ', 10);
    chain.claim('name y', 10);
    await chain.mine();
    const rows = new CountingRows(chain.rows);
    const asReference = { tipHeight: chain.height };
    const info = await readName(rows, PAST_FORKS, { name: Buffer.from('name '), height, asReference });
    expect(info).toMatchObject({ claims: [], lastTakeoverHeight: 0 });
    expect(rows.read).toBeLessThan(40);
  });
});

describe('a block of very many claims', () => {
  longIt('yields to the event loop, and is disconnected completely', async () => {
    const chain = new HandChain(PAST_FORKS, 10);
    for (let i = 0; i < 15_000; i++) chain.claim(`name ${i % 12_000}`, 10 + (i % 7));
    const { turns } = await countTurns(() => chain.mine());
    // The block may yield at each of the names.
    expect(turns).toBeGreaterThan(15_000);
    expect((await chain.name('name 7')).claims).toHaveLength(2);
    expect(await chain.disconnect()).toBe('01' + '00'.repeat(31));
    expect(chain.rows.dump().size).toBe(0);
  });
});

describe('proofs of past blocks', () => {
  async function prove(
    chain: HandChain,
    name: string,
    height: number,
    rows: RowReader = chain.rows,
  ): Promise<string> {
    const query = { name: Buffer.from(name), height, tipHeight: () => chain.height };
    return JSON.stringify(await readProof(rows, chain.rules, chain.store.proofWindow, query));
  }

  for (const window of [200, 'all'] as const) {
    it(`are valid across epochs, window ${window}`, async () => {
      const chain = new HandChain(PAST_FORKS, 900, window);
      const names = ['a', 'ab', 'abc', 'b', 'longer-name', 'longer-thing'];
      const claims = names.map((name) => chain.claim(name, 10));
      const kept = new Map<number, string[]>();
      for (let i = 0; i < 400; i++) {
        const at = (i * 7) % names.length;
        claims[at] = chain.update(claims[at]!, 10 + i);
        if (i % 9 === 0) chain.claim(`extra ${i}`, 5);
        await chain.mine();
        kept.set(chain.height, await Promise.all(names.map((name) => prove(chain, name, chain.height))));
        for (const { gte, lt } of chain.store.prunable(chain.height)) {
          for await (const [key] of chain.rows.range({ gte, lt })) chain.rows.rows.set(key, null);
        }
      }
      let compared = 0;
      for (const [height, proofs] of kept) {
        if (window !== 'all' && height < chain.height - window) continue;
        expect(await Promise.all(names.map((name) => prove(chain, name, height)))).toEqual(proofs);
        compared++;
      }
      expect(compared).toBe(window === 'all' ? 400 : 201);
      if (window === 'all') expect(chain.store.prunable(chain.height)).toEqual([]);
      else {
        const oldest = chain.height - window;
        await expect(prove(chain, 'a', oldest - 1)).rejects.toThrow(ProofUnavailableError);
        await expect(prove(chain, 'a', oldest - 1)).rejects.toMatchObject({ oldestHeight: oldest });
      }
    });
  }
});

describe('proofs while blocks are connected', () => {
  /** Rows that connect a block before the read with the number `at`, counted from 1. */
  function movingRows(rows: MemoryRows, at: number, mine: () => Promise<unknown>): RowReader {
    let reads = 0;
    const move = async (): Promise<void> => {
      if (++reads === at) await mine();
    };
    return {
      get: (key) => move().then(() => rows.get(key)),
      getMany: (keys) => move().then(() => rows.getMany(keys)),
      getRange: (range) => move().then(() => rows.getRange(range)),
      async *range(range) {
        await move();
        yield* rows.range(range);
      },
    };
  }

  it.each([
    ['in one epoch', 300],
    ['over the border of two', 1023],
  ])('belong to the requested block, %s', async (_, height) => {
    const query = (chain: HandChain) => ({
      name: Buffer.from('abcd'),
      height,
      tipHeight: () => chain.height,
    });
    const names = ['', 'a', 'ab', 'abc', 'abcd', 'abce', 'b'];
    for (let at = 1; ; at++) {
      const chain = new HandChain(PAST_FORKS, height - 2, 5000);
      let claims = names.map((name) => chain.claim(name, 10));
      await chain.mine();
      claims = claims.map((claim) => chain.update(claim, 20));
      while (chain.height < height) await chain.mine();
      const wanted = await readProof(chain.rows, PAST_FORKS, 5000, query(chain));
      const rows = movingRows(chain.rows, at, async () => {
        claims = claims.map((claim) => chain.update(claim, 30));
        await chain.mine();
      });
      expect(await readProof(rows, PAST_FORKS, 5000, query(chain)), `block before read ${at}`).toEqual(
        wanted,
      );
      if (chain.height === height) {
        expect(at).toBeGreaterThan(10);
        break;
      }
    }
  });
});

describe('proofs after a reorganisation deeper than the window', () => {
  it('are refused if needed rows may have been dropped', async () => {
    const chain = new HandChain(PAST_FORKS, 2000, 100);
    let claim = chain.claim('a', 10);
    for (let i = 0; i < 400; i++) {
      await chain.mine();
      claim = chain.update(claim, 10 + i);
    }
    await chain.mine();
    for (const { gte, lt } of chain.store.prunable(chain.height)) {
      for await (const [key] of chain.rows.range({ gte, lt })) chain.rows.rows.set(key, null);
    }
    const ask = (height: number): Promise<unknown> =>
      readProof(chain.rows, PAST_FORKS, 100, {
        name: Buffer.from('a'),
        height,
        tipHeight: () => chain.height,
      });
    // Epochs have 1024 blocks: that of block 2047 is behind the window from tip 2148 on.
    while (chain.height > 2100) await chain.disconnect();
    await expect(ask(2047)).rejects.toMatchObject({ oldestHeight: 2048 });
    for (const height of [2048, 2100]) expect(await ask(height)).toMatchObject({ claim: {} });
    while (chain.height > 2010) await chain.disconnect();
    await expect(ask(2009)).rejects.toMatchObject({ oldestHeight: 2010 });
    expect(await ask(2010)).toMatchObject({ claim: {} });
  });
});

describe('rows that may be dropped', () => {
  it.each([
    ['the fork of the hash form', 1005, 1020],
    ['a block that is the fork of names too', 1019, 1020],
  ])('can still be disconnected after %s', async (_, normalizationForkHeight, allClaimsForkHeight) => {
    const chain = new HandChain({ ...PAST_FORKS, normalizationForkHeight, allClaimsForkHeight }, 1000, 50);
    const roots: string[] = [];
    for (let i = 0; i < 120; i++) {
      chain.claim(`Name ${i % 40}`, 10 + i);
      roots.push(await chain.mine());
    }
    const dropped = chain.store.prunable(chain.height);
    expect(dropped.map(({ gte }) => gte)).toContain('t0');
    for (const { gte, lt } of dropped)
      for await (const [key] of chain.rows.range({ gte, lt })) chain.rows.rows.set(key, null);
    while (chain.height > 1001) expect(await chain.disconnect()).toBe(roots[chain.height - 1001]);
  });

  it('are reported once, and again after a reorganisation', () => {
    const { store } = new HandChain({ ...PAST_FORKS, allClaimsForkHeight: 4000 }, 0, 100);
    const named = (tip: number): string[] =>
      store
        .prunable(tip)
        .map(({ gte, lt }) => `${toHex(Buffer.from(gte, 'latin1'))}-${toHex(Buffer.from(lt, 'latin1'))}`);
    const epochs = (from: number, to: number): string => {
      const key = (epoch: number): string => `76${epoch.toString(16).padStart(8, '0')}`;
      return `${key(from)}-${key(to)}`;
    };
    expect(named(1123)).toEqual([]);
    expect(named(1124)).toEqual([epochs(0, 1)]);
    expect(named(2147)).toEqual([]);
    expect(named(3172)).toEqual([epochs(1, 3)]);
    expect(named(4195)).toEqual([]);
    expect(named(4196)).toEqual([epochs(3, 4), '7430-7431']);
    expect(named(4197)).toEqual([]);
    expect(named(2148)).toEqual([]);
    expect(named(4196)).toEqual([epochs(2, 4), '7430-7431']);
  });
});

describe('nodes of the old form', () => {
  it('are rebuilt when a reorganisation goes below the fork after they were dropped', async () => {
    const rules = { ...PAST_FORKS, normalizationForkHeight: 1005, allClaimsForkHeight: 1020 };
    const chain = new HandChain(rules, 1000, 50);
    const roots: string[] = [];
    for (let i = 0; i < 120; i++) {
      chain.claim(`name ${i % 40}`, 10 + i);
      roots.push(await chain.mine());
    }
    const nodes = chain.store.prunable(chain.height);
    expect(nodes.some(({ gte }) => gte === 't0')).toBe(true);
    for (const { gte, lt } of nodes) {
      for await (const [key] of chain.rows.range({ gte, lt })) chain.rows.rows.set(key, null);
    }
    while (chain.height > 1010) expect(await chain.disconnect()).toBe(roots[chain.height - 1001]);
  });
});

describe('claims by id', () => {
  it('are found by any prefix of the printed id while they live, pending ones included', async () => {
    const chain = new HandChain(PAST_FORKS, 10);
    const made = Array.from({ length: 300 }, (_, i) => chain.claim(`name ${i}`, 10));
    await chain.mine();
    for (const claim of made) {
      const id = hashToHex(claim.claimId);
      const found = await findClaimById(chain.rows, id);
      expect([toHex(found!.claimId), Buffer.from(found!.name)]).toEqual([toHex(claim.claimId), claim.name]);
      for (const length of [3, 7, 20, 39]) {
        const beginning = id.slice(0, length);
        const matches = made.filter((other) => hashToHex(other.claimId).startsWith(beginning));
        const first = matches.map((other) => toHex(other.claimId)).sort()[0];
        expect(toHex((await findClaimById(chain.rows, beginning))!.claimId)).toBe(first);
      }
    }
    await chain.mineTo(700);
    const pending = chain.claim('Name 0', 1);
    chain.spend(made[1]!);
    await chain.mine();
    const found = await findClaimById(chain.rows, hashToHex(pending.claimId));
    expect(Buffer.from(found!.name).toString()).toBe('Name 0');
    expect(await findClaimById(chain.rows, hashToHex(made[1]!.claimId))).toBeNull();
    await chain.disconnect();
    expect(await findClaimById(chain.rows, hashToHex(pending.claimId))).toBeNull();
    expect(await findClaimById(chain.rows, hashToHex(made[1]!.claimId))).not.toBeNull();
    for (const text of ['', 'xyz', 'ABC', '0'.repeat(41)])
      expect(await findClaimById(chain.rows, text)).toBeNull();
  });
});

describe('events and changes of a block', () => {
  it('report what happened', async () => {
    const chain = new HandChain({ ...PAST_FORKS, originalExpiration: 700 }, 10);
    const owner = chain.claim('name', 100);
    chain.claim('old', 1);
    await chain.mineTo(650);
    const rival = chain.claim('Name', 1000);
    const short = chain.claim('short', 1);
    chain.spend(short);
    const support = chain.support(owner, 7);
    const rows = chain.rows.begin();
    const block = chain['txs'];
    const { events } = (await chain.store.connect(rows, { height: 651, transactions: block })).report;
    const reported = (list: readonly ClaimEvent[]): unknown[] =>
      list.map(({ type, name, n, amount, validAtHeight }) => [
        type,
        Buffer.from(name).toString(),
        n,
        amount,
        validAtHeight,
      ]);
    expect(reported(events)).toEqual([
      ['claim', 'name', 0, 1000n, 671],
      ['claim', 'short', 0, 1n, 651],
      ['abandon', 'short', 0, 1n, 651],
      ['support', 'name', 0, 7n, 651],
    ]);
    expect(events.map(({ isActive }) => isActive)).toEqual([false, false, undefined, true]);
    expect(Buffer.from(events[0]!.rawName!).toString()).toBe('Name');
    await chain.mine();
    const made = await readChanges(chain.rows, 651);
    expect(made.supportsAddedOrUpdated).toHaveLength(1);
    expect(made.claimsAddedOrUpdated).toEqual([]);
    expect(made.names.map((name) => Buffer.from(name).toString())).toEqual(['name']);

    await chain.mineTo(670);
    const due = await chain.store.connect(chain.rows.begin(), { height: 671, transactions: [] });
    expect(due.report.events.map(({ type }) => type)).toEqual(['activation', 'takeover']);
    expect(due.report.events[1]).toMatchObject({
      claimId: rival.claimId,
      formerClaimId: owner.claimId,
      txid: rival.txid,
      n: 0,
      amount: 1000n,
    });

    chain.spend(support);
    await chain.mineTo(710);
    const late = await chain.store.connect(chain.rows.begin(), { height: 711, transactions: [] });
    expect(late.report.events.map(({ type, name }) => [type, Buffer.from(name).toString()])).toEqual([
      ['expiration', 'name'],
      ['expiration', 'old'],
      ['takeover', 'old'],
    ]);
    await chain.mine();
    expect(late.report.events[2]).toEqual({
      type: 'takeover',
      name: Buffer.from('old'),
      formerClaimId: expect.anything(),
    });
    expect((await readChanges(chain.rows, 711)).claimsRemoved).toHaveLength(2);
    expect(await readChanges(chain.rows, 712)).toMatchObject({ claimsRemoved: [], names: [] });
  });

  it('are the same when a disconnected block is described again', async () => {
    const chain = new HandChain({ ...PAST_FORKS, originalExpiration: 45 }, 10);
    let seed = 7;
    const random = (below: number): number => (seed = (seed * 48271) % 2147483647) % below;
    const alive: Made[] = [];
    const reported: { transactions: ClaimTx[]; events: readonly ClaimEvent[] }[] = [];
    const eventsOf = async (transactions: ClaimTx[]): Promise<readonly ClaimEvent[]> =>
      (await chain.store.connect(chain.rows.begin(), { height: chain.height + 1, transactions })).report
        .events;
    for (let block = 0; block < 60; block++) {
      // If a name has the same owner for long, a new claim is delayed.
      if (block % 40 === 0) chain.claim('steady', 1 + block);
      for (let i = random(8); i > 0; i--) {
        const of = alive.splice(random(alive.length + 1), 1)[0];
        const kind = of?.kind === 'support' ? 0 : random(4);
        if (!of) alive.push(chain.claim(`n${random(6)}`, 1 + random(50)));
        else if (kind === 0) chain.spend(of);
        else if (kind === 1) alive.push(of, chain.support(of, 1 + random(50)));
        else alive.push(chain.update(of, 1 + random(50)));
      }
      const transactions = [...chain['txs']];
      reported.push({ transactions, events: await eventsOf(transactions) });
      await chain.mine();
    }
    const kinds = new Set(reported.flatMap(({ events }) => events.map(({ type }) => type)));
    expect(kinds.size).toBe(7);
    for (const { transactions, events } of reported.toReversed()) {
      await chain.disconnect();
      expect(await eventsOf(transactions)).toEqual(events);
    }
  });

  it('report every step of a claim that exists for one block only', async () => {
    const chain = new HandChain(PAST_FORKS, 10);
    const old = chain.claim('old', 5);
    await chain.mine();
    const made = chain.claim('new', 1);
    const updated = chain.update(made, 2);
    const oldUpdated = chain.update(old, 6);
    chain.spend(updated, oldUpdated);
    const spender = chain['txs'].at(-1)!.txid;
    // An update with another claim id. It updates no claim and does not change the trie.
    chain.tx([], { kind: 'update', name: old.name, claimId: Buffer.alloc(20, 7), amount: 9n });
    const { report } = await chain.store.connect(chain.rows.begin(), {
      height: chain.height + 1,
      transactions: chain['txs'],
    });
    expect(report.events.map(({ type, txid, amount }) => [type, txid && toHex(txid), amount])).toEqual([
      ['claim', toHex(made.txid), 1n],
      ['update', toHex(updated.txid), 2n],
      ['update', toHex(oldUpdated.txid), 6n],
      ['abandon', toHex(updated.txid), 2n],
      ['abandon', toHex(oldUpdated.txid), 6n],
      ['takeover', undefined, undefined],
    ]);
    expect(report.events.map(({ spentBy }) => spentBy)).toEqual([
      undefined,
      undefined,
      undefined,
      spender,
      spender,
      undefined,
    ]);
  });
});
