/** The part of the explorer that runs in the node's thread, with a real thread for pages. */
import { createServer } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Explorer } from '../../../src/explorer/explorer.js';
import type { ExplorerStart } from '../../../src/explorer/messages.js';

const START: ExplorerStart = {
  host: '127.0.0.1',
  port: 0,
  network: 'main',
  spacingSec: 150,
  hostNames: [],
  proxies: [],
  showsImages: false,
  isIndexable: false,
  showsPeers: false,
  lacking: [],
  command: 'lbcnode-cli',
  methods: [],
  closedMethods: [],
};

afterEach(() => vi.useRealTimers());

/** An explorer over a chain with ten blocks, whose methods all answer with the error for an unknown object. */
async function followed(network = 'main') {
  const logged = vi.fn();
  const reply = { text: '{"result":null,"error":{"code":-5,"message":"unknown"}}' };
  const explorer = await Explorer.open({ ...START, network }, {
    dispatcher: { warmup: null, handle: () => Promise.resolve(reply) },
    table: { find: () => ({ explorer: 'page' }) },
    logger: { debug: logged, info: logged, warn: logged, error: logged },
    stopping: new AbortController().signal,
    mempoolChanges: () => 0,
  } as never);
  const handlers = new Map<string, (event?: unknown) => void>();
  const on = (name: string, handler: () => void) => {
    handlers.set(name, handler);
    return () => undefined;
  };
  const state = { isSyncing: false, height: 10, best: 10 };
  const chain = {
    tip: 0,
    get height() {
      return state.height;
    },
    isInitialDownload: () => state.isSyncing,
    index: { bestHeader: 1 },
    events: { on },
  };
  const headers = {
    hash: () => Buffer.alloc(32, state.height),
    timeSec: () => 1_500_000_000,
    height: () => state.best,
  };
  explorer.follow({ chain, headers } as never);
  const page = async (path: string): Promise<string> =>
    (await fetch(`http://127.0.0.1:${explorer.port}${path}`)).text();
  const emit = (name: string, event?: unknown): void => handlers.get(name)!(event);
  /** Ends the thread, as after a failure. */
  const endThread = async (): Promise<void> => {
    await (Reflect.get(explorer, 'link') as { call(name: 'close'): Promise<void> }).call('close');
    await (Reflect.get(explorer, 'exited') as Promise<void>);
  };
  return { explorer, state, page, emit, endThread, logged };
}

describe('the explorer', () => {
  it.each([
    ['main', 'tipChanged'],
    ['regtest', 'headerTip'],
  ])('detects a sync on %s by the event %s, before the next poll', async (network, event) => {
    // Polls do not run.
    vi.useFakeTimers({ toFake: ['setInterval'] });
    const { explorer, state, page, emit } = await followed(network);
    try {
      const help = (): Promise<string> => page('/help');
      await expect.poll(help, { timeout: 30_000 }).toContain('10');
      expect(await help()).not.toContain('The node is syncing.');
      Object.assign(state, { isSyncing: true, best: 2000 });
      emit(event);
      await expect.poll(help, { timeout: 30_000 }).toContain('The node is syncing.');
    } finally {
      await explorer.close();
    }
  });

  it('reports later headers of a sync at the next poll, before the first block', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const { explorer, state, emit } = await followed();
    const send = vi.spyOn(Reflect.get(explorer, 'link') as { send(item: readonly unknown[]): void }, 'send');
    const reported = (): unknown[] =>
      send.mock.calls.flatMap(([[kind, tip, sync]]) => (kind === 'tip' ? [{ tip, sync }] : []));
    const headersOf = (best: number) => ({
      tip: expect.objectContaining({ height: 0 }) as unknown,
      sync: { headers: best },
    });
    const arrive = (best: number): void => {
      Object.assign(state, { isSyncing: true, height: 0, best });
      emit('headerTip');
    };
    try {
      arrive(2000);
      expect(reported()).toEqual([headersOf(2000)]);
      arrive(4000);
      arrive(6000);
      expect(reported()).toEqual([headersOf(2000)]);
      vi.advanceTimersByTime(500);
      expect(reported()).toEqual([headersOf(2000), headersOf(6000)]);
      // Without new headers nothing is reported, and the polls end.
      vi.advanceTimersByTime(5000);
      expect(reported()).toHaveLength(2);
      expect(vi.getTimerCount()).toBe(0);
      arrive(8000);
      vi.advanceTimersByTime(500);
      expect(reported()).toEqual([headersOf(2000), headersOf(6000), headersOf(8000)]);
    } finally {
      await explorer.close();
    }
  });

  it('restarts its thread each second until it can listen, and logs one failure', async () => {
    const { explorer, page, endThread, logged } = await followed();
    const other = createServer();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      await endThread();
      await new Promise<void>((resolve) => other.listen(explorer.port, '127.0.0.1', resolve));
      for (let n = 0; n < 2; n++) {
        await vi.advanceTimersByTimeAsync(1000);
        await expect.poll(() => explorer.failure, { timeout: 30_000 }).toContain('cannot listen');
        await (Reflect.get(explorer, 'exited') as Promise<void>);
      }
      expect(logged.mock.calls.map(([text]) => String(text).slice(0, 26))).toEqual([
        'The explorer is being rest',
        'The explorer cannot listen',
      ]);
      await new Promise((resolve) => other.close(resolve));
      await vi.advanceTimersByTimeAsync(1000);
      await expect.poll(() => explorer.failure, { timeout: 30_000 }).toBe(null);
      expect(await page('/help')).toContain('Words');
    } finally {
      other.close();
      await explorer.close();
    }
  });

  it('sends the disconnected blocks near the tip to a restarted thread', async () => {
    const { explorer, state, page, emit, endThread } = await followed();
    const claim = (digit: number): string => `/claim/${Buffer.alloc(20, digit).toString('hex')}`;
    const block = (digit: number, height: number) => ({
      height,
      hash: Buffer.alloc(32, digit),
      claimEvents: [{ type: 'claim', name: Buffer.from('a'), claimId: Buffer.alloc(20, digit) }],
    });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      emit('blockDisconnected', block(0x33, 12));
      emit('blockDisconnected', block(0x22, 11));
      emit('blockDisconnected', block(0x11, 10));
      emit('blockConnected', block(0x22, 11));
      state.height = 20;
      emit('tipChanged');
      await endThread();
      await vi.advanceTimersByTimeAsync(1000);
      await expect.poll(() => page('/help').catch(() => ''), { timeout: 30_000 }).toContain('Words');
      expect(await page(claim(0x33))).toContain('A reorganisation removed this claim');
      // Its block is connected again.
      expect(await page(claim(0x22))).toContain('There is no such claim');
      // Ten blocks are above its block.
      expect(await page(claim(0x11))).toContain('There is no such claim');
    } finally {
      await explorer.close();
    }
  });
});
