import { describe, expect, it } from 'vitest';
import { Candidates } from '../../../../src/chain/index/candidates.js';
import { MAX_BLOCK_FILE_BYTES } from '../../../../src/store/files/blockFiles.js';
import { NO_HEADER } from '../../../../src/store/files/headerTable.js';
import { TestHeaders } from '../headers.js';

/** Adds a block to the table and to the candidates. */
function addLinked(
  headers: TestHeaders,
  candidates: Candidates,
  parent: number,
  changes: Parameters<TestHeaders['add']>[1],
): number {
  const id = headers.add(parent, changes);
  candidates.link(id);
  candidates.add(id);
  return id;
}

describe('Candidates', () => {
  it('have no best one if they are empty', () => {
    expect(new Candidates(new TestHeaders().table).best()).toBe(NO_HEADER);
  });

  it('prefer more work, independent of the arrival', () => {
    const headers = new TestHeaders();
    const candidates = new Candidates(headers.table);
    const genesis = addLinked(headers, candidates, NO_HEADER, { work: 1n });
    const early = addLinked(headers, candidates, genesis, { work: 2n, offset: 10 });
    const late = addLinked(headers, candidates, genesis, { work: 3n, offset: 20 });
    expect(candidates.best()).toBe(late);
    expect(candidates.compare(early, late)).toBeLessThan(0);
    expect(candidates.compare(late, early)).toBeGreaterThan(0);
    expect(candidates.compare(late, late)).toBe(0);
    candidates.delete(late);
    expect(candidates.best()).toBe(early);
  });

  it('compare work beyond 64 bits', () => {
    const headers = new TestHeaders();
    const candidates = new Candidates(headers.table);
    const small = addLinked(headers, candidates, NO_HEADER, { work: (1n << 64n) - 1n, offset: 1 });
    const large = addLinked(headers, candidates, NO_HEADER, { work: 1n << 64n, offset: 2 });
    expect(candidates.compare(small, large)).toBeLessThan(0);
  });

  it('keep the first arrived among equals, also over several files', () => {
    const headers = new TestHeaders();
    const candidates = new Candidates(headers.table);
    const genesis = addLinked(headers, candidates, NO_HEADER, { work: 1n, offset: 0 });
    const late = addLinked(headers, candidates, genesis, { work: 2n, file: 1, offset: 5 });
    const early = addLinked(headers, candidates, genesis, {
      work: 2n,
      file: 0,
      offset: MAX_BLOCK_FILE_BYTES - 1,
    });
    expect(candidates.best()).toBe(early);
    expect(candidates.compare(early, late)).toBeGreaterThan(0);
  });

  it('a branch has the arrival of its last missing block', () => {
    const headers = new TestHeaders();
    const candidates = new Candidates(headers.table);
    const genesis = addLinked(headers, candidates, NO_HEADER, { work: 1n, offset: 0 });
    // The upper block of the first branch arrived before all others, its parent after all others.
    const lowerA = headers.add(genesis, { work: 2n, offset: 500 });
    const upperA = headers.add(lowerA, { work: 3n, offset: 100 });
    const lowerB = headers.add(genesis, { work: 2n, offset: 200 });
    const upperB = headers.add(lowerB, { work: 3n, offset: 300 });
    for (const id of [lowerA, upperA, lowerB, upperB]) candidates.link(id);
    candidates.add(upperA);
    candidates.add(upperB);
    expect(candidates.best()).toBe(upperB);
  });

  it('branches completed by the same block are ordered by their own arrival', () => {
    const headers = new TestHeaders();
    const candidates = new Candidates(headers.table);
    const parent = headers.add(NO_HEADER, { work: 1n, offset: 900 });
    const second = headers.add(parent, { work: 2n, offset: 200 });
    const first = headers.add(parent, { work: 2n, offset: 100 });
    for (const id of [parent, first, second]) candidates.link(id);
    expect(candidates.compare(first, second)).toBeGreaterThan(0);
  });

  it('among those, the lower level comes first, and below it the order of the level above', () => {
    const headers = new TestHeaders();
    const candidates = new Candidates(headers.table);
    const parent = headers.add(NO_HEADER, { work: 1n, offset: 900 });
    const early = headers.add(parent, { work: 2n, offset: 100 });
    const late = headers.add(parent, { work: 2n, offset: 200 });
    const aboveLate = headers.add(late, { work: 5n, offset: 300 });
    const aboveEarly = headers.add(early, { work: 3n, offset: 400 });
    const top = headers.add(aboveEarly, { work: 5n, offset: 50 });
    const sameLevel = headers.add(early, { work: 5n, offset: 500 });
    for (const id of [parent, early, late, aboveLate, aboveEarly, top, sameLevel]) candidates.link(id);
    expect(candidates.compare(sameLevel, aboveLate)).toBeGreaterThan(0);
    expect(candidates.compare(aboveLate, top)).toBeGreaterThan(0);
    expect(candidates.compare(top, sameLevel)).toBeLessThan(0);
  });

  it('preciousblock moves a block before its equals, the latest call before earlier ones', () => {
    const headers = new TestHeaders();
    const candidates = new Candidates(headers.table);
    const genesis = addLinked(headers, candidates, NO_HEADER, { work: 1n });
    const [a, b, c] = [1, 2, 3].map((n) => addLinked(headers, candidates, genesis, { work: 2n, offset: n }));
    const more = addLinked(headers, candidates, genesis, { work: 3n, offset: 9 });
    expect(candidates.best()).toBe(more);
    candidates.delete(more);
    expect(candidates.best()).toBe(a);
    candidates.setPrecious(b!, -1);
    expect(candidates.best()).toBe(b);
    candidates.setPrecious(c!, -2);
    expect(candidates.best()).toBe(c);
    candidates.setPrecious(b!, -3);
    expect(candidates.best()).toBe(b);
    // A precious block with less work does not win.
    expect(candidates.compare(b!, more)).toBeLessThan(0);
  });

  it('prune drops what is worse than the tip and keeps the tip and what is better', () => {
    const headers = new TestHeaders();
    const candidates = new Candidates(headers.table);
    const genesis = addLinked(headers, candidates, NO_HEADER, { work: 1n });
    const tip = addLinked(headers, candidates, genesis, { work: 2n, offset: 1 });
    const rival = addLinked(headers, candidates, genesis, { work: 2n, offset: 2 });
    const better = addLinked(headers, candidates, genesis, { work: 3n, offset: 3 });
    candidates.prune(tip);
    expect(candidates.best()).toBe(better);
    candidates.delete(better);
    expect(candidates.best()).toBe(tip);
    candidates.delete(tip);
    expect(candidates.best()).toBe(NO_HEADER);
    candidates.add(rival);
    candidates.clear();
    expect(candidates.best()).toBe(NO_HEADER);
  });

  it('holds more blocks than its initial capacity', () => {
    const headers = new TestHeaders();
    const candidates = new Candidates(headers.table);
    let tip: number = NO_HEADER;
    for (let i = 0; i < 3000; i++) tip = addLinked(headers, candidates, tip, {});
    expect(candidates.best()).toBe(tip);
    candidates.prune(tip);
    candidates.delete(tip);
    expect(candidates.best()).toBe(NO_HEADER);
  });
});
