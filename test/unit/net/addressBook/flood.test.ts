import { describe, expect, it } from 'vitest';
import { BUCKET_SIZE, NEW_BUCKETS, TRIED_BUCKETS } from '../../../../src/net/addressBook/limits.js';
import type { PeerAddressBook } from '../../../../src/net/addressBook/peerAddressBook.js';
import type { AddressEntry } from '../../../../src/net/messages/addr.js';
import { formatNetAddress } from '../../../../src/net/netAddress.js';
import { at, makeBook, numberedKey, seededRandom, START_SEC, reported } from './support.js';

const usedBuckets = (book: PeerAddressBook): number =>
  book.snapshot().newBuckets!.filter((bucket) => bucket.length > 0).length;

/** Addresses of many groups. */
function crowd(count: number): AddressEntry[] {
  return Array.from({ length: count }, (_, i) =>
    reported(`${1 + (i % 9)}.${(i >> 3) % 256}.${(i >> 11) % 256}.${i % 251}`, 9246, START_SEC),
  );
}

describe('a flood of addresses', () => {
  it('from one source group fills at most its 64 buckets', () => {
    const { book } = makeBook(seededRandom(1, numberedKey(7)));
    const flood = crowd(10_000);
    for (let i = 0; i < 10; i++) book.add(flood.slice(i * 1000, (i + 1) * 1000), at(`11.22.${i}.${i}`));
    expect(usedBuckets(book)).toBeLessThanOrEqual(64);
    expect(usedBuckets(book)).toBeGreaterThan(50);
    expect(book.size).toBeLessThanOrEqual(64 * BUCKET_SIZE);
    // Addresses from a source of another group are in other buckets.
    book.add(flood.slice(0, 1000), at('12.22.1.1'));
    expect(usedBuckets(book)).toBeGreaterThan(64);
  });

  it('of 100,000 addresses from one /16 keeps the tried ones and most of those from other sources', () => {
    const { book, clock } = makeBook(seededRandom(2, numberedKey(8)));
    const honest = crowd(600);
    for (const [i, entry] of honest.entries()) book.add([entry], at(`${20 + (i % 50)}.${i % 200}.1.1`));
    const tried = honest.slice(0, 200).map(({ address }) => address);
    for (const address of tried) book.good(address);
    const triedBefore = book.triedCount;
    expect(triedBefore).toBeGreaterThan(150);
    const listTried = (): string[] =>
      book
        .snapshot()
        .tried.map(({ ip }) => ip)
        .sort();
    const before = listTried();

    for (let i = 0; i < 100; i++) {
      const wave = Array.from({ length: 1000 }, (_, j) => {
        const n = i * 1000 + j;
        return reported(`44.55.${(n >> 8) & 0xff}.${n & 0xff}`, 1024 + (n % 50_000), clock.nowSec);
      });
      clock.nowSec += 1;
      book.add(wave, at(`44.55.${i}.1`), 7200);
    }
    expect(listTried()).toEqual(before);
    expect(book.triedCount).toBe(triedBefore);
    const left = honest.filter(({ address }) => book.lookUp(address) !== null);
    expect(left.length).toBeGreaterThan(honest.length * 0.95);
    // All addresses of one group from a source of one group share a single bucket.
    expect(book.size - left.length).toBeLessThanOrEqual(BUCKET_SIZE);
    const chosen = Array.from({ length: 400 }, () => formatNetAddress(book.select()!.address));
    const caught = chosen.filter((text) => text.startsWith('44.55.')).length;
    expect(caught).toBeLessThan(100);
  });

  it('from everywhere fills only the tables', () => {
    const { book } = makeBook(seededRandom(3, numberedKey(9)));
    for (let i = 0; i < 12; i++) {
      const wave = Array.from({ length: 1000 }, (_, j) => {
        const n = i * 1000 + j;
        return reported(`${60 + (n % 100)}.${(n >> 2) % 256}.${(n >> 8) & 0xff}.${n & 0xff}`, 1, START_SEC);
      });
      book.add(wave, at(`${60 + i}.1.1.1`));
      for (const { address } of wave.slice(0, 50)) book.good(address);
    }
    const { fresh, tried, newBuckets } = book.snapshot();
    expect(fresh.length + tried.length).toBe(book.size);
    expect(book.size).toBeLessThanOrEqual((NEW_BUCKETS + TRIED_BUCKETS) * BUCKET_SIZE);
    expect(Math.max(...newBuckets!.map((bucket) => bucket.length))).toBeLessThanOrEqual(BUCKET_SIZE);
    const places = new Map<number, number>();
    for (const index of newBuckets!.flat()) places.set(index, (places.get(index) ?? 0) + 1);
    expect(places.size).toBe(fresh.length);
    expect(Math.max(...places.values())).toBeLessThanOrEqual(8);
  });
});
