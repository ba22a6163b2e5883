import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { breathe, nextTurn } from '../../../src/net/breathe.js';

describe('the time of the loop', () => {
  it('is kept by who has not used up a slice', () => {
    // A slice that begins later is not used up however slow the machine is.
    const since = performance.now() + 60_000;
    expect(breathe(since)).toBe(since);
    expect(breathe(performance.now() - 1000)).toBeInstanceOf(Promise);
  });

  it('goes to one after the other of those who wait, and to all others in between', async () => {
    const order: string[] = [];
    let turns = 0;
    let isOver = false;
    const others = async (): Promise<void> => {
      for (; !isOver; turns++) await turn();
    };
    const turnsAt: number[] = [];
    const hog = async (name: string): Promise<void> => {
      let since = performance.now() - 1000;
      for (let slice = 0; slice < 4; slice++) {
        since = await breathe(since);
        order.push(name);
        turnsAt.push(turns);
        since -= 1000;
      }
    };
    const running = others();
    await Promise.all(['a', 'b', 'c'].map(hog));
    isOver = true;
    await running;
    expect(order.join('')).toBe('abcabcabcabc');
    expect(new Set(turnsAt).size).toBe(order.length);
  });

  it('begins anew with the slice', async () => {
    const before = performance.now();
    expect(await nextTurn()).toBeGreaterThanOrEqual(before);
  });
});
