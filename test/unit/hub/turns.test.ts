import { setImmediate as round } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Turns } from '../../../src/hub/turns.js';

/** The time of these tests, which passes by work only. */
let nowMs = 0;
const busy = (ms: number): void => void (nowMs += ms);

beforeEach(() => {
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
});
afterEach(() => {
  vi.restoreAllMocks();
});

describe('Turns', () => {
  it('give every client one request in turn, however many one has', async () => {
    const turns = new Turns();
    const holders = await Promise.all([1, 2, 3, 4].map((n) => turns.enter({ n })));
    const order: string[] = [];
    const wait = async (client: { name: string }): Promise<void> => {
      const turn = await turns.enter(client);
      order.push(client.name);
      turn.leave();
    };
    const [greedy, honest, other] = [{ name: 'greedy' }, { name: 'honest' }, { name: 'other' }];
    const all = [greedy, greedy, greedy, greedy, honest, other].map(wait);
    expect(turns.waitingCount).toBe(6);
    for (const turn of holders) turn.leave();
    await Promise.all(all);
    expect(order.slice(0, 3)).toEqual(['greedy', 'honest', 'other']);
    expect(turns.waitingCount).toBe(0);
  });

  it('let others work while one works long, or waits', async () => {
    const turns = new Turns();
    const long = async (client: object): Promise<void> => {
      const turn = await turns.enter(client);
      for (let n = 0; n < 30; n++) {
        busy(1);
        const breath = turn.breathe();
        if (breath !== null) await breath;
      }
      turn.leave();
    };
    const beganMs = nowMs;
    let quickAfterMs = 0;
    const quick = async (): Promise<void> => {
      (await turns.enter({})).leave();
      quickAfterMs = nowMs - beganMs;
    };
    const all = Array.from({ length: 8 }, () => long({}));
    await round();
    await Promise.all([...all, quick()]);
    // One that wants little need not wait for half of what the others take together.
    expect(quickAfterMs).toBeLessThan((nowMs - beganMs) / 2);

    const waiting = await Promise.all([1, 2, 3, 4].map(() => turns.enter({})));
    let release = (): void => undefined;
    const outside = waiting[0]!.outside(() => new Promise<void>((resolve) => (release = resolve)));
    const fifth = await turns.enter({});
    fifth.leave();
    release();
    await outside;
    for (const turn of waiting) turn.leave();
  });

  it('keep count when parts of one turn wait beside each other and it ends meanwhile', async () => {
    const turns = new Turns();
    for (let n = 0; n < 20; n++) {
      const turn = await turns.enter({});
      const parts = [turn.outside(() => round()), turn.outside(() => round()), turn.outside(() => round())];
      if (n % 2 === 0) turn.leave();
      await Promise.all(parts);
      turn.leave();
    }
    // All places are free again, and no more than there are.
    const holders = await Promise.all([1, 2, 3, 4].map(() => turns.enter({})));
    let hasFifth = false;
    const fifth = turns.enter({}).then((turn) => {
      hasFifth = true;
      turn.leave();
    });
    await round();
    expect(hasFifth).toBe(false);
    for (const turn of holders) turn.leave();
    await fifth;
  });
});
