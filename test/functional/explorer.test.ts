/**
 * `listnames`, `getnamehistory` and `listupcoming` of a node whose chain grows and is reorganised; upcoming events take place.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClaimSource } from './support/claimSource.js';
import { OPEN_ADDRESS } from './support/network.js';
import { ADDRESS, startRegtest, type RegtestNode } from './support/node.js';

interface Named {
  name: string;
  normalized_name: string;
  claims: number;
  claimId: string;
  effectiveAmount: number;
  lastTakeoverHeight: number;
}
interface NamesPage {
  height: number;
  blockhash: string;
  names: Named[];
  next?: string;
}
interface HistoryPage {
  blocks: {
    height: number;
    blockhash: string;
    events: { event: string; txid?: string; n?: number }[];
    claims: number;
    owner?: { claimId: string; effectiveAmount: number };
    lastTakeoverHeight?: number;
  }[];
  next?: number;
  skip?: number;
}
interface Upcoming {
  height: number;
  events: { event: string; height: number; normalized_name: string; txid?: string; claimId?: string }[];
  next?: number;
}

/** Number of blocks with claim operations. They cross no fork: names are not normalized up to height 249. */
const CLAIM_BLOCKS = 40;

let node: RegtestNode;
let source: ClaimSource;

async function mineClaims(count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    for (const hex of await source.take(4)) await node.rpc('sendrawtransaction', [hex, true]);
    await node.rpc('generatetoaddress', [1, ADDRESS]);
  }
}

async function listed(block: string | number | null, count: number): Promise<Named[]> {
  const names: Named[] = [];
  for (let after: string | null = null; ;) {
    const page: NamesPage = await node.rpc('listnames', ['', count, after, block]);
    names.push(...page.names);
    if (page.next === undefined) return names;
    after = page.next;
  }
}

async function historyOf(name: string, to: number, count: number): Promise<HistoryPage['blocks']> {
  const blocks: HistoryPage['blocks'] = [];
  for (let from = 0; ;) {
    const page: HistoryPage = await node.rpc('getnamehistory', [name, from, to, count]);
    blocks.push(...page.blocks);
    if (page.next === undefined) return blocks;
    from = page.next;
  }
}

/** Combines pages of the history, the latest block first. */
async function latestOf(name: string, to: number, count: number): Promise<HistoryPage['blocks']> {
  const blocks: HistoryPage['blocks'] = [];
  for (let [end, skip] = [to, 0]; ;) {
    const page: HistoryPage = await node.rpc('getnamehistory', [name, 0, end, count, false, 'newest', skip]);
    expect(page.blocks.reduce((sum, { events }) => sum + events.length, 0)).toBeLessThanOrEqual(count);
    for (const block of page.blocks) {
      const last = blocks.at(-1);
      if (last?.height === block.height) last.events.push(...block.events);
      else blocks.push(block);
    }
    if (page.next === undefined) return blocks;
    [end, skip] = [page.next, page.skip ?? 0];
  }
}

beforeAll(async () => {
  node = await startRegtest();
  await node.rpc('generatetoaddress', [190, OPEN_ADDRESS]);
  source = new ClaimSource(node, 11);
  await mineClaims(CLAIM_BLOCKS);
});
afterAll(() => node.stop());

describe('an explorer of names', () => {
  it('gets the same pages of a block while other blocks are connected, and the names of the trie', async () => {
    const first: NamesPage = await node.rpc('listnames', ['', 3]);
    const whole = await listed(first.blockhash, 1000);
    expect(whole.map(({ normalized_name }) => normalized_name)).toEqual(
      await node.rpc('getnamesintrie', [first.blockhash]),
    );
    expect(whole.length).toBeGreaterThan(8);
    await mineClaims(5);
    expect(await listed(first.blockhash, 2)).toEqual(whole);
    expect(await listed(first.height, 3)).toEqual(whole);
    const latest = await listed(null, 1000);
    expect(latest).not.toEqual(whole);
    expect(latest.reduce((sum, { claims }) => sum + claims, 0)).toBe(await node.rpc('gettotalclaims'));
    for (const { normalized_name: name, ...facts } of latest) {
      const best = await node.rpc<Record<string, unknown>>('getvalueforname', [name]);
      expect(facts).toMatchObject({
        name: best['name'],
        claimId: best['claimId'],
        effectiveAmount: best['effective amount'],
        lastTakeoverHeight: best['last takeover height'],
      });
    }
  });

  it('gets a history that matches the state after each block, for any page size', async () => {
    const tip = await node.rpc<number>('getblockcount');
    let blocks = 0;
    for (const { normalized_name: name } of await listed(null, 1000)) {
      const life = await historyOf(name, tip, 10_000);
      expect(await historyOf(name, tip, 1)).toEqual(life);
      const backwards = (await latestOf(name, tip, 3)).map(({ events, ...block }) => ({
        ...block,
        events: events.toReversed(),
      }));
      const facts = ({
        height,
        claims,
        owner,
        lastTakeoverHeight,
        events,
      }: HistoryPage['blocks'][number]) => ({
        ...{ height, claims, owner, lastTakeoverHeight, events },
      });
      expect(backwards.map(facts)).toEqual(life.toReversed().map(facts));
      // The answer about the tip is cached until a block changes the name.
      const latest: HistoryPage = await node.rpc('getnamehistory', [name, 0, tip, 5, false, 'newest']);
      expect(await node.rpc('getnamehistory', [name, 0, tip, 5, false, 'newest'])).toEqual(latest);
      for (const { height, blockhash, owner, lastTakeoverHeight, claims } of life) {
        blocks++;
        const was = await node.rpc<Record<string, unknown>>('getvalueforname', [name, blockhash]);
        expect(await node.rpc('getblockhash', [height])).toBe(blockhash);
        expect(owner?.claimId).toBe(was['claimId']);
        expect(owner?.effectiveAmount).toBe(was['effective amount']);
        expect(lastTakeoverHeight).toBe(was['last takeover height']);
        const all = await node.rpc<{ claims: { nValidAtHeight: number }[] }>('getclaimsforname', [
          name,
          blockhash,
        ]);
        expect(all.claims.filter((claim) => claim.nValidAtHeight <= height)).toHaveLength(claims);
      }
    }
    expect(blocks).toBeGreaterThan(50);
  });

  it('gets the history of the current branch after a reorganisation', async () => {
    const tip = await node.rpc<number>('getblockcount');
    const names = (await listed(null, 1000)).map(({ normalized_name }) => normalized_name);
    const lives = await Promise.all(names.map((name) => historyOf(name, tip, 100)));
    const fork = await node.rpc<string>('getblockhash', [tip - 6]);
    await node.rpc('invalidateblock', [fork]);
    for (const [i, name] of names.entries()) {
      const shorter = await historyOf(name, tip - 7, 100);
      expect(shorter).toEqual(lives[i]!.filter(({ height }) => height < tip - 6));
      expect((await latestOf(name, tip - 7, 7)).map(({ height }) => height)).toEqual(
        shorter.map(({ height }) => height).toReversed(),
      );
    }
    await node.rpc('reconsiderblock', [fork]);
    expect(await node.rpc('getblockcount')).toBe(tip);
    expect(await Promise.all(names.map((name) => historyOf(name, tip, 100)))).toEqual(lives);
  });

  it('gets forecasts that come true', async () => {
    // The name has the same owner for so many blocks that a better claim is delayed.
    await node.rpc('generatetoaddress', [8, ADDRESS]);
    for (const hex of await source.take(12)) await node.rpc('sendrawtransaction', [hex, true]);
    await node.rpc('generatetoaddress', [1, ADDRESS]);
    const reported = await node.rpc<Upcoming>('listupcoming', [2000]);
    expect(reported.events.length).toBeGreaterThan(0);
    const until = reported.events.at(-1)!.height;
    expect(until).toBeLessThan(250);
    while ((await node.rpc<number>('getblockcount')) < until)
      await node.rpc('generatetoaddress', [1, ADDRESS]);
    for (const { event, height, normalized_name: name, txid, claimId } of reported.events) {
      const { blocks }: HistoryPage = await node.rpc('getnamehistory', [name, height, height]);
      const wanted = event === 'takeover' ? { event, ...(claimId && { claimId }) } : { event, txid };
      expect(blocks[0]?.events).toContainEqual(expect.objectContaining(wanted));
    }
    expect(await node.rpc<Upcoming>('listupcoming', [2000])).toMatchObject({ events: [] });
  });
});
