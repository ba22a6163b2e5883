import { describe, expect, it } from 'vitest';
import { RollingBloomFilter } from '../../../../src/net/bloom/rollingBloomFilter.js';
import { Random } from '../../../differential/support.js';

// From the reference's bloom_tests.cpp, rolling_bloom, with a fixed seed.
describe('a rolling bloom filter', () => {
  const random = new Random(77);
  const tweak = (): number => random.u32();
  const data = Array.from({ length: 399 }, () => random.bytes(32));

  it('contains the last hundred items, with about one percent of false positives', () => {
    const filter = new RollingBloomFilter(100, 0.01, tweak);
    for (const item of data) filter.insert(item);
    for (const item of data.slice(299)) expect(filter.contains(item)).toBe(true);
    let hits = 0;
    for (let i = 0; i < 10_000; i++) if (filter.contains(random.bytes(32))) hits++;
    expect(hits).toBeGreaterThan(25);
    expect(hits).toBeLessThan(175);
  });

  it('forgets all after a reset, and uses another tweak', () => {
    const tweaks = [1, 2];
    const filter = new RollingBloomFilter(100, 0.01, () => tweaks.shift()!);
    for (const item of data) filter.insert(item);
    filter.reset();
    expect(tweaks).toEqual([]);
    expect(data.some((item) => filter.contains(item))).toBe(false);
  });

  it('keeps the last hundred items, and forgets the rest', () => {
    const filter = new RollingBloomFilter(100, 0.01, tweak);
    for (const [i, item] of data.entries()) {
      if (i >= 100) expect(filter.contains(data[i - 100]!)).toBe(true);
      filter.insert(item);
      expect(filter.contains(item)).toBe(true);
    }
    for (let i = 0; i < 999; i++) filter.insert(random.bytes(32));
    expect(data.filter((item) => filter.contains(item)).length).toBeLessThan(100);
  });

  it('forgets by generations: an item stays for two and a half at most', () => {
    const filter = new RollingBloomFilter(10, 1e-9, tweak);
    const [first, ...rest] = data;
    filter.insert(first!);
    for (const [i, item] of rest.slice(0, 20).entries()) {
      filter.insert(item);
      // A generation has five items. The first generation is removed when the fourth one begins.
      expect(filter.contains(first!), `${i + 1} items later`).toBe(i + 1 < 15);
    }
  });

  it('scales to more items', () => {
    const filter = new RollingBloomFilter(1000, 0.001, tweak);
    for (const item of data) filter.insert(item);
    expect(data.every((item) => filter.contains(item))).toBe(true);
  });

  it('accepts items of any length', () => {
    const filter = new RollingBloomFilter(120_000, 0.000001, tweak);
    filter.insert(Buffer.alloc(18));
    expect(filter.contains(Buffer.alloc(18))).toBe(true);
    expect(filter.contains(Buffer.alloc(17))).toBe(false);
  });
});
