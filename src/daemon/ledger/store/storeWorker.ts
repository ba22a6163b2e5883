/** Entry point of the thread in which the ledger's database runs. */
import { workerData } from 'node:worker_threads';
import { sqliteFileError } from '../../../sqlite/sqliteFileError.js';
import { loadSqlite } from '../../../sqlite/sqliteProvider.js';
import { EnvironmentError } from '../../../util/text/environmentError.js';
import { serveDaemonThread } from '../../base/threadCalls.js';
import { LedgerStore, type StoreOptions } from './ledgerStore.js';
import { isCorruption, markCorrupt } from './schema.js';

const options = workerData as StoreOptions;
serveDaemonThread(
  async () => new LedgerStore(await loadSqlite(), options),
  (error) =>
    isCorruption(error)
      ? new EnvironmentError(markCorrupt(options.path))
      : sqliteFileError(error, options.path),
);
