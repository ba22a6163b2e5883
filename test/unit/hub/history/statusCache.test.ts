import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { StatusCache, type Confirmed } from '../../../../src/hub/history/statusCache.js';

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

function hashed(cache: StatusCache, key: string, text: string, count: number, lastHeight: number): Confirmed {
  const confirmed = cache.resume(key);
  confirmed.hash.update(text);
  confirmed.count += count;
  confirmed.lastHeight = lastHeight;
  cache.keep(key, confirmed);
  return confirmed;
}

describe('StatusCache', () => {
  it('continues from where a history ended', () => {
    const cache = new StatusCache();
    hashed(cache, 'a', 'one', 40, 7);
    expect(cache.status('a', 40, '')).toBe(digest('one'));
    expect(cache.status('a', 40, 'waiting')).toBe(digest('onewaiting'));
    expect(cache.status('a', 41, '')).toBeUndefined();
    expect(cache.resume('a')).toMatchObject({ count: 40, lastHeight: 7 });
    hashed(cache, 'a', 'two', 1, 9);
    expect(cache.status('a', 41, 'x')).toBe(digest('onetwox'));
  });

  it('keeps only the digest of short histories', () => {
    const cache = new StatusCache();
    hashed(cache, 'a', 'one', 3, 7);
    expect(cache.status('a', 3, '')).toBe(digest('one'));
    expect(cache.status('a', 3, 'waiting')).toBeUndefined();
    expect(cache.resume('a')).toMatchObject({ count: 0, lastHeight: -1 });
  });

  it('drops entries of a disconnected block, and no others', () => {
    const cache = new StatusCache();
    hashed(cache, 'low', 'l', 40, 5);
    hashed(cache, 'high', 'h', 40, 9);
    cache.noteDisconnected(10);
    expect(cache.status('high', 40, '')).toBe(digest('h'));
    cache.noteDisconnected(9);
    expect(cache.status('high', 40, '')).toBeUndefined();
    expect(cache.status('low', 40, '')).toBe(digest('l'));
    // A status that was computed after the disconnect is kept.
    hashed(cache, 'high', 'other', 40, 9);
    expect(cache.status('high', 40, '')).toBe(digest('other'));
    for (let n = 0; n < 1001; n++) cache.noteDisconnected(1000);
    expect(cache.status('low', 40, '')).toBeUndefined();
  });

  it('is limited, and keeps the most recently used ones', () => {
    const cache = new StatusCache(3, 2);
    for (const key of ['a', 'b', 'c']) hashed(cache, key, key, 40, 1);
    expect(cache.status('a', 40, '')).toBe(digest('a'));
    hashed(cache, 'd', 'd', 40, 1);
    expect(['a', 'b', 'c', 'd'].map((key) => cache.status(key, 40, '') !== undefined)).toEqual([
      true,
      false,
      true,
      true,
    ]);
    expect(cache.status('d', 40, 'x')).toBe(digest('dx'));
    expect(cache.status('a', 40, 'x')).toBeUndefined();
  });
});
