import { describe, expect, it } from 'vitest';
import { FairQueue, type FairQueueOptions } from '../../../src/scheduler/fairQueue.js';

let ms = 0;
const [a, b, c] = [{ name: 'a' }, { name: 'b' }, { name: 'c' }];

function makeQueue(options: Omit<FairQueueOptions, 'nowMs'> = {}): FairQueue<string> {
  ms = 0;
  return new FairQueue({ nowMs: () => ms, ...options });
}

/** All items, in the order in which the queue returns them. */
function drained(queue: FairQueue<string>): string[] {
  const items: string[] = [];
  for (let taken = queue.take(); taken !== undefined; taken = queue.take()) items.push(taken.item);
  return items;
}

describe('FairQueue', () => {
  it('takes items of equal clients in order of arrival', () => {
    const queue = makeQueue();
    queue.add(a, 'a1');
    queue.add(b, 'b1');
    queue.add(a, 'a2');
    queue.add(c, 'c1');
    expect(queue.size).toBe(4);
    expect(drained(queue)).toEqual(['a1', 'b1', 'a2', 'c1']);
    expect(queue.size).toBe(0);
  });

  it('takes the item of the client with the least use first', () => {
    const queue = makeQueue();
    queue.charge(a, 2);
    queue.charge(b, 1);
    for (const client of [a, b, c]) queue.add(client, client.name);
    expect(drained(queue)).toEqual(['c', 'b', 'a']);
  });

  it('multiplies use by weight', () => {
    const queue = makeQueue({ entryMs: 10 });
    queue.charge(b, 10);
    queue.add(a, 'a', 8);
    queue.add(b, 'b', 1);
    expect(drained(queue)).toEqual(['b', 'a']);
  });

  it.each([0, 3_000, 10_000_000, 3e10])('halves uses in a half-life, from %d ms on', (startMs) => {
    const queue = makeQueue({ halfLifeMs: 1000 });
    ms = startMs;
    queue.charge(a, 100);
    queue.add(a, 'a');
    ms += 1000;
    queue.charge(b, 49);
    queue.charge(c, 51);
    queue.add(b, 'b');
    queue.add(c, 'c');
    expect(drained(queue)).toEqual(['b', 'a', 'c']);
  });

  it('forgets old uses', () => {
    const queue = makeQueue({ halfLifeMs: 1000, entryMs: 1 });
    queue.charge(a, 1e6);
    ms = 1e9;
    queue.add(b, 'b');
    queue.add(a, 'a');
    expect(drained(queue)).toEqual(['a', 'b']);
  });

  it('limits the lead of a client that was idle', () => {
    const queue = makeQueue({ creditMs: 4 });
    for (let n = 0; n < 10; n++) {
      queue.add(a, `a${n}`);
      expect(queue.take()!.client).toBe(a);
      queue.charge(a, 10);
    }
    // `b` starts with a cost of 86. `a` has used 100.
    queue.add(b, 'b');
    queue.charge(b, 13);
    queue.add(a, 'a');
    queue.add(b, 'b');
    expect(queue.take()!.item).toBe('b');
    queue.charge(b, 2);
    expect(queue.take()!.item).toBe('a');
  });

  it('skips items that are not eligible', () => {
    const queue = makeQueue();
    queue.add(a, 'long');
    queue.add(a, 'short');
    const isShort = (item: string): boolean => item === 'short';
    expect(queue.take(isShort)).toEqual({ client: a, item: 'short' });
    expect(queue.take(isShort)).toBeUndefined();
    expect([...queue.items()]).toEqual(['long']);
  });

  it('removes an item, and the last one of the client with the most', () => {
    const queue = makeQueue();
    for (const item of ['a1', 'a2', 'a3']) queue.add(a, item);
    queue.add(b, 'b1');
    queue.remove(a, 'a2');
    queue.remove(c, 'none');
    expect(queue.isAlone(a)).toBe(false);
    expect(queue.takeLast()).toBe('a3');
    expect(queue.takeLast()).toBe('b1');
    expect(queue.isAlone(a)).toBe(true);
    expect(queue.takeLast()).toBe('a1');
    expect(queue.takeLast()).toBeUndefined();
  });
});
