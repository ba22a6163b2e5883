import { describe, expect, it } from 'vitest';
import { areStatesValid, KeptNames, LATEST, type Touched } from '../../../../src/rpc/lookup/keptNames.js';
import { SharedBytes, type NameInfo } from '../../../../src/store/claims/query/claimQueries.js';
import type { ClaimOfName } from '../../../../src/store/claims/query/oneClaim.js';
import { keptItems } from '../../../../src/store/claims/query/itemHistory.js';
import { JsonFrame } from '../../../../src/util/json/jsonFrame.js';
import type { Item } from '../../../../src/claimtrie/item.js';
import type { TouchedNames } from '../../../../src/store/claims/touchedNames.js';
import type { OutputState } from '../../../../src/store/claims/query/outputStates.js';
import type { NameHead } from '../../../../src/store/claims/rows/nameRow.js';

const AT = { tip: 7, height: 70, disconnects: 0 };
const NEXT = { tip: 8, height: 71, disconnects: 0 };
const nothing = (): TouchedNames => new Map();

/** A name with this number of claims. The first claim has this number of supports. */
function infoOf(claims: number, supports = 0): NameInfo {
  const list = Array.from({ length: claims }, (_, n) => ({
    supports: n === 0 ? Array(supports).fill({}) : [],
  }));
  return { claims: list, supportsWithoutClaim: [] } as unknown as NameInfo;
}

function headOf(takeover: number): NameHead {
  return { takeover, alive: 0, claims: 0, best: null };
}

/** A claim with this number of supports. */
function claimOf(supports: number): ClaimOfName {
  return { claim: { supports: Array(supports).fill({}) } } as unknown as ClaimOfName;
}

/** A cache that follows the tip, and the hashes of the blocks whose changes it requested. */
function followed(): { names: KeptNames; asked: string[]; touching(...names: string[]): Touched } {
  const names = new KeptNames();
  const asked: string[] = [];
  expect(names.follow(AT, nothing)).toBe(undefined);
  const touching =
    (...touched: string[]): Touched =>
    (from, to) => {
      asked.push(`${from} to ${to}`);
      return new Map(touched.map((name) => [name, []]));
    };
  return { names, asked, touching };
}

const keep = (names: KeptNames, name: string, info: NameInfo, at = AT): boolean =>
  names.keep('documented', name, info, at, at);

describe('KeptNames', () => {
  it('returns a name for the blocks since it was stored and before a block changed it', () => {
    const { names, touching } = followed();
    const info = infoOf(100);
    keep(names, 'a', info);
    void names.follow(NEXT, touching('b'));
    const at = (height: number): NameInfo | undefined => names.findAt('a', height, NEXT);
    expect([69, 70, 71, 72].map((height) => at(height) === info)).toEqual([false, true, true, false]);
    expect(names.findAt('b', 70, NEXT)).toBe(undefined);
    expect(names.findAt('a', 70, AT)).toBe(undefined);
    const later = { tip: 9, height: 72, disconnects: 0 };
    void names.follow(later, touching('a'));
    const before = (height: number): NameInfo | undefined => names.findAt('a', height, later);
    expect([69, 70, 71, 72].map((height) => before(height) === info)).toEqual([false, true, true, false]);
    expect(names.find('documented', 'a', later)).toBe(undefined);
    void names.follow({ tip: 8, height: 71, disconnects: 1 }, touching());
    expect(names.findAt('a', 70, { tip: 8, disconnects: 1 })).toBe(undefined);
  });

  it('has a limited number of earlier states of a name, with a limited number of items', () => {
    const { names } = followed();
    const infos = [1, 2, 3, 4, 5].map((n) => infoOf(100 * n));
    for (const [n, info] of infos.entries()) names.keepAt('a', 60 + n, info, AT, AT);
    names.keepAt('small', 60, infoOf(10), AT, AT);
    names.keepAt('a', 69, infoOf(100), AT, NEXT);
    expect(infos.map((info, n) => names.findAt('a', 60 + n, AT) === info)).toEqual([
      false,
      ...Array(4).fill(true),
    ]);
    expect(names.findAt('small', 60, AT)).toBe(undefined);
    expect(names.findAt('a', 69, AT)).toBe(undefined);
    const large = infoOf(20_000);
    names.keepAt('a', 66, large, AT, AT);
    names.keepAt('a', 67, infoOf(20_000), AT, AT);
    expect(names.findAt('a', 66, AT)).toBe(undefined);
    expect(names.findAt('a', 67, AT)).toBeDefined();
  });

  it('has the text of a name until a block changes the name or is disconnected', () => {
    const { names, touching } = followed();
    const frame = JsonFrame.of('text', 100)!;
    for (const name of ['a', 'b']) names.keepText(name, frame, AT, AT);
    names.keepText('late', frame, AT, NEXT);
    expect(names.findText('a', AT)).toBe(frame);
    expect(names.findText('a', NEXT)).toBe(undefined);
    expect(names.caches()[0]).toMatchObject({ bytes: 2 * (256 + frame.chars) });
    void names.follow(NEXT, touching('a'));
    expect(['a', 'b', 'late'].map((name) => names.findText(name, NEXT))).toEqual([
      undefined,
      frame,
      undefined,
    ]);
    const back = { tip: 7, height: 70, disconnects: 1 };
    void names.follow(back, touching());
    expect(names.findText('b', back)).toBe(undefined);
    expect(names.caches()[0]).toEqual({ name: 'name_texts', bytes: 0, maxBytes: 2 << 20 });
  });

  it('estimates its memory by the number of cached items', () => {
    const { names } = followed();
    expect(names.caches()[1]).toMatchObject({ name: 'names', bytes: 0 });
    keep(names, 'a', infoOf(100));
    names.keepClaim('documented', 'b', 'bid 0', claimOf(3), AT, AT);
    const [, { bytes, maxBytes }] = names.caches() as [unknown, { bytes: number; maxBytes: number }];
    expect(bytes).toBe(100 * 250 + 4 * 800);
    expect(maxBytes).toBeGreaterThan(bytes);
  });

  it('keeps histories that end before a block that changes the name', () => {
    const { names, touching } = followed();
    const page = { blocks: [], next: null };
    names.keepHistory('a', '0 50 60 0', page, AT, AT);
    names.keepHistory('a', `0 50${LATEST}`, page, AT, AT);
    void names.follow(NEXT, touching('a'));
    expect(names.findHistory('a', '0 50 60 0', NEXT)).toBe(page);
    expect(names.findHistory('a', `0 50${LATEST}`, NEXT)).toBe(undefined);
  });

  it('keeps states of outputs until a block changes one of them, and marks them if it changes others of the name', () => {
    const { names } = followed();
    const stateOf = (ordinal: number, controls = false): OutputState =>
      ({ item: { since: 60, ordinal, point: `point ${ordinal}` }, controls }) as unknown as OutputState;
    const [one, two] = [[stateOf(1, true), stateOf(2)], [stateOf(3)]];
    names.keepStates('a', 'one', one, AT, AT);
    names.keepStates('a', 'two', two, AT, AT);
    expect(names.findStates('a', 'one', AT)).toEqual({ states: one, isAged: false });
    void names.follow(NEXT, () => new Map([['a', [{ name: 'a', since: 60, ordinal: 3 }]]]));
    expect(names.findStates('a', 'one', NEXT)).toEqual({ states: one, isAged: true });
    expect(names.findStates('a', 'one', NEXT)?.states).toBe(one);
    expect(names.findStates('a', 'two', NEXT)).toBe(undefined);
    expect(areStatesValid(one, 'point 1')).toBe(true);
    expect(areStatesValid(one, 'point 2')).toBe(false);
    expect(areStatesValid(one, 'point 9')).toBe(false);
    expect(areStatesValid(two, 'point 9')).toBe(true);
    names.keepStates('a', 'one', one, NEXT, NEXT);
    expect(names.findStates('a', 'one', NEXT)).toEqual({ states: one, isAged: false });
    void names.follow({ tip: 9, height: 72, disconnects: 0 }, () => null);
    expect(names.findStates('a', 'one', { tip: 9, disconnects: 0 })).toBe(undefined);
  });

  it('keeps single claims by form, name and selection until a block changes the name', () => {
    const { names, touching } = followed();
    const [best, second] = [claimOf(1), claimOf(2)];
    names.keepClaim('reference', 'a', 'bid 0', best, AT, AT);
    names.keepClaim('reference', 'a', 'bid 1', second, AT, AT);
    names.keepClaim('reference', 'b', 'bid 0', second, AT, AT);
    expect(names.findClaim('reference', 'a', 'bid 0', AT)).toBe(best);
    expect(names.findClaim('reference', 'a', 'bid 1', AT)).toBe(second);
    expect(names.findClaim('reference', 'a', 'bid 2', AT)).toBe(undefined);
    expect(names.findClaim('documented', 'a', 'bid 0', AT)).toBe(undefined);
    expect(names.findClaim('reference', 'a', 'bid 0', NEXT)).toBe(undefined);
    void names.follow(NEXT, touching('a'));
    expect(names.findClaim('reference', 'a', 'bid 0', NEXT)).toBe(undefined);
    expect(names.findClaim('reference', 'b', 'bid 0', NEXT)).toBe(second);
    names.keepClaim('reference', 'b', 'bid 1', best, AT, NEXT);
    expect(names.findClaim('reference', 'b', 'bid 1', NEXT)).toBe(undefined);
  });

  it('limits the single claims of one name and of all names', () => {
    const { names } = followed();
    names.keepClaim('reference', 'a', 'large', claimOf(4096), AT, AT);
    expect(names.findClaim('reference', 'a', 'large', AT)).toBe(undefined);
    for (const choice of ['1', '2', '3']) names.keepClaim('reference', 'a', choice, claimOf(2000), AT, AT);
    expect(names.findClaim('reference', 'a', '1', AT)).toBe(undefined);
    expect(names.findClaim('reference', 'a', '3', AT)).toBeDefined();
    for (let n = 0; n < 8; n++) names.keepClaim('reference', `name ${n}`, '1', claimOf(4000), AT, AT);
    const kept = Array.from({ length: 8 }, (_, n) => names.findClaim('reference', `name ${n}`, '1', AT));
    expect(kept.map((found) => found !== undefined)).toEqual([
      ...Array(4).fill(false),
      ...Array(4).fill(true),
    ]);
    expect(names.findClaim('reference', 'a', '3', AT)).toBe(undefined);
  });

  it('returns stored names while the tip is the same', () => {
    const { names } = followed();
    const info = infoOf(40, 60);
    keep(names, 'a', info);
    expect(names.find('documented', 'a', AT)).toBe(info);
    expect(names.find('reference', 'a', AT)).toBe(undefined);
    expect(names.find('documented', 'b', AT)).toBe(undefined);
    expect(names.find('documented', 'a', NEXT)).toBe(undefined);
    expect(names.find('documented', 'a', { ...AT, disconnects: 1 })).toBe(undefined);
    expect(names.size).toBe(100);
  });

  it('removes the names that a block changed, in all forms, and keeps the others', () => {
    const { names, asked, touching } = followed();
    const [a, b] = [infoOf(100), infoOf(200)];
    keep(names, 'a', a);
    keep(names, 'b', b);
    names.keep('reference', 'a', a, AT, AT);
    names.keepHead('a', headOf(3), AT, AT);
    names.keepHead('b', headOf(4), AT, AT);
    void names.follow(NEXT, touching('a', 'c'));
    expect(asked).toEqual(['71 to 71']);
    expect(names.find('documented', 'a', NEXT)).toBe(undefined);
    expect(names.find('reference', 'a', NEXT)).toBe(undefined);
    expect(names.find('documented', 'b', NEXT)).toBe(b);
    expect(names.findHead('a', NEXT)).toBe(undefined);
    expect(names.findHead('b', NEXT)).toEqual(headOf(4));
    expect(names.size).toBe(200);
  });

  it('requests the changes of all blocks since, and of none if it is empty', () => {
    const { names, asked, touching } = followed();
    void names.follow(NEXT, touching('a'));
    expect(asked).toEqual([]);
    keep(names, 'a', infoOf(100), NEXT);
    void names.follow({ tip: 20, height: 75, disconnects: 0 }, touching());
    expect(asked).toEqual(['72 to 75']);
  });

  it.each([
    ['a block is disconnected', { tip: 6, height: 69, disconnects: 1 }],
    ['another block replaces it', { tip: 9, height: 70, disconnects: 1 }],
    ['very many blocks are connected', { tip: 900, height: 700, disconnects: 0 }],
  ])('removes all names when %s', (_, at) => {
    const { names, touching } = followed();
    keep(names, 'a', infoOf(100));
    void names.follow(at, touching());
    expect(names.find('documented', 'a', at)).toBe(undefined);
    expect(names.size).toBe(0);
  });

  it('removes all names if the changes of a block are unknown', () => {
    const { names } = followed();
    keep(names, 'a', infoOf(100));
    void names.follow(NEXT, () => null);
    expect(names.find('documented', 'a', NEXT)).toBe(undefined);
  });

  it('requests the changes again if the tip changed meanwhile', async () => {
    const { names } = followed();
    const [a, b] = [infoOf(100), infoOf(200)];
    keep(names, 'a', a);
    keep(names, 'b', b);
    const active = { ...NEXT };
    const answers: Record<number, string> = { 71: 'none', 72: 'a' };
    const asked: string[] = [];
    await names.follow(active, (from, to) => {
      asked.push(`${from} to ${to}`);
      const found = new Map<string, []>();
      for (let height = from; height <= to; height++) found.set(answers[height]!, []);
      Object.assign(active, { tip: 9, height: 72 });
      return Promise.resolve(found);
    });
    expect(asked).toEqual(['71 to 71', '71 to 72']);
    expect(names.find('documented', 'a', active)).toBe(undefined);
    expect(names.find('documented', 'b', active)).toBe(b);
  });

  it('does not store a name that was read while the tip changed', () => {
    const { names } = followed();
    names.keep('documented', 'a', infoOf(100), AT, NEXT);
    names.keep('documented', 'a', infoOf(100), NEXT, NEXT);
    names.keepHead('a', headOf(3), AT, NEXT);
    expect(names.size).toBe(0);
    expect(names.findHead('a', NEXT)).toBe(undefined);
  });

  it('stores neither small names nor those above its limit', () => {
    const { names } = followed();
    keep(names, 'small', infoOf(10, 10));
    keep(names, 'large', infoOf(1, 70_000));
    expect(names.size).toBe(0);
    expect(names.find('documented', 'small', AT)).toBe(undefined);
    expect(names.find('documented', 'large', AT)).toBe(undefined);
  });

  it('evicts the names with the oldest requests when it is full', () => {
    const { names } = followed();
    keep(names, 'a', infoOf(1, 29_999));
    keep(names, 'b', infoOf(1, 29_999));
    expect(names.find('documented', 'a', AT)).toBeDefined();
    keep(names, 'c', infoOf(1, 29_999));
    expect(names.find('documented', 'b', AT)).toBe(undefined);
    expect(names.find('documented', 'a', AT)).toBeDefined();
    expect(names.find('documented', 'c', AT)).toBeDefined();
    expect(names.size).toBe(60_000);
    keep(names, 'c', infoOf(1, 9_999));
    expect(names.size).toBe(40_000);
  });

  it('stores heads of a limited number of names', () => {
    const { names } = followed();
    for (let n = 0; n < 1024; n++) names.keepHead(`${n}`, headOf(n), AT, AT);
    names.keepHead('more', headOf(1), AT, AT);
    expect(names.findHead('0', AT)).toBe(undefined);
    expect(names.findHead('more', AT)).toEqual(headOf(1));
  });

  it('keeps the items of a name and a list of changed items, until there are many of them', () => {
    const { names } = followed();
    const made = Array.from({ length: 100 }, (_, ordinal) => ({ since: 70, ordinal }) as Item);
    const items = { ...keptItems(made, 70), shared: new SharedBytes() };
    names.keepItems('a', items, AT, AT);
    names.keepItems('b', items, AT, NEXT);
    const ref = (ordinal: number): { name: string; since: number; ordinal: number } => ({
      name: 'a',
      since: 70,
      ordinal,
    });
    void names.follow(NEXT, () => new Map([['a', [ref(3)]]]));
    expect(names.findItems('a', NEXT)).toEqual({ ...items, changed: [ref(3)] });
    expect(names.findItems('a', AT)).toBe(undefined);
    expect(names.findItems('b', NEXT)).toBe(undefined);
    const more = { tip: 9, height: 72, disconnects: 0 };
    void names.follow(more, () => new Map([['a', Array.from({ length: 12 }, (_, n) => ref(n))]]));
    expect(names.findItems('a', more)).toBe(undefined);
  });
});
