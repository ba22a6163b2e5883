/** The program of the thread that owns the ledger's database. Calls are answered one by one. */
import { parentPort, workerData } from 'node:worker_threads';
import { loadSqlite } from '../../../sqlite/sqliteProvider.js';
import { LedgerStore, type StoreOptions } from './ledgerStore.js';

interface Call {
  readonly id: number;
  readonly method: keyof LedgerStore;
  readonly args: readonly unknown[];
}

const port = parentPort!;
const store = loadSqlite().then((provider) => new LedgerStore(provider, workerData as StoreOptions));
// Failing to open is told to each call.
store.catch(() => undefined);

async function answer({ id, method, args }: Call): Promise<void> {
  try {
    const target = (await store) as unknown as Record<string, (...args: readonly unknown[]) => unknown>;
    port.postMessage({ id, result: target[method]!(...args) });
  } catch (error) {
    port.postMessage({ id, error: error instanceof Error ? error.message : String(error) });
  }
  if (method === 'close') port.close();
}

let last: Promise<void> = Promise.resolve();
port.on('message', (call: Call) => {
  last = last.then(() => answer(call));
});
