import { describe, expect, it } from 'vitest';
import { isPromise, whenSoon, type Soon } from '../../../src/util/soon.js';

describe('values that are mostly at hand', () => {
  it('are used in the same turn when they are', () => {
    expect(whenSoon(2, (value) => value + 1)).toBe(3);
    expect(whenSoon(null, (value) => value)).toBeNull();
    expect(whenSoon(undefined, () => 1)).toBe(1);
    expect(isPromise<unknown>({ then: 1 })).toBe(false);
  });

  it('are waited for when they are not', async () => {
    const later: Soon<number> = Promise.resolve(2);
    const used = whenSoon<number, number>(later, (value) => value + 1);
    expect(isPromise(used)).toBe(true);
    expect(await used).toBe(3);
    await expect(
      whenSoon<number, never>(Promise.reject(new Error('no')), () => expect.fail()),
    ).rejects.toThrow('no');
  });
});
