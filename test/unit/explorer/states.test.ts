import { describe, expect, it } from 'vitest';
import { SyncClock } from '../../../src/explorer/syncClock.js';
import { takenFrom, withoutOld } from '../../../src/explorer/takenBlocks.js';
import { packed, RenderedCache, renderedOf } from '../../../src/explorer/rendered.js';

describe('time to the end of a sync', () => {
  it('is unknown at first, then follows from the blocks of the last minute', () => {
    const clock = new SyncClock();
    expect(clock.note(100, 1100, 0)).toBeNull();
    expect(clock.note(110, 1100, 4999)).toBeNull();
    expect(clock.note(200, 1100, 10_000)).toBe(90);
    expect(clock.note(200, 1100, 20_000)).toBe(180);
    expect(clock.note(300, 1100, 75_000)).toBe(440);
    // Samples of more than a minute ago do not count.
    expect(clock.note(400, 1100, 85_000)).toBe(70);
  });

  it('is measured again after a reorganisation', () => {
    const clock = new SyncClock();
    clock.note(100, 1000, 0);
    expect(clock.note(50, 1000, 10_000)).toBeNull();
    expect(clock.note(60, 1000, 20_000)).toBe(940);
  });
});

describe('blocks that a reorganisation disconnected', () => {
  const block = (height: number, claimId = 'aa') => ({
    height,
    hash: `hash${height}`,
    events: [{ event: 'claim', nameHex: '61', claimId }],
  });

  it('are marked near the tip, on pages that they touched', () => {
    const taken = [block(20), block(19, 'bb'), block(11), block(10)];
    expect(withoutOld(taken, 20).map(({ height }) => height)).toEqual([20, 19, 11]);
    expect(takenFrom(taken, ({ claimId }) => claimId === 'bb')).toEqual([block(19, 'bb')]);
    expect(takenFrom(taken, ({ nameHex }) => nameHex === '62')).toEqual([]);
  });
});

describe('kept answers', () => {
  const page = (size: number) => renderedOf(200, 'text/html', Buffer.alloc(size, 'x'), {});

  it('are the least recently used ones, within a memory limit', () => {
    const cache = new RenderedCache(3000);
    for (const key of ['a', 'b', 'c']) cache.put(key, page(1000));
    cache.get('a');
    cache.put('d', page(1000));
    expect(['a', 'b', 'c', 'd'].map((key) => cache.get(key) !== undefined)).toEqual([
      true,
      false,
      true,
      true,
    ]);
    cache.put('d', page(2500));
    expect(['a', 'c', 'd'].map((key) => cache.get(key) !== undefined)).toEqual([false, false, true]);
  });

  it('count with their compressed forms, which displace the least recently used ones', () => {
    const cache = new RenderedCache(10_450);
    const [old, one] = [page(5000), page(5000)];
    cache.put('old', old);
    cache.put('one', one);
    expect(cache.sizeBytes).toBe(10_000);
    const bytes = packed(one, 'br').length + packed(one, 'gzip').length;
    packed(one, 'br');
    expect(cache.sizeBytes).toBe(10_000 + bytes);
    cache.put('two', page(450));
    expect(['old', 'one', 'two'].map((key) => cache.has(key))).toEqual([false, true, true]);
    cache.delete('one');
    expect(cache.sizeBytes).toBe(450);
    // A response that has left the cache is not counted any more.
    packed(old, 'gzip');
    packed(one, 'gzip');
    expect(cache.sizeBytes).toBe(450);
    // A response that is compressed already counts with all its bytes.
    cache.put('one', one);
    expect(cache.sizeBytes).toBe(5450 + bytes);
  });

  it('are displaced when the compressed form of another one is made', () => {
    const cache = new RenderedCache(10_000);
    const one = page(5000);
    cache.put('one', one);
    cache.put('two', page(5000));
    packed(one, 'gzip');
    expect([cache.has('one'), cache.has('two')]).toEqual([true, false]);
    expect(cache.sizeBytes).toBe(5000 + packed(one, 'gzip').length);
  });

  it('are compressed once', () => {
    const one = page(5000);
    expect(packed(one, 'br')).toBe(packed(one, 'br'));
    expect(packed(one, 'gzip').length).toBeLessThan(200);
    expect(packed(one, '')).toBe(one.body);
  });
});
