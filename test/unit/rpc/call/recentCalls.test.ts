/** Which calls are repeated after a block, and for how long in total. */
import { describe, expect, it } from 'vitest';
import type { RpcMethod } from '../../../../src/rpc/declare/method.js';
import { RecentCalls } from '../../../../src/rpc/call/recentCalls.js';

const CALL = { method: {} as RpcMethod, profile: 'documented', params: [] } as const;
const keysOf = (calls: RecentCalls): string[] => calls.nextBlock().map(([key]) => key);

describe('recent calls', () => {
  it('are repeated the most recent first, without the fast ones', () => {
    const calls = new RecentCalls();
    for (const [key, ms] of [
      ['a', 1],
      ['fast', 0.05],
      ['b', 1],
    ] as const)
      calls.note(key, CALL, ms);
    expect(keysOf(calls)).toEqual(['b', 'a']);
    calls.note('a', CALL, 1);
    expect(keysOf(calls)).toEqual(['a', 'b']);
  });

  it('stay in the list when they get faster, with their latest duration', () => {
    const calls = new RecentCalls();
    calls.note('a', CALL, 1);
    calls.note('a', CALL, 0.05);
    for (let n = 0; n < 30; n++) calls.note(`${n}`, CALL, 7);
    for (let block = 0; block < 3; block++) keysOf(calls);
    expect(keysOf(calls)).toEqual(['29', '28', 'a']);
    for (let n = 0; n < 30; n++) calls.repeated(`${n}`, 0.05);
    calls.repeated('unknown', 1);
    expect(keysOf(calls)).toHaveLength(31);
  });

  it('take 100 ms at most, and 20 ms if no client made them after the latest two blocks', () => {
    const calls = new RecentCalls();
    for (let n = 0; n < 30; n++) calls.note(`${n}`, CALL, 7);
    calls.note('long', CALL, 101);
    for (let block = 0; block < 2; block++) expect(keysOf(calls)).toHaveLength(14);
    expect(keysOf(calls)).toEqual(['29', '28']);
    calls.touch('3');
    calls.note('short', CALL, 6);
    expect(keysOf(calls)).toEqual(['short', '29', '28', '3']);
  });

  it('are removed after 16 blocks without a request, and beyond 64 calls', () => {
    const calls = new RecentCalls();
    for (let n = 0; n < 70; n++) calls.note(`${n}`, CALL, 0.2);
    expect(calls.size).toBe(64);
    for (let block = 0; block < 16; block++) expect(keysOf(calls)[0]).toBe('69');
    calls.touch('10');
    expect(keysOf(calls)).toEqual(['10']);
    expect(calls.size).toBe(1);
  });
});
