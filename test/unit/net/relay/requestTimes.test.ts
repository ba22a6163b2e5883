import { describe, expect, it } from 'vitest';
import { RequestTimes } from '../../../../src/net/relay/requestTimes.js';

describe('times of requests', () => {
  it('keep the latest of a limited number, each once', () => {
    const times = new RequestTimes(4);
    for (const [i, key] of ['a', 'b', 'c', 'a'].entries()) times.set(key, i);
    expect(times.size).toBe(3);
    expect(['a', 'b', 'c'].map((key) => times.get(key))).toEqual([3, 1, 2]);
    for (const [i, key] of ['d', 'e', 'f', 'g', 'h'].entries()) {
      times.set(key, 10 + i);
      expect(times.size).toBeLessThanOrEqual(4);
    }
    expect(['a', 'b', 'c', 'd'].map((key) => times.get(key))).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect(['f', 'g', 'h'].map((key) => times.get(key))).toEqual([12, 13, 14]);
  });

  it('are removed when the transaction has arrived', () => {
    const times = new RequestTimes(4);
    for (const key of ['a', 'b', 'c']) times.set(key, 1);
    for (const key of ['a', 'c']) times.delete(key);
    expect(['a', 'b', 'c'].map((key) => times.get(key))).toEqual([undefined, 1, undefined]);
    expect(times.size).toBe(1);
  });
});
