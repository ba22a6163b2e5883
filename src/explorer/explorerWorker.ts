/** The program of the explorer's thread: serves pages, and requests their data from the node's thread. */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import type { ExplorerStart, FromExplorer, ToExplorer } from './messages.js';
import { ExplorerRpcStub } from './explorerRpcStub.js';
import { Site, type SiteState } from './site.js';
import { SyncClock } from './syncClock.js';
import { withoutOld } from './takenBlocks.js';
import { reportMemory } from '../util/threadMemory.js';

/** Maximum number of connections for pages; those of `/live` are counted separately (live.ts). */
const MAX_CONNECTIONS = 512;
const COUNT_MS = 1000;
/** Maximum time that a stop waits for pending responses. */
const CLOSE_MS = 2000;

const port = parentPort!;
const start = workerData as ExplorerStart;
const send = (message: FromExplorer): void => port.postMessage(message);
const node = new ExplorerRpcStub(send);
const state: SiteState = { tip: null, sync: null, taken: [], status: 'Starting' };
const syncClock = new SyncClock();
let isWatched = false;
let told = '';
let counting: NodeJS.Timeout | null = null;

/** Counters reach the node's thread once a second, while they change. */
function noteCounters(): void {
  counting ??= setTimeout(() => {
    counting = null;
    const text = JSON.stringify(site.counters);
    if (text === told) return;
    told = text;
    send({ kind: 'counters', counters: { ...site.counters } });
  }, COUNT_MS).unref();
}

const site = new Site(start, {
  node,
  state,
  assetFolder: join(dirname(fileURLToPath(import.meta.url)), 'assets'),
  log: (text) => send({ kind: 'log', text }),
  onViewers: (count) => {
    noteCounters();
    if (isWatched === count > 0) return;
    isWatched = count > 0;
    send({ kind: 'watched', isWatched });
  },
  nowMs: () => performance.now(),
});
reportMemory('explorer', () => [site.pageMemory]);
const { server } = site;
let connections = 0;
server.on('connection', (socket) => {
  if (connections - site.live.count >= MAX_CONNECTIONS) return void socket.destroy();
  connections++;
  socket.once('close', () => connections--);
});

server.on('request', (_, response) => response.once('close', noteCounters));

async function close(): Promise<void> {
  if (counting !== null) clearTimeout(counting);
  const cut = setTimeout(() => server.closeAllConnections(), CLOSE_MS);
  site.live.close();
  server.closeIdleConnections();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  clearTimeout(cut);
  send({ kind: 'closed' });
  port.close();
}

port.on('message', (message: ToExplorer) => {
  switch (message.kind) {
    case 'answer':
      node.answered(message.id, message.text);
      return;
    case 'tip':
      state.tip = message.tip;
      state.taken = withoutOld(state.taken, message.tip?.height ?? 0);
      node.isSyncing = message.sync !== null;
      state.sync = message.sync && {
        headers: message.sync.headers,
        etaSec: syncClock.note(message.tip?.height ?? 0, message.sync.headers, performance.now()),
      };
      site.live.changed('tip');
      return;
    case 'disconnected':
      state.taken = [message.block, ...state.taken.filter(({ hash }) => hash !== message.block.hash)];
      return;
    case 'reconnected':
      state.taken = state.taken.filter(({ hash }) => hash !== message.hash);
      return;
    case 'mempool':
      site.live.changed('mempool');
      return;
    case 'status':
      state.status = message.status;
      return;
    case 'close':
      void close();
  }
});

try {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(start.port, start.host, resolve);
  });
  const address = server.address();
  send({
    kind: 'listening',
    port: typeof address === 'object' && address !== null ? address.port : start.port,
  });
} catch (error) {
  send({ kind: 'failed', reason: (error as Error).message });
}
