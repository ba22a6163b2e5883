import { describe, expect, it } from 'vitest';
import { isPromise, whenResolved, type MaybePromise } from '../../../src/util/maybePromise.js';

describe('values that are mostly available', () => {
  it('are used synchronously if they are', () => {
    expect(whenResolved(2, (value) => value + 1)).toBe(3);
    expect(whenResolved(null, (value) => value)).toBeNull();
    expect(whenResolved(undefined, () => 1)).toBe(1);
    expect(isPromise<unknown>({ then: 1 })).toBe(false);
  });

  it('are awaited otherwise', async () => {
    const later: MaybePromise<number> = Promise.resolve(2);
    const used = whenResolved<number, number>(later, (value) => value + 1);
    expect(isPromise(used)).toBe(true);
    expect(await used).toBe(3);
    await expect(
      whenResolved<number, never>(Promise.reject(new Error('no')), () => expect.fail()),
    ).rejects.toThrow('no');
  });
});
