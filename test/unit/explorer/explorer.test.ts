/** The part of the explorer that runs in the node's thread, with a real thread for pages. */
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
};

afterEach(() => vi.useRealTimers());

describe('the explorer', () => {
  it.each([
    ['main', 'tipChanged'],
    ['regtest', 'headerTip'],
  ])('detects a sync on %s by the event %s, before the next poll', async (network, event) => {
    // Polls do not run.
    vi.useFakeTimers({ toFake: ['setInterval'] });
    const logged = vi.fn();
    const explorer = await Explorer.open({ ...START, network }, {
      dispatcher: { warmup: null, handle: () => Promise.resolve({ text: '{"result":null,"error":null}' }) },
      table: { find: () => undefined },
      logger: { debug: logged, info: logged, warn: logged, error: logged },
      stopping: new AbortController().signal,
      mempoolChanges: () => 0,
    } as never);
    try {
      const handlers = new Map<string, () => void>();
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
      const help = async (): Promise<string> =>
        (await fetch(`http://127.0.0.1:${explorer.port}/help`)).text();
      await expect.poll(help, { timeout: 30_000 }).toContain('10');
      expect(await help()).not.toContain('The node is syncing.');
      Object.assign(state, { isSyncing: true, best: 2000 });
      handlers.get(event)!();
      await expect.poll(help, { timeout: 30_000 }).toContain('The node is syncing.');
    } finally {
      await explorer.close();
    }
  });
});
