/** The program of the explorer's thread: serves pages, and asks the node's thread for what they show. */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import type { ExplorerStart, FromExplorer, ToExplorer } from './messages.js';
import { ExplorerRpcStub } from './explorerRpcStub.js';
import { Site, type SiteState } from './site.js';

/** Connections at a time. */
const MAX_CONNECTIONS = 512;
const COUNT_MS = 1000;
/** How long a stop waits for answers under way. */
const CLOSE_MS = 2000;

const port = parentPort!;
const start = workerData as ExplorerStart;
const send = (message: FromExplorer): void => port.postMessage(message);
const node = new ExplorerRpcStub(send);
const state: SiteState = { tip: null, isSyncing: false, status: 'Starting' };
const site = new Site(start, {
  node,
  state,
  assetFolder: join(dirname(fileURLToPath(import.meta.url)), 'assets'),
  log: (text) => send({ kind: 'log', text }),
  nowMs: () => performance.now(),
});
const { server } = site;
server.maxConnections = MAX_CONNECTIONS;

let told = '';
const counting = setInterval(() => {
  const text = JSON.stringify(site.counters);
  if (text === told) return;
  told = text;
  send({ kind: 'counters', counters: { ...site.counters } });
}, COUNT_MS);

async function close(): Promise<void> {
  clearInterval(counting);
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
      state.isSyncing = message.isSyncing;
      site.live.changed('tip');
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
