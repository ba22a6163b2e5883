/** What wrong passwords cost, in a time that the test holds in its hands. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { WrongPasswords } from '../../../src/server/wrongPasswords.js';

let guard: WrongPasswords;
beforeEach(() => {
  vi.useFakeTimers();
  guard = new WrongPasswords();
});
afterEach(() => {
  guard.close();
  vi.useRealTimers();
});

/** Counts the answers of so many attempts, each with its outcome. */
function attempts(address: string, count: number): { answered: number; cut: number } {
  const outcome = { answered: 0, cut: 0 };
  for (let i = 0; i < count; i++)
    void guard.cost(address).then((mayAnswer) => (mayAnswer ? outcome.answered++ : outcome.cut++));
  return outcome;
}

describe('wrong passwords', () => {
  it('are answered four a second to one caller, however many connections it has', async () => {
    const outcome = attempts('10.0.0.1', 200);
    await vi.advanceTimersByTimeAsync(249);
    expect(outcome).toEqual({ answered: 0, cut: 0 });
    await vi.advanceTimersByTimeAsync(1);
    expect(outcome.answered).toBe(1);
    await vi.advanceTimersByTimeAsync(9750);
    expect(outcome).toEqual({ answered: 40, cut: 0 });
  });

  it('hold no other caller up', async () => {
    attempts('10.0.0.1', 200);
    const other = attempts('10.0.0.2', 2);
    await vi.advanceTimersByTimeAsync(500);
    expect(other.answered).toBe(2);
  });

  it('count for one caller by both ways of writing its address, and by the network in IPv6', async () => {
    const callers = ['10.0.0.1', '::ffff:10.0.0.1', '2001:db8::1', '2001:db8::ffff:2', '2001:db8:0:1::1'];
    const outcomes = callers.map((address) => attempts(address, 1));
    expect(guard.callers).toBe(3);
    await vi.advanceTimersByTimeAsync(250);
    expect(outcomes.map(({ answered }) => answered)).toEqual([1, 0, 1, 0, 1]);
  });

  it('wait in bounded number: who is too many is cut off', async () => {
    const one = attempts('10.0.0.1', 1000);
    await Promise.resolve();
    expect(one).toEqual({ answered: 0, cut: 1000 - 256 });
    expect([guard.isFull('10.0.0.1'), guard.isFull('10.0.0.2')]).toEqual([true, false]);
    const others = Array.from({ length: 5000 }, (_, i) => attempts(`10.1.${i >> 8}.${i & 255}`, 1));
    await Promise.resolve();
    expect(others.reduce((sum, { cut }) => sum + cut, 0)).toBe(5000 - (4096 - 256));
    expect(guard.callers).toBe(4096 - 256 + 1);
    expect(guard.isFull('10.0.0.2')).toBe(true);
  });

  it('leave nothing behind', async () => {
    attempts('10.0.0.1', 3);
    await vi.advanceTimersByTimeAsync(750);
    expect(guard.callers).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('are answered at once at the end', async () => {
    const outcome = attempts('10.0.0.1', 5);
    guard.close();
    await Promise.resolve();
    expect(outcome).toEqual({ answered: 5, cut: 0 });
    expect(vi.getTimerCount()).toBe(0);
  });
});
