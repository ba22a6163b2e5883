/** Results that several callers share. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { shared } from '../../../src/util/shared.js';

describe('a shared result', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it('is computed once for concurrent and closely following callers, and again later', async () => {
    let nowMs = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
    const runs: ((value: number) => void)[] = [];
    const ask = shared(() => new Promise<number>((resolve) => runs.push(resolve)), 100);
    const first = ask();
    nowMs = 500;
    const second = ask();
    expect(runs.length).toBe(1);
    runs[0]?.(1);
    expect(await Promise.all([first, second])).toEqual([1, 1]);
    const third = ask();
    expect(runs.length).toBe(2);
    runs[1]?.(2);
    nowMs = 599;
    expect(await third).toBe(2);
    expect(await ask()).toBe(2);
    nowMs = 600;
    void ask();
    expect(runs.length).toBe(3);
  });

  it('keeps no failure', async () => {
    let runs = 0;
    const ask = shared(() => {
      runs++;
      return runs === 1 ? Promise.reject(new Error('no')) : Promise.resolve(runs);
    }, 100);
    const [first, second] = [ask(), ask()];
    await expect(first).rejects.toThrow('no');
    await expect(second).rejects.toThrow('no');
    expect(await ask()).toBe(2);
  });
});
