import { describe, expect, it } from 'vitest';
import { Heap } from '../../../../src/net/relay/heap.js';
import { seededRandom } from './support.js';

const ascending = (a: number, b: number): number => a - b;

describe('heap', () => {
  it('returns elements in order, for any initial and added elements', () => {
    const random = seededRandom(7);
    for (let round = 0; round < 200; round++) {
      const numbers = (): number[] => Array.from({ length: random.int(40) }, () => random.int(30));
      const first = numbers();
      const heap = new Heap(ascending, [...first]);
      const model = [...first];
      for (const number of numbers()) {
        if (random.int(3) === 0) {
          model.sort(ascending);
          expect(heap.peek()).toBe(model[0]);
          expect(heap.pop()).toBe(model.shift());
        } else {
          heap.push(number);
          model.push(number);
        }
        expect(heap.size).toBe(model.length);
      }
      const rest: number[] = [];
      for (let next = heap.pop(); next !== undefined; next = heap.pop()) rest.push(next);
      expect(rest).toEqual(model.sort(ascending));
    }
  });
});
