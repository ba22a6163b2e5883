import { describe, expect, it } from 'vitest';
import { BoundedMap } from '../../../src/util/boundedMap.js';

describe('a bounded map', () => {
  it('drops the least recently used entries, and never exceeds its limit', () => {
    const map = new BoundedMap<string, number>(10);
    map.set('a', 1, 4);
    map.set('b', 2, 4);
    expect(map.get('a')).toBe(1);
    map.set('c', 3, 4);
    expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([1, undefined, 3]);
    map.set('d', 4, 11);
    expect([map.get('d'), map.size]).toEqual([undefined, 8]);
    map.set('a', 5, 1);
    expect([map.get('a'), map.size]).toEqual([5, 5]);
    map.clear();
    expect([map.get('a'), map.size]).toEqual([undefined, 0]);
  });
});
