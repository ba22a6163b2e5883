import { describe, expect, it } from 'vitest';
import { PriorityLock } from '../../../src/scheduler/priorityLock.js';

describe('a lock with an owner', () => {
  it('passes to the owner first, then to the others in order', async () => {
    const lock = new PriorityLock();
    const order: string[] = [];
    await lock.acquire();
    const first = lock.run(async () => order.push('first'));
    const second = lock.run(async () => order.push('second'));
    expect(order).toEqual([]);
    lock.release();
    const owner = lock.acquire().then(() => {
      order.push('owner');
      lock.release();
    });
    await Promise.all([first, second, owner]);
    expect(order).toEqual(['first', 'owner', 'second']);
  });

  it('passes on after a task that fails', async () => {
    const lock = new PriorityLock();
    const failed = lock.run(() => Promise.reject(new Error('no')));
    const next = lock.run(() => Promise.resolve('next'));
    await expect(failed).rejects.toThrow('no');
    expect(await next).toBe('next');
    await lock.acquire();
    lock.release();
  });
});
