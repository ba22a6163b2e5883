import { describe, expect, it } from 'vitest';
import { SpreadMap } from '../../../src/util/spreadMap.js';

describe('a map split into many', () => {
  it('behaves like a map', () => {
    const spread = new SpreadMap<number>();
    const model = new Map<string, number>();
    const keyOf = (n: number): string =>
      n === 0 ? '' : String.fromCharCode(n & 0xff) + 'a'.repeat(n % 30) + n;
    for (let n = 0; n < 5000; n++) {
      const key = keyOf((n * 7919) % 3000);
      spread.set(key, n);
      model.set(key, n);
    }
    for (let n = 0; n < 6000; n++) {
      const key = keyOf(n);
      expect([spread.has(key), spread.get(key)]).toEqual([model.has(key), model.get(key)]);
    }
  });

  it('has no large part, whether keys differ at their beginning, in their middle or at their end', () => {
    for (const keyOf of [
      (n: number) => `${String(n).padStart(6, '0')}${'x'.repeat(20)}`,
      (n: number) => `${'x'.repeat(10)}${String(n).padStart(6, '0')}${'x'.repeat(10)}`,
      (n: number) => `${'x'.repeat(20)}${String(n).padStart(6, '0')}`,
      (n: number) =>
        Buffer.from([0x76, 0xa9, 20, n >> 8, n & 0xff, ...Buffer.alloc(18), 0x88]).toString('latin1'),
    ]) {
      const spread = new SpreadMap<true>();
      for (let n = 0; n < 25_600; n++) spread.set(keyOf(n), true);
      const sizes = (spread as unknown as { parts: Map<string, true>[] }).parts.map(({ size }) => size);
      expect(sizes).toHaveLength(256);
      expect(Math.max(...sizes)).toBeLessThan(400);
    }
  });
});
