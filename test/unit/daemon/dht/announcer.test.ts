import { describe, expect, it } from 'vitest';
import { Announcer, isAnnounced } from '../../../../src/daemon/dht/announcer.js';
import type { Announced } from '../../../../src/daemon/dht/node.js';
import { RequestFailure } from '../../../../src/daemon/dht/rpc.js';
import { FakeClock } from '../../../support/fakeClock.js';
import { idOf } from './simulatedNodes.js';

const MINUTE_MS = 60_000;
const hashes = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => idOf(`hash ${index}`).toString('hex'));

interface Plan {
  readonly due?: string[];
  readonly isJoined?: () => boolean;
  readonly concurrency?: () => number;
  readonly result?: (hash: string) => Announced;
}

function world({ due = [], isJoined = () => true, concurrency = () => 2, result }: Plan) {
  const clock = new FakeClock();
  const waiting = new Set(due);
  const warnings: string[] = [];
  const state = { running: 0, most: 0, asked: [] as string[], rounds: 0, database: true };
  const announcer = new Announcer({
    clock,
    node: {
      joined: () => Promise.resolve(),
      get isJoined() {
        return isJoined();
      },
      announce: async (hash) => {
        state.asked.push(hash.toString('hex'));
        state.most = Math.max(state.most, ++state.running);
        await new Promise<void>((resolve) => clock.after(100, resolve));
        state.running--;
        return result?.(hash.toString('hex')) ?? { found: 8, accepted: 8 };
      },
    },
    due: (limit) => {
      state.rounds++;
      if (!state.database) return Promise.reject(new Error('disk full'));
      return Promise.resolve([...waiting].slice(0, limit));
    },
    noteAnnounced: (done) => {
      for (const hash of done) waiting.delete(hash);
      return Promise.resolve();
    },
    concurrency,
    warn: (text) => void warnings.push(text),
  });
  announcer.start();
  return { clock, announcer, waiting, warnings, state };
}

describe('Announcer', () => {
  it('announces due blobs a minute after joining, in batches', async () => {
    const { clock, announcer, waiting, state } = world({ due: hashes(7) });
    await clock.advance(MINUTE_MS - 1);
    expect(state.asked).toEqual([]);
    await clock.advance(101);
    expect(announcer.queueSize).toBe(3);
    await clock.advance(1000);
    expect([waiting.size, state.most, announcer.queueSize]).toEqual([0, 2, 0]);
    expect(state.asked.sort()).toEqual(hashes(7).sort());
  });

  it('continues at once while more is due than a round takes', async () => {
    const { clock, waiting } = world({ due: hashes(95) });
    await clock.advance(MINUTE_MS + 10_000);
    expect(waiting.size).toBe(0);
  });

  it('announces although the settings allow more at the same time than there is memory for', async () => {
    const { clock, waiting, warnings } = world({
      due: hashes(7),
      concurrency: () => Number.MAX_SAFE_INTEGER,
    });
    await clock.advance(MINUTE_MS + 1000);
    expect([waiting.size, warnings]).toEqual([0, []]);
  });

  it('keeps failed announcements due, and retries them in the next round', async () => {
    const { clock, waiting, state } = world({
      due: hashes(25),
      result: () => ({ found: 3, accepted: 2 }),
    });
    await clock.advance(MINUTE_MS + 30_000);
    expect([waiting.size, state.rounds, state.asked.length]).toEqual([25, 1, 20]);
    await clock.advance(MINUTE_MS);
    expect(state.rounds).toBe(2);
  });

  it('skips a round while no node is known', async () => {
    let isJoined = false;
    const { clock, waiting, state } = world({ due: hashes(1), isJoined: () => isJoined });
    await clock.advance(3 * MINUTE_MS);
    expect(state.rounds).toBe(0);
    isJoined = true;
    await clock.advance(MINUTE_MS + 1000);
    expect(waiting.size).toBe(0);
  });

  it('is off while the setting is 0', async () => {
    let tasks = 0;
    const { clock, waiting, state } = world({ due: hashes(1), concurrency: () => tasks });
    await clock.advance(3 * MINUTE_MS);
    expect([state.rounds, waiting.size]).toEqual([0, 1]);
    tasks = 1;
    await clock.advance(2 * MINUTE_MS);
    expect(waiting.size).toBe(0);
  });

  it('warns of a database that fails and tries again', async () => {
    const { clock, waiting, warnings, state } = world({ due: hashes(1) });
    state.database = false;
    await clock.advance(MINUTE_MS + 1000);
    expect(warnings).toEqual(['Blobs could not be announced: disk full']);
    state.database = true;
    await clock.advance(MINUTE_MS + 1000);
    expect(waiting.size).toBe(0);
  });

  it('continues after a failed announcement, and saves the announced ones when it stops', async () => {
    const [failing, ...others] = hashes(5);
    const { clock, announcer, waiting } = world({
      due: hashes(5),
      result: (hash) => {
        if (hash === failing) throw new RequestFailure('closed', 'stopped');
        return { found: 1, accepted: 1 };
      },
    });
    await clock.advance(MINUTE_MS + 150);
    await clock.until(announcer.stop());
    expect(waiting.has(failing!)).toBe(true);
    expect(waiting.size).toBeLessThan(others.length + 1);
  });
});

describe('isAnnounced', () => {
  it.each([
    [{ found: 0, accepted: 0 }, false],
    [{ found: 1, accepted: 1 }, true],
    [{ found: 1, accepted: 0 }, false],
    [{ found: 4, accepted: 3 }, false],
    [{ found: 4, accepted: 4 }, true],
    [{ found: 8, accepted: 4 }, false],
    [{ found: 8, accepted: 5 }, true],
    [{ found: 8, accepted: 8 }, true],
  ])('%o: %s', (announced, is) => {
    expect(isAnnounced(announced)).toBe(is);
  });
});
