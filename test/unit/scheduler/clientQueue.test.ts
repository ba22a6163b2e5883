import { setImmediate as round } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { ClientQueue } from '../../../src/scheduler/clientQueue.js';

const GREEDY = 200;
/** Maximum number of clients that are served at the same time. */
const PLACES = 4;

/** A clock that the tasks of a test advance. */
class Clock {
  ms = 0;
  readonly now = (): number => this.ms;
}

describe('ClientQueue', () => {
  it('serves the clients in turn, however many requests one has', async () => {
    const turns = new ClientQueue();
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

  it('serves others while one request runs long, or waits', async () => {
    const clock = new Clock();
    const turns = new ClientQueue(clock.now);
    const long = async (client: object): Promise<void> => {
      const turn = await turns.enter(client);
      for (let n = 0; n < 30; n++) {
        clock.ms += 1;
        const pause = turn.yieldIfDue();
        if (pause !== null) await pause;
      }
      turn.leave();
    };
    let quickAtMs = Infinity;
    const quick = async (): Promise<void> => {
      (await turns.enter({})).leave();
      quickAtMs = clock.ms;
    };
    const all = Array.from({ length: 8 }, () => long({}));
    await round();
    await Promise.all([...all, quick()]);
    expect(clock.ms).toBe(8 * 30);
    // A client with little work waits less than half of the total time.
    expect(quickAtMs).toBeLessThan(clock.ms / 2);

    const waiting = await Promise.all([1, 2, 3, 4].map(() => turns.enter({})));
    let release = (): void => undefined;
    const outside = waiting[0]!.outside(() => new Promise<void>((resolve) => (release = resolve)));
    const fifth = await turns.enter({});
    fifth.leave();
    release();
    await outside;
    for (const turn of waiting) turn.leave();
  });

  it('serves a client with one small request before hundreds of busy clients', async () => {
    const clock = new Clock();
    const turns = new ClientQueue(clock.now);
    let isOver = false;
    let slices = 0;
    const greedy = async (client: object): Promise<void> => {
      while (!isOver) {
        const turn = await turns.enter(client);
        for (let n = 0; n < 25 && !isOver; n++) {
          clock.ms += 4;
          slices++;
          await turn.yieldIfDue();
        }
        turn.leave();
      }
    };
    const clients = Array.from({ length: GREEDY }, () => ({}));
    const all = clients.flatMap((client) => [1, 2].map(() => greedy(client)));
    const honest = {};
    const waits: number[] = [];
    for (let asked = 0; asked < 30; asked++) {
      const before = slices;
      const turn = await turns.enter(honest);
      waits.push(slices - before);
      clock.ms += 1;
      turn.leave();
      for (const until = slices + GREEDY; slices < until;) await round();
    }
    isOver = true;
    await Promise.all(all);
    // Once it waits behind the earlier clients. After that, only clients that run when it arrives are served before it.
    expect(waits[0]).toBeLessThanOrEqual(GREEDY + PLACES);
    expect(Math.max(...waits.slice(1))).toBeLessThanOrEqual(2 * PLACES);
  });

  it('serves a client with one request before new clients with many', async () => {
    const turns = new ClientQueue(new Clock().now);
    const holders = await Promise.all([1, 2, 3, 4].map((n) => turns.enter({ n })));
    const order: string[] = [];
    const wait = async (name: string, weight: number): Promise<void> => {
      const turn = await turns.enter({}, weight);
      order.push(name);
      turn.leave();
    };
    const all = Array.from({ length: 100 }, (_, n) => wait(`greedy ${n}`, 8));
    const honest = wait('honest', 1);
    for (const turn of holders) turn.leave();
    await Promise.all([...all, honest]);
    expect(order[0]).toBe('honest');
  });

  it('yields to the event loop, however many short requests wait', async () => {
    const clock = new Clock();
    const turns = new ClientQueue(clock.now);
    const short = async (client: object): Promise<void> => {
      for (let n = 0; n < 10; n++) {
        const turn = await turns.enter(client);
        clock.ms += 1;
        turn.leave();
      }
    };
    let isOver = false;
    let longest = 0;
    const others = (async () => {
      while (!isOver) {
        const before = clock.ms;
        await round();
        longest = Math.max(longest, clock.ms - before);
      }
    })();
    await Promise.all(Array.from({ length: 50 }, () => short({})));
    isOver = true;
    await others;
    expect(clock.ms).toBe(500);
    // The longest wait is a slice, plus the tasks of clients that were running then.
    expect(longest).toBeLessThanOrEqual(4 + PLACES);
  });

  it('forgets the use of a client, and serves it again', async () => {
    const clock = new Clock();
    const turns = new ClientQueue(clock.now);
    const [former, present] = [{ name: 'former' }, { name: 'present' }];
    const work = async (client: object, ms: number): Promise<void> => {
      const turn = await turns.enter(client);
      clock.ms += ms;
      turn.leave();
    };
    await work(former, 1000);
    clock.ms += 100_000;
    await work(present, 20);
    const holders = await Promise.all([1, 2, 3, 4].map(() => turns.enter({})));
    const order: string[] = [];
    const all = [present, former].map(async (client) => {
      const turn = await turns.enter(client);
      order.push(client.name);
      turn.leave();
    });
    for (const turn of holders) turn.leave();
    await Promise.all(all);
    expect(order).toEqual(['former', 'present']);
  });

  it('counts correctly if parts of one turn wait in parallel and the turn ends meanwhile', async () => {
    const turns = new ClientQueue();
    for (let n = 0; n < 20; n++) {
      const turn = await turns.enter({});
      const parts = [turn.outside(() => round()), turn.outside(() => round()), turn.outside(() => round())];
      if (n % 2 === 0) turn.leave();
      await Promise.all(parts);
      turn.leave();
    }
    // All slots are free again, and no more than `PLACES` exist.
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
