import { describe, expect, it } from 'vitest';
import { Optimizing } from '../../../src/util/optimizing.js';

const LATE = '--interrupt-budget=600000';
const SOON = '--interrupt-budget=67584';

function on(nodeVersion: string) {
  const flags: string[] = [];
  return { flags, optimizing: new Optimizing(nodeVersion, (flag) => flags.push(flag)) };
}

describe('the time at which V8 optimizes code', () => {
  it('is late until the last of several tasks has ended, also if a task fails', async () => {
    const { flags, optimizing } = on('20.20.2');
    optimizing.set('soon');
    let end = (): void => undefined;
    const first = optimizing.late(() => new Promise<void>((resolve) => (end = resolve)));
    await expect(optimizing.late(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(flags.at(-1)).toBe(LATE);
    end();
    await first;
    expect(flags.at(-1)).toBe(SOON);
  });

  it('changes after a task if the program changed it meanwhile', async () => {
    const { flags, optimizing } = on('20.20.2');
    optimizing.set('late');
    await optimizing.late(async () => optimizing.set('soon'));
    expect(flags).toEqual([LATE, LATE, LATE, SOON]);
  });

  it('is left to V8 if the program did not choose it, and by versions of Node.js that count otherwise', async () => {
    const [unset, later] = [on('20.20.2'), on('22.0.0')];
    later.optimizing.set('soon');
    for (const { optimizing } of [unset, later]) expect(await optimizing.late(async () => 7)).toBe(7);
    expect([...unset.flags, ...later.flags]).toEqual([]);
  });
});
