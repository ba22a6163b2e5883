/** The program of the explorer's thread: serves pages, and requests their data from the node's thread. */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import {
  EXPLORER_ERRORS,
  type ExplorerCalls,
  type ExplorerStart,
  type FromExplorer,
  type NodeCalls,
  type ToExplorer,
} from './messages.js';
import { ConnectionLimit } from './connectionLimit.js';
import { ExplorerRpcClient } from './explorerRpcClient.js';
import type { SiteState } from './pageRenderer.js';
import { Site } from './site.js';
import { SyncClock } from './syncClock.js';
import { withoutOld, withoutTaken, withTaken } from './takenBlocks.js';
import { inNextRound } from '../scheduler/rounds.js';
import { ThreadLink, type LinkItem } from '../threads/threadLink.js';
import { collectWhenIdle } from '../util/memory/idleCollection.js';
import { reportMemory } from '../util/threadMemory.js';

/** Maximum number of connections for pages; those of `/live` are counted separately (live.ts). */
const MAX_CONNECTIONS = 512;
/** Maximum number of connections of one visitor. Arbitrary: a browser opens six, and an office may share an address. */
const MAX_OF_VISITOR = 64;
const COUNT_MS = 1000;
/** Maximum milliseconds that the stop of the thread waits for pending responses. */
const CLOSE_MS = 2000;

const port = parentPort!;
const start = workerData as ExplorerStart;
const link = new ThreadLink<ExplorerCalls, NodeCalls, FromExplorer, ToExplorer>({
  port,
  methods: { open, close },
  errors: EXPLORER_ERRORS,
  take,
});
const node = new ExplorerRpcClient((method, params) => link.call('rpc', method, params));
const state: SiteState = { tip: null, sync: null, taken: [], status: 'Starting' };
const syncClock = new SyncClock();
let isWatched = false;
let postedText = '';
let counting: NodeJS.Timeout | null = null;

/** Sends the changed counters to the node's thread, at most once a second. */
function noteCounters(): void {
  counting ??= setTimeout(() => {
    counting = null;
    const text = JSON.stringify(site.counters);
    if (text === postedText) return;
    postedText = text;
    link.send(['counters', { ...site.counters }]);
  }, COUNT_MS).unref();
}

const site = new Site(start, {
  node,
  state,
  assetFolder: join(dirname(fileURLToPath(import.meta.url)), 'assets'),
  log: (text) => link.send(['log', text]),
  onViewers: (count) => {
    noteCounters();
    if (isWatched === count > 0) return;
    isWatched = count > 0;
    link.send(['watched', isWatched]);
  },
  nowMs: () => performance.now(),
  calledMs: () => node.calledMs,
});
reportMemory('explorer', () => [site.pageMemory]);
collectWhenIdle();
const { server } = site;
new ConnectionLimit(server, {
  max: MAX_CONNECTIONS,
  maxOfVisitor: MAX_OF_VISITOR,
  isShared: (address) => site.isShared(address),
  uncounted: () => site.live.count,
});

server.on('request', (_, response) => response.once('close', noteCounters));

async function close(): Promise<void> {
  if (counting !== null) clearTimeout(counting);
  const cut = setTimeout(() => server.closeAllConnections(), CLOSE_MS);
  site.live.close();
  server.closeIdleConnections();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  clearTimeout(cut);
  // The port is closed after the answer to this call was sent.
  inNextRound(() => port.close());
}

async function open(): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(start.port, start.host, resolve);
  });
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : start.port;
}

function take(item: ToExplorer): void {
  switch (item[0]) {
    case 'tip': {
      const [, tip, sync] = item;
      state.tip = tip;
      state.taken = withoutOld(state.taken, tip?.height ?? 0);
      site.syncLimit.isSyncing = sync !== null;
      node.forget();
      state.sync = sync && {
        headers: sync.headers,
        etaSec: syncClock.note(tip?.height ?? 0, sync.headers, performance.now()),
      };
      return site.live.changed('tip');
    }
    case 'disconnected':
      state.taken = withTaken(state.taken, item[1]);
      return;
    case 'reconnected':
      state.taken = withoutTaken(state.taken, item[1]);
      return;
    case 'mempool':
      node.forget();
      return site.live.changed('mempool');
    case 'status':
      state.status = item[1];
  }
}

port.on('message', (items: readonly LinkItem<ToExplorer>[]) => link.receive(items));
