import { describe, expect, it } from 'vitest';
import { KeptNames } from '../../../src/rpc/keptNames.js';
import type { NameInfo } from '../../../src/store/claims/claimQueries.js';
import type { NameHead } from '../../../src/store/claims/nameRow.js';

const AT = { tip: 7, disconnects: 0 };

/** A name with so many claims, and as many supports of the first. */
function infoOf(claims: number, supports = 0): NameInfo {
  const list = Array.from({ length: claims }, (_, n) => ({
    supports: n === 0 ? Array(supports).fill({}) : [],
  }));
  return { claims: list, supportsWithoutClaim: [] } as unknown as NameInfo;
}

function headOf(takeover: number): NameHead {
  return { takeover, claims: 0, best: null };
}

describe('KeptNames', () => {
  it('gives back what was kept while the tip stays', () => {
    const names = new KeptNames();
    const info = infoOf(40, 60);
    names.keep('a', info, AT, AT);
    expect(names.find('a', AT)).toBe(info);
    expect(names.find('b', AT)).toBe(undefined);
    expect(names.find('a', { tip: 8, disconnects: 0 })).toBe(undefined);
    expect(names.find('a', { tip: 7, disconnects: 1 })).toBe(undefined);
    expect(names.size).toBe(100);
  });

  it('forgets all when something is kept of another tip', () => {
    const names = new KeptNames();
    const next = { tip: 8, disconnects: 0 };
    names.keep('a', infoOf(100), AT, AT);
    names.keepHead('a', headOf(3), AT, AT);
    names.keep('b', infoOf(200), next, next);
    expect(names.find('a', AT)).toBe(undefined);
    expect(names.findHead('a', AT)).toBe(undefined);
    expect(names.findHead('a', next)).toBe(undefined);
    expect(names.size).toBe(200);
  });

  it('keeps nothing that was read while the tip moved', () => {
    const names = new KeptNames();
    names.keep('a', infoOf(100), AT, { tip: 8, disconnects: 0 });
    names.keep('a', infoOf(100), AT, { tip: 7, disconnects: 2 });
    names.keepHead('a', headOf(3), AT, { tip: 8, disconnects: 0 });
    expect(names.size).toBe(0);
    expect(names.findHead('a', { tip: 8, disconnects: 0 })).toBe(undefined);
  });

  it('keeps neither small names nor those beyond its bound', () => {
    const names = new KeptNames();
    names.keep('small', infoOf(10, 10), AT, AT);
    names.keep('large', infoOf(1, 70_000), AT, AT);
    expect(names.size).toBe(0);
    expect(names.find('small', AT)).toBe(undefined);
    expect(names.find('large', AT)).toBe(undefined);
  });

  it('drops what was not asked for the longest when it is full', () => {
    const names = new KeptNames();
    names.keep('a', infoOf(1, 29_999), AT, AT);
    names.keep('b', infoOf(1, 29_999), AT, AT);
    expect(names.find('a', AT)).toBeDefined();
    names.keep('c', infoOf(1, 29_999), AT, AT);
    expect(names.find('b', AT)).toBe(undefined);
    expect(names.find('a', AT)).toBeDefined();
    expect(names.find('c', AT)).toBeDefined();
    expect(names.size).toBe(60_000);
    names.keep('c', infoOf(1, 9_999), AT, AT);
    expect(names.size).toBe(40_000);
  });

  it('keeps heads of a bounded number of names', () => {
    const names = new KeptNames();
    for (let n = 0; n < 1024; n++) names.keepHead(`${n}`, headOf(n), AT, AT);
    expect(names.findHead('5', AT)).toEqual(headOf(5));
    names.keepHead('more', headOf(1), AT, AT);
    expect(names.findHead('5', AT)).toBe(undefined);
    expect(names.findHead('more', AT)).toEqual(headOf(1));
  });
});
