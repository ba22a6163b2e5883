/** Program of the only thread that has connections to the content database. */
import { join } from 'node:path';
import { workerData } from 'node:worker_threads';
import { loadSqlite } from '../../sqlite/sqliteProvider.js';
import { environmentError } from '../../util/text/environmentError.js';
import { serveDaemonThread } from '../base/threadCalls.js';
import { ContentStore, type ContentStoreOptions } from './contentStore.js';
import { DATABASE_NAME, mainDatabaseError } from './openDatabases.js';

const options = workerData as ContentStoreOptions;
const path = join(options.dataDir, DATABASE_NAME);
serveDaemonThread(
  async () => new ContentStore(await loadSqlite(), options),
  (error) => environmentError(mainDatabaseError(error, path), path),
);
