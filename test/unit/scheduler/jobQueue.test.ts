import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { SLICE_MS } from '../../../src/util/slices.js';
import { JobQueue } from '../../../src/scheduler/jobQueue.js';

describe('JobQueue', () => {
  it('runs jobs up to its width, queues up to its depth and refuses the rest', async () => {
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

  it('grants a turn synchronously only while one is free', () => {
    const queue = new JobQueue(1, 1);
    expect(queue.tryEnter()).toBe(true);
    expect(queue.tryEnter()).toBe(false);
    queue.leave();
    expect(queue.tryEnter()).toBe(true);
  });

  it('resumes jobs that paused before all others, and refuses none of them', async () => {
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

  /** A queue with a clock of its own, in which jobs are known by name. */
  function makeLine(width: number) {
    const clock = { ms: 0, isOverdue: false, slice: Promise.resolve() };
    const queue = new JobQueue(width, 99, {
      nowMs: () => clock.ms,
      isOverdue: () => clock.isOverdue,
      next: () => clock.slice.then(() => clock.ms),
    });
    const order: string[] = [];
    const note = (name: string) => () => void order.push(name);
    return {
      clock,
      queue,
      order,
      enter: (name: string) => queue.enter()!.then(note(name)),
      /** Returns whether the job must wait. */
      giveWay(arrival: number, name: string): boolean {
        const turn = queue.giveWay(arrival);
        void turn?.then(note(name));
        return turn !== null;
      },
      async settle() {
        for (let i = 0; i < 10; i++) await Promise.resolve();
        return order.splice(0);
      },
    };
  }

  it('starts all short new jobs before a job that yielded continues', async () => {
    const { queue, enter, giveWay, settle } = makeLine(1);
    const long = queue.nextArrival();
    await enter('long');
    expect(giveWay(long, 'long')).toBe(false);
    for (const name of ['a', 'b', 'c']) void enter(name).then(() => queue.leave());
    expect(giveWay(long, 'long')).toBe(true);
    expect(await settle()).toEqual(['long', 'a', 'b', 'c', 'long']);
    queue.leave();
    expect(queue.tryEnter()).toBe(true);
  });

  it('continues yielded jobs for a slice each while new jobs arrive', async () => {
    const { clock, queue, enter, giveWay, settle } = makeLine(1);
    const long = queue.nextArrival();
    await enter('long');
    for (let i = 0; i < 9; i++) {
      void enter(`newcomer`).then(() => {
        clock.ms += SLICE_MS / 3;
        queue.leave();
      });
    }
    expect(giveWay(long, 'long')).toBe(true);
    expect(await settle()).toEqual(['long', 'newcomer', 'newcomer', 'newcomer', 'long']);
    expect(giveWay(long, 'long')).toBe(true);
    expect(await settle()).toEqual(['newcomer', 'newcomer', 'newcomer', 'long']);
  });

  it('continues long jobs in the order of arrival', async () => {
    const { clock, queue, enter, giveWay, settle } = makeLine(1);
    const [first, second, third] = [queue.nextArrival(), queue.nextArrival(), queue.nextArrival()];
    await enter('first');
    void enter('second');
    void enter('third');
    // Each new job gets a slice, while the earlier ones wait.
    expect(giveWay(first, 'first')).toBe(true);
    expect(await settle()).toEqual(['first', 'second']);
    clock.ms += SLICE_MS;
    expect(giveWay(second, 'second')).toBe(true);
    expect(await settle()).toEqual(['first']);
    expect(giveWay(first, 'first')).toBe(true);
    expect(await settle()).toEqual(['third']);
    clock.ms += SLICE_MS;
    expect(giveWay(third, 'third')).toBe(true);
    expect(await settle()).toEqual(['first']);
    // The first job continues without waiting. Each of the others runs to its end before the next one continues.
    expect(giveWay(first, 'first')).toBe(false);
    queue.leave();
    expect(await settle()).toEqual(['second']);
    expect(giveWay(second, 'second')).toBe(false);
    queue.leave();
    expect(await settle()).toEqual(['third']);
    queue.leave();
    expect(queue.runningCount).toBe(0);
  });

  it('puts a paused long job back in its former position', async () => {
    const { queue, order, enter, giveWay, settle } = makeLine(1);
    const [first, second, third] = [queue.nextArrival(), queue.nextArrival(), queue.nextArrival()];
    await enter('third');
    void queue.reenterLong(second).then(() => order.push('second'));
    void queue.reenterLong(first).then(() => order.push('first'));
    expect(giveWay(third, 'third')).toBe(true);
    queue.leave();
    expect(await settle()).toEqual(['third', 'first', 'second']);
    queue.leave();
    expect(await settle()).toEqual(['third']);
  });

  it('delays new jobs for a slice that is due to others, and starts as many as it has places', async () => {
    const { clock, queue, order, settle } = makeLine(4);
    let begin: () => void = () => undefined;
    clock.slice = new Promise<void>((resolve) => (begin = resolve));
    clock.isOverdue = true;
    expect(queue.tryEnter()).toBe(false);
    for (const name of ['a', 'b', 'c']) {
      void queue.enter()!.then(() => {
        order.push(name);
        clock.ms += SLICE_MS / 2;
        queue.leave();
      });
    }
    expect(await settle()).toEqual([]);
    begin();
    clock.slice = new Promise<void>((resolve) => (begin = resolve));
    await turn();
    expect(await settle()).toEqual(['a', 'b']);
    clock.isOverdue = false;
    // Later jobs do not overtake them.
    expect(queue.tryEnter()).toBe(false);
    begin();
    await turn();
    expect(await settle()).toEqual(['c']);
    expect(queue.tryEnter()).toBe(true);
  });
});
