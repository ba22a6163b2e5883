/** The program of the thread that owns the ledger's database. Calls are answered one by one. */
import { parentPort, workerData } from 'node:worker_threads';
import { sqliteFileError } from '../../../sqlite/sqliteFileError.js';
import { loadSqlite } from '../../../sqlite/sqliteProvider.js';
import { EnvironmentError } from '../../../util/environmentError.js';
import { LedgerStore, type StoreOptions } from './ledgerStore.js';
import { isDamage, markDamaged } from './schema.js';

interface Call {
  readonly id: number;
  readonly method: Exclude<keyof LedgerStore, 'notice'>;
  readonly args: readonly unknown[];
}

const port = parentPort!;
const options = workerData as StoreOptions;
const store = loadSqlite().then((provider) => {
  const opened = new LedgerStore(provider, options);
  if (opened.notice !== null) port.postMessage({ notice: opened.notice });
  return opened;
});
// Failing to open is told to each call.
store.catch(() => undefined);

async function answer({ id, method, args }: Call): Promise<void> {
  try {
    const target = (await store) as unknown as Record<string, (...args: readonly unknown[]) => unknown>;
    port.postMessage({ id, result: target[method]!(...args) });
  } catch (caught) {
    const error = isDamage(caught)
      ? new EnvironmentError(markDamaged(options.path))
      : sqliteFileError(caught, options.path);
    port.postMessage({
      id,
      error: error instanceof Error ? error.message : String(error),
      isForOperator: error instanceof EnvironmentError,
    });
  }
  if (method === 'close') port.close();
}

let last: Promise<void> = Promise.resolve();
port.on('message', (call: Call) => {
  last = last.then(() => answer(call));
});
