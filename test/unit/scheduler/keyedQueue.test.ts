import { expect, it } from 'vitest';
import { KeyedQueue } from '../../../src/scheduler/keyedQueue.js';

it('runs tasks of one key in sequence, also after failures, and forgets keys without tasks', async () => {
  const queue = new KeyedQueue();
  const seen: string[] = [];
  const ends: (() => void)[] = [];
  const task = (name: string) => async (): Promise<string> => {
    seen.push(name);
    await new Promise<void>((resolve) => ends.push(resolve));
    if (name === 'a1') throw new Error(name);
    return name;
  };
  const a1 = queue.run('a', task('a1'));
  const a2 = queue.run('a', task('a2'));
  const b = queue.run('b', task('b'));
  const ended = Promise.allSettled([a1, a2, b]);
  await Promise.resolve();
  await Promise.resolve();
  expect([seen, queue.size]).toEqual([['a1', 'b'], 2]);
  ends.shift()!();
  await expect(a1).rejects.toThrow('a1');
  expect(seen).toEqual(['a1', 'b', 'a2']);
  for (const end of ends) end();
  expect(await ended).toMatchObject([{ status: 'rejected' }, { value: 'a2' }, { value: 'b' }]);
  expect(queue.size).toBe(0);
});
