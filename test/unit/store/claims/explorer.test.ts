/**
 * Histories of names, lists of names and upcoming events, compared with the naive model. Random operations with
 * reorganisations.
 */
import { describe, expect, it } from 'vitest';
import { filedName } from '../../../../src/store/claims/query/claimQueries.js';
import { readNameHistory, type NameBlock } from '../../../../src/store/claims/query/nameHistory.js';
import {
  describePastNames,
  describePresentNames,
  namesBehind,
} from '../../../../src/store/claims/query/nameList.js';
import { isNodeAfter } from '../../../../src/store/claims/query/proofQueries.js';
import { readDueNames, readUpcoming } from '../../../../src/store/claims/query/upcoming.js';
import { toHex, toLatin1 } from '../../../../src/util/bytes.js';
import type { ClaimEvent, ClaimRules } from '../../../../src/claimtrie/types.js';
import { SMALL_RULES } from '../../../support/claimComparison.js';
import { LIFE_NAMES } from '../../../support/claimLife.js';
import { claimedNames, claimsOf, normalized, pointOf } from '../../../support/claimModel.js';
import { hex, naiveBlock, PROOF_WINDOW, TwoLives, type NaiveBlock } from '../../../support/explorerModel.js';
import { IS_LONG, longIt } from '../../../support/long.js';

/** Number of blocks of a history. All forks are below height 231. */
const BLOCKS = IS_LONG ? 280 : 245;

/** The block in the form of the naive model. */
function textOf(block: NameBlock): NaiveBlock {
  const { height, owner, claims, takeover, formerId } = block;
  const events = block.events.map(({ type, item, isActive, replaces, otherName }) => {
    const point = hex(item.point);
    if (type === 'arrival') return `arrival ${point} from ${hex(otherName!)}`;
    if (type === 'departure') return `departure ${point} to ${hex(otherName!)}`;
    const active = isActive === undefined ? '' : ` ${isActive}`;
    return `${type} ${point}${active}${replaces ? ` for ${hex(replaces.point)}` : ''}`;
  });
  if ((owner?.claimId ?? '') !== formerId) {
    events.push(`takeover ${owner ? hex(owner.claimId) : '-'} ${formerId ? hex(formerId) : '-'}`);
  }
  return {
    height,
    events: events.sort(),
    owner: owner && `${hex(owner.claimId)} ${owner.amount} ${owner.effective}`,
    claims,
    takeover,
    amounts: Object.fromEntries([...block.amounts].map(([id, sat]) => [hex(id), String(sat)])),
  };
}

/** Every page from `from` to `to`. */
async function historyOf(
  two: TwoLives,
  name: string,
  { from, to, count }: { from: number; to: number; count: number },
): Promise<NaiveBlock[]> {
  const blocks: NaiveBlock[] = [];
  for (let next: number | null = from; next !== null;) {
    const page = await readNameHistory(two.rows, { name, from: next, to, count });
    expect(page.blocks.length > 0 || page.next === null).toBe(true);
    blocks.push(...page.blocks.map(textOf));
    next = page.next;
  }
  return blocks;
}

function naiveHistory(two: TwoLives, name: string, from: number, to: number): NaiveBlock[] {
  const blocks: NaiveBlock[] = [];
  for (let height = Math.max(1, from); height <= to; height++) {
    const block = naiveBlock(two, name, height);
    if (block) blocks.push(block);
  }
  return blocks;
}

async function compareHistories(two: TwoLives, names: readonly Buffer[]): Promise<number> {
  const { height, life } = two;
  const filed = names.map(toLatin1).flatMap((name) => [name, normalized(name)]);
  let events = 0;
  for (const name of new Set(filed)) {
    const whole = naiveHistory(two, name, 0, height);
    for (const { events: some } of whole) events += some.length;
    expect(await historyOf(two, name, { from: 0, to: height, count: 10_000 })).toEqual(whole);
    const from = life.pick(height);
    const to = from + life.pick(height - from);
    const part = whole.filter((block) => block.height >= from && block.height <= to);
    expect(await historyOf(two, name, { from, to, count: 1 + life.pick(6) })).toEqual(part);
  }
  return events;
}

describe('the history, the list of names and the naive model', () => {
  async function compareLists(two: TwoLives, height: number): Promise<void> {
    const { rows, rules, life } = two;
    const state = two.stateAt(height);
    const all = claimedNames(state);
    for (const raw of ['', 'a', 'ab', 'aB', 'A', 't', '\xff', 'nothing']) {
      const prefix = filedName(rules, Buffer.from(raw, 'latin1'), height);
      const wanted = all.filter((name) => name.startsWith(prefix));
      const found: string[] = [];
      const count = 1 + life.pick(5);
      for (let after: string | null = null; ;) {
        const page = await namesBehind(rows, { height, prefix, after, count });
        found.push(...page.slice(0, count));
        if (page.length <= count) break;
        after = page[count - 1]!;
      }
      expect(found.map(hex)).toEqual(wanted.map(hex));
    }
    const listed = await describePastNames(rows, rules, all, height);
    if (height === two.height) expect(await describePresentNames(rows, all)).toEqual(listed);
    expect(
      listed.map((name) => [
        toLatin1(name.name),
        name.claims,
        toHex(name.claimId),
        pointOf(Buffer.from(name.txid), name.n),
        toLatin1(name.rawName),
        name.height,
        name.amount,
        name.effectiveAmount,
        name.lastTakeoverHeight,
      ]),
    ).toEqual(
      all.map((name) => {
        const claims = claimsOf(state, name);
        const { item, effective } = claims[0]!;
        const { takeover } = state.owners.get(name)!;
        const { claimId, point, rawName, height: made, amount } = item;
        return [name, claims.length, claimId, point, rawName, made, amount, effective, takeover];
      }),
    );
  }

  for (const title of IS_LONG ? ['forks as on main', 'forks at once'] : ['forks at once']) {
    it(`return equal results, ${title}`, async () => {
      const two = new TwoLives(4201, SMALL_RULES[title]!);
      for (let to = 40; to <= BLOCKS; to += 40) {
        await two.liveTo(to);
        await compareLists(two, two.height);
      }
      for (let height = 1; height < BLOCKS; height += 29) await compareLists(two, height);
      expect(await compareHistories(two, LIFE_NAMES)).toBeGreaterThan(500);
    });
  }

  longIt('return equal results for hot names, whose history has snapshots', async () => {
    const names = ['ab', 'Ab'].map((name) => Buffer.from(name));
    const two = new TwoLives(17, SMALL_RULES['forks as on main']!, { names });
    await two.liveTo(BLOCKS);
    expect(await compareHistories(two, names)).toBeGreaterThan(500);
  });
});

interface Reported {
  height: number;
  text: string;
}

function eventText(event: ClaimEvent): string {
  const { type, txid, n, claimId, formerClaimId } = event;
  if (type === 'takeover') {
    return `takeover ${hex(toLatin1(event.name))} ${claimId ? toHex(claimId) : '-'} ${formerClaimId ? toHex(formerClaimId) : '-'}`;
  }
  return `${type} ${hex(toLatin1(event.name))} ${pointOf(Buffer.from(txid!), n!)} ${event.isSupport}`;
}

/** Reported events of the blocks up to `to` as of block `height`, page by page. `meanwhile` runs before each page. */
async function predicted(
  two: TwoLives,
  to: number,
  count: number,
  height = two.height,
  meanwhile: () => Promise<void> = async () => {},
): Promise<Reported[]> {
  const { rows, rules } = two;
  const reported: Reported[] = [];
  const isNode = (name: string) =>
    isNodeAfter(rows, rules, PROOF_WINDOW, { name, height, tipHeight: () => two.height });
  for (let from: number | null = height + 1; from !== null;) {
    await meanwhile();
    const query = { height, from, to, count, isWanted: () => true };
    const due = await readDueNames(rows, query, two.height);
    const page = await readUpcoming(rows, rules, query, due, isNode);
    for (const { name, event } of page.events) {
      if (event.type === 'takeover') {
        const { owner, formerId } = event;
        const ids = `${owner ? hex(owner.claimId) : '-'} ${formerId ? hex(formerId) : '-'}`;
        reported.push({ height: event.height, text: `takeover ${hex(name)} ${ids}` });
      } else {
        const { item } = event;
        const text = `${event.type} ${hex(name)} ${hex(item.point)} ${item.kind === 'support'}`;
        reported.push({ height: event.height, text });
      }
    }
    expect(page.next === null || page.next > from).toBe(true);
    from = page.next;
  }
  return reported;
}

const inOrder = (reported: readonly Reported[]): string[] =>
  reported.map(({ height, text }) => `${String(height).padStart(4, '0')} ${text}`).sort();

describe('the preview of future blocks', () => {
  async function compareFuture(two: TwoLives, blocks: number): Promise<number> {
    const to = two.height + blocks;
    const reported = await predicted(two, to, 1000);
    expect(await predicted(two, to, 1 + two.life.pick(5))).toEqual(reported);
    const done: Reported[] = [];
    while (two.height < to) {
      const height = two.height + 1;
      for (const event of await two.connect({ height, transactions: [] })) {
        done.push({ height, text: eventText(event) });
      }
    }
    expect(inOrder(reported)).toEqual(inOrder(done));
    return done.length;
  }

  it('is stable for a block below the tip when blocks are connected between two pages', async () => {
    for (const [title, alive, blocks] of [
      ['forks as on main', 120, 69],
      ['forks as on main, supports after 100', 240, 130],
      ['forks as on regtest', 60, 49],
    ] as const) {
      const two = new TwoLives(31, SMALL_RULES[title]!, { withModel: false });
      await two.liveTo(alive);
      const to = alive + blocks;
      const reported = await predicted(two, to, 1000);
      expect(reported.length).toBeGreaterThan(10);
      const oneMore = async () => {
        if (two.height < alive + 60) await two.connect(two.life.block(two.height + 1, 6));
      };
      expect(await predicted(two, to, 2, alive, oneMore)).toEqual(reported);
      expect(two.height).toBeGreaterThan(alive + 5);
      // The answer as of the latest block differs because of these blocks.
      const now = await predicted(two, to, 1000);
      expect(now).not.toEqual(reported.filter(({ height }) => height > two.height));
    }
  });

  /** Runs between the forks: their lengths, and the number of blocks whose events are compared. */
  const SPANS: readonly [title: string, rules: ClaimRules, alive: number, blocks: number][] = [
    ['across the extension of terms', SMALL_RULES['forks as on main']!, 120, 69],
    ['after all forks', SMALL_RULES['forks as on main']!, 240, 130],
    ['with supports after 100', SMALL_RULES['forks as on main, supports after 100']!, 240, 130],
    ['with all forks from the start', SMALL_RULES['forks from the start']!, 200, 130],
    ['up to the normalization fork', SMALL_RULES['forks as on regtest']!, 90, 19],
  ];
  for (const [title, rules, alive, blocks] of SPANS) {
    it(`equals the effect of blocks without transactions, ${title}`, async () => {
      let happened = 0;
      for (let seed = 1; seed <= 3; seed++) {
        const two = new TwoLives(seed, rules, { withModel: false });
        await two.liveTo(alive);
        happened += await compareFuture(two, blocks);
      }
      expect(happened).toBeGreaterThan(10);
    });
  }
});
