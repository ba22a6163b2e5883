import { describe, expect, it } from 'vitest';
import { JobQueue } from '../../../src/util/jobQueue.js';

describe('JobQueue', () => {
  it('runs up to its width, lets its depth wait in order and refuses the rest', async () => {
    const queue = new JobQueue(2, 2);
    const order: string[] = [];
    const enter = (name: string): Promise<() => void> | null => {
      const turn = queue.enter();
      void turn?.then(() => order.push(name));
      return turn;
    };
    const first = await enter('first')!;
    const second = await enter('second')!;
    const third = enter('third');
    const fourth = enter('fourth');
    expect(enter('fifth')).toBeNull();
    await Promise.resolve();
    expect(order).toEqual(['first', 'second']);
    second();
    second();
    await third;
    expect(order).toEqual(['first', 'second', 'third']);
    expect(queue.enter()).not.toBeNull();
    first();
    (await third!)();
    (await fourth!)();
    expect(order).toEqual(['first', 'second', 'third', 'fourth']);
  });
});
