import { describe, expect, it } from 'vitest';
import { formatHost } from '../../../../src/net/netAddress.js';
import { at, makeBook, START_SEC, reported, type TestBook } from './support.js';

const SOURCE = at('252.2.2.2');

const contested = ({ book }: TestBook): string | null => {
  const found = book.selectTriedCollision();
  return found === null ? null : formatHost(found.address);
};

function reached({ book }: TestBook, text: string): void {
  book.add([reported(text)], SOURCE);
  book.good(at(text));
}

/** The connection to an address fails. Its last success is long ago. */
function failed({ book, clock }: TestBook, text: string): void {
  book.good(at(text), 1);
  book.attempt(at(text), false, clock.nowSec - 61);
}

// Expected values are from the reference's addrman_tests.cpp: selecttriedcollision, noevict, evictionworks.
describe('a contested position in the tried table', () => {
  const fill = (made: TestBook, from: number, to: number): void => {
    for (let i = from; i < to; i++) {
      reached(made, `250.1.1.${i}`);
      expect(made.book.size).toBe(i);
      expect(contested(made)).toBeNull();
    }
  };

  it('does not occur while positions are free, however often an address answers', () => {
    const made = makeBook();
    expect(contested(made)).toBeNull();
    fill(made, 1, 23);
    for (let i = 1; i < 23; i++) made.book.good(at(`250.1.1.${i}`));
    expect(made.book.size).toBe(22);
    expect(contested(made)).toBeNull();
  });

  it('remains with an address that answered recently', () => {
    const made = makeBook();
    fill(made, 1, 23);
    reached(made, '250.1.1.23');
    expect(made.book.size).toBe(23);
    expect(contested(made)).toBe('250.1.1.19');
    made.book.resolveCollisions();
    expect(contested(made)).toBeNull();
    expect(made.book.triedCount).toBe(22);

    fill(made, 24, 33);
    reached(made, '250.1.1.33');
    expect(made.book.size).toBe(33);
    expect(contested(made)).toBe('250.1.1.27');
    reached(made, '250.1.1.23');
    expect(made.book.size).toBe(33);
    expect(contested(made)).not.toBeNull();
    made.book.resolveCollisions();
    expect(contested(made)).toBeNull();
  });

  it('goes to the new address if the test of the old one fails', () => {
    const made = makeBook();
    fill(made, 1, 23);
    reached(made, '250.1.1.23');
    expect(contested(made)).toBe('250.1.1.19');
    failed(made, '250.1.1.19');
    made.book.resolveCollisions();
    expect(contested(made)).toBeNull();
    // Address 23 has the position. Address 19 collides with it.
    reached(made, '250.1.1.23');
    expect(contested(made)).toBeNull();
    reached(made, '250.1.1.19');
    expect(contested(made)).toBe('250.1.1.23');
    made.book.resolveCollisions();
    expect(contested(made)).toBeNull();
    expect(made.book.size).toBe(23);
  });

  it('has a minute for the test', () => {
    const made = makeBook();
    fill(made, 1, 23);
    reached(made, '250.1.1.23');
    made.book.good(at('250.1.1.19'), 1);
    made.book.attempt(at('250.1.1.19'), false, START_SEC - 60);
    made.book.resolveCollisions();
    expect(contested(made)).toBe('250.1.1.19');
    made.clock.nowSec += 1;
    made.book.resolveCollisions();
    expect(contested(made)).toBeNull();
  });

  it('goes to the new address after 40 minutes without a test', () => {
    const made = makeBook();
    fill(made, 1, 23);
    made.clock.nowSec += 5 * 3600;
    reached(made, '250.1.1.23');
    made.clock.nowSec += 40 * 60;
    made.book.resolveCollisions();
    expect(contested(made)).toBe('250.1.1.19');
    made.clock.nowSec += 1;
    made.book.resolveCollisions();
    expect(contested(made)).toBeNull();
    reached(made, '250.1.1.19');
    expect(contested(made)).toBe('250.1.1.23');
  });

  it('is limited to ten collisions', () => {
    const made = makeBook();
    for (let i = 0; i < 4000; i++) reached(made, `250.1.${i >> 8}.${i & 0xff}`);
    const contestedPlaces = new Set(Array.from({ length: 500 }, () => contested(made)));
    expect(contestedPlaces.size).toBeGreaterThan(1);
    expect(contestedPlaces.size).toBeLessThanOrEqual(10);
  });

  it('is removed with the new address', () => {
    const made = makeBook();
    fill(made, 1, 23);
    reached(made, '250.1.1.23');
    made.clock.nowSec += 120;
    // New addresses replace the waiting address in the new table, because its data are old.
    for (let i = 0; i < 20_000 && made.book.lookUp(at('250.1.1.23')) !== null; i++) {
      made.book.add([reported(`250.1.${2 + (i >> 8)}.${i & 0xff}`, 0, made.clock.nowSec)], SOURCE);
    }
    expect(made.book.lookUp(at('250.1.1.23'))).toBeNull();
    expect(contested(made)).toBeNull();
  });
});
