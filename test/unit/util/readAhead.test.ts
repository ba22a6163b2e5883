/** Reading one item of an iteration ahead. */
import { expect, it } from 'vitest';
import { readAhead } from '../../../src/util/readAhead.js';

/** An iteration over numbers that records its events; it fails at the number `failsAt`. */
function numbers(count: number, failsAt = Infinity) {
  const events: string[] = [];
  async function* items(): AsyncGenerator<number> {
    try {
      for (let n = 0; n < count; n++) {
        events.push(`read ${n}`);
        if (n === failsAt) throw new Error(`no ${n}`);
        yield n;
      }
    } finally {
      events.push('end');
    }
  }
  return { events, items: items() };
}

async function take(source: AsyncIterable<number>, events: string[], most = Infinity): Promise<void> {
  for await (const n of readAhead(source)) {
    // The next item is read while this one is used.
    await new Promise(setImmediate);
    events.push(`use ${n}`);
    if (n + 1 === most) return;
  }
}

it('reads each item while the previous one is used, and none twice', async () => {
  const { events, items } = numbers(3);
  await take(items, events);
  expect(events).toEqual(['read 0', 'read 1', 'use 0', 'read 2', 'use 1', 'end', 'use 2']);
});

it('throws an error only when its item is taken, and ends the iteration', async () => {
  const { events, items } = numbers(3, 2);
  await expect(take(items, events)).rejects.toThrow('no 2');
  expect(events).toEqual(['read 0', 'read 1', 'use 0', 'read 2', 'end', 'use 1']);
});

it('ends the iteration if the caller stops early', async () => {
  const { events, items } = numbers(5);
  await take(items, events, 2);
  expect(events).toEqual(['read 0', 'read 1', 'use 0', 'read 2', 'use 1', 'end']);
});
