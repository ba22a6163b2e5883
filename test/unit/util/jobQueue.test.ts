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

  it('lets back in those that stepped aside before all others, and refuses none of them', async () => {
    const queue = new JobQueue(1, 1);
    const order: string[] = [];
    const aside = await queue.enter()!;
    const alsoAside = queue.enter()!;
    aside();
    const running = await alsoAside;
    const newcomer = queue.enter()!.then((leave) => (order.push('new'), leave()));
    const back = ['first', 'second'].map((name) =>
      queue.reenter().then((leave) => (order.push(name), leave())),
    );
    running();
    await Promise.all([...back, newcomer]);
    expect(order).toEqual(['first', 'second', 'new']);
    (await queue.reenter())();
    (await queue.enter()!)();
  });
});
