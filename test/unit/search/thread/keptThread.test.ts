import { describe, expect, it, vi } from 'vitest';
import type { IndexState } from '../../../../src/search/follow/indexChange.js';
import {
  KeptThread,
  standIn,
  writerIn,
  type KeptThreadOptions,
} from '../../../../src/search/thread/keptThread.js';

/** A thread that a test ends. */
class StubThread {
  isUp = true;
  readonly called: string[] = [];
  readonly exited: Promise<string>;
  end!: (why: string) => void;

  constructor() {
    this.exited = new Promise((resolve) => {
      this.end = (why) => {
        this.isUp = false;
        resolve(why);
      };
    });
  }

  async call(method: string): Promise<unknown> {
    this.called.push(method);
    if (method === 'close') this.end('closed');
    return method;
  }
}

function keep(options: Partial<KeptThreadOptions> = {}) {
  const started: StubThread[] = [];
  const warned: string[] = [];
  const ends: string[] = [];
  const thread = new KeptThread({
    name: 'A thread',
    start: () => {
      started.push(new StubThread());
      return started.at(-1)!;
    },
    warn: (text) => void warned.push(text),
    onEnd: (why) => void ends.push(why),
    pausesMs: [1, 1],
    ...options,
  });
  return { thread, started, warned, ends };
}

describe('a restarted thread', () => {
  it('is started a limited number of times, with a report meanwhile', async () => {
    const { thread, started, warned, ends } = keep();
    expect(await thread.call('state', [])).toBe('state');
    for (let n = 0; n < 3; n++) {
      started[n]!.end(`reason ${n}`);
      await expect.poll(() => warned.length).toBe(n + 1);
      expect(thread.isUp || thread.starts === n + 2).toBe(n < 2 && thread.starts === n + 2);
      if (n < 2) await expect.poll(() => thread.starts).toBe(n + 2);
    }
    expect(ends).toEqual(warned);
    expect(warned[0]).toBe('A thread has exited: reason 0. It will be restarted');
    expect(warned[2]).toBe('A thread has exited: reason 2. It is not restarted any more: restart the node');
    await expect(thread.call('state', [])).rejects.toThrow(/reason 2.*restart the node/);
    expect(started).toHaveLength(3);
    await thread.close();
    await expect(thread.call('state', [])).rejects.toThrow('The search index is closed');
  });

  it('resets this number after a long run', async () => {
    let now = 0;
    const { thread, started } = keep({ nowMs: () => now, pausesMs: [1] });
    for (let n = 0; n < 5; n++) {
      now += 600_000;
      started[n]!.end('an accident');
      await expect.poll(() => thread.starts).toBe(n + 2);
    }
    await thread.close();
  });

  it('counts failed starts, and is not started after a close', async () => {
    let starts = 0;
    const first = new StubThread();
    const failing = keep({
      start: () => {
        if (starts++ === 0) return first;
        throw new Error('no more threads');
      },
    });
    first.end('an accident');
    await expect.poll(() => failing.warned.length).toBe(3);
    expect(failing.warned.at(-1)).toMatch(/no more threads.*restart the node/);
    vi.useFakeTimers();
    try {
      const { thread, started, warned } = keep();
      started[0]!.end('an accident');
      await vi.advanceTimersByTimeAsync(0);
      expect(warned).toHaveLength(1);
      await thread.close();
      await vi.advanceTimersByTimeAsync(1000);
      expect(started).toHaveLength(1);
    } finally {
      vi.useRealTimers();
    }
  });

  it('has another thread do its work meanwhile', async () => {
    const [a, b] = [keep({ pausesMs: [] }), keep({ pausesMs: [] })];
    const all = [a.thread, b.thread];
    expect(standIn(a.thread, all)).toBe(a.thread);
    a.started[0]!.end('an accident');
    expect(standIn(a.thread, all)).toBe(b.thread);
    b.started[0]!.end('an accident');
    expect(standIn(a.thread, all)).toBe(a.thread);
  });
});

describe('the writer in a thread', () => {
  it('accepts nothing in a restarted thread before its state was read', async () => {
    const { thread, started } = keep();
    const released: string[] = [];
    const writer = writerIn(thread, async () => void released.push('released'));
    await writer.startBuild({ height: 1, hash: '' });
    expect(released).toEqual(['released']);
    await writer.addClaims({ sources: [], gone: [] });
    started[0]!.end('an accident');
    await expect.poll(() => thread.starts).toBe(2);
    await expect(writer.addClaims({ sources: [], gone: [] })).rejects.toThrow('was restarted');
    await expect(writer.endClaims()).rejects.toThrow('was restarted');
    expect(await (writer.state() as Promise<IndexState | string>)).toBe('state');
    await writer.addClaims({ sources: [], gone: [] });
    expect(started.map(({ called }) => called)).toEqual([
      ['startBuild', 'addClaims'],
      ['state', 'addClaims'],
    ]);
    await thread.close();
  });
});
