/** Program of the ledger's database in the thread of the databases. */
import type { MessagePort } from 'node:worker_threads';
import { sqliteFileError } from '../../../sqlite/sqliteFileError.js';
import { loadSqlite } from '../../../sqlite/sqliteProvider.js';
import { EnvironmentError } from '../../../util/text/environmentError.js';
import { serveDatabase } from '../../base/threadCalls.js';
import { LedgerStore, type StoreOptions } from './ledgerStore.js';
import { isCorruption, markCorrupt } from './schema.js';

export function serve(port: MessagePort, options: StoreOptions): void {
  serveDatabase(
    async () => new LedgerStore(await loadSqlite(), options),
    (error) =>
      isCorruption(error)
        ? new EnvironmentError(markCorrupt(options.path))
        : sqliteFileError(error, options.path),
    port,
  );
}
