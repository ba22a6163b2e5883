import { describe, expect, it } from 'vitest';
import { JobQueue } from '../../../src/util/jobQueue.js';

describe('JobQueue', () => {
  it('runs up to its width, lets its depth wait in order and refuses the rest', async () => {
    const queue = new JobQueue(2, 2);
    const order: string[] = [];
    const enter = (name: string): Promise<void> | null => {
      const turn = queue.enter();
      void turn?.then(() => order.push(name));
      return turn;
    };
    await enter('first');
    await enter('second');
    const third = enter('third');
    const fourth = enter('fourth');
    expect(enter('fifth')).toBeNull();
    await Promise.resolve();
    expect(order).toEqual(['first', 'second']);
    queue.leave();
    await third;
    expect(order).toEqual(['first', 'second', 'third']);
    expect(queue.enter()).not.toBeNull();
    queue.leave();
    await fourth;
    expect(order).toEqual(['first', 'second', 'third', 'fourth']);
  });

  it('gives a turn at once only while one is free', () => {
    const queue = new JobQueue(1, 1);
    expect(queue.tryEnter()).toBe(true);
    expect(queue.tryEnter()).toBe(false);
    queue.leave();
    expect(queue.tryEnter()).toBe(true);
  });

  it('lets back in those that stepped aside before all others, and refuses none of them', async () => {
    const queue = new JobQueue(1, 1);
    const order: string[] = [];
    await queue.enter();
    const running = queue.enter()!;
    queue.leave();
    await running;
    const newcomer = queue.enter()!.then(() => (order.push('new'), queue.leave()));
    const back = ['first', 'second'].map((name) =>
      queue.reenter().then(() => (order.push(name), queue.leave())),
    );
    queue.leave();
    await Promise.all([...back, newcomer]);
    expect(order).toEqual(['first', 'second', 'new']);
    await queue.reenter();
    queue.leave();
    expect(queue.tryEnter()).toBe(true);
  });

  it('lets newcomers go before a job that gives way, and keeps nobody out', async () => {
    const queue = new JobQueue(1, 9);
    const order: string[] = [];
    await queue.enter();
    expect(queue.giveWay()).toBeNull();
    const newcomers = ['a', 'b', 'c'].map(async (name) => {
      await queue.enter();
      order.push(name);
      queue.leave();
    });
    for (let i = 0; i < 3; i++) {
      await queue.giveWay();
      order.push('long');
    }
    await Promise.all(newcomers);
    // Each newcomer that leaves is followed by one that gave way, or the other way round, by turns.
    expect(order.slice(0, 2)).toEqual(['a', 'long']);
    expect([...order].sort()).toEqual(['a', 'b', 'c', 'long', 'long', 'long']);
    expect(order.indexOf('c')).toBeLessThan(5);
    queue.leave();
    expect(queue.tryEnter()).toBe(true);
  });

  it('lets jobs that gave way go on while newcomers keep coming', async () => {
    const queue = new JobQueue(1, 9);
    const order: string[] = [];
    await queue.enter();
    void queue.enter()!.then(() => order.push('first newcomer'));
    void queue.giveWay()!.then(() => order.push('old'));
    await Promise.resolve();
    void queue.enter()!.then(() => order.push('second newcomer'));
    // The newcomer takes long as well.
    void queue.giveWay()!.then(() => order.push('first newcomer again'));
    await Promise.resolve();
    expect(order).toEqual(['first newcomer', 'old']);
    void queue.giveWay();
    await Promise.resolve();
    expect(order).toEqual(['first newcomer', 'old', 'second newcomer']);
  });
});
