/** Program of the content database in the thread of the databases. No other program has connections to it. */
import { join } from 'node:path';
import type { MessagePort } from 'node:worker_threads';
import { loadSqlite } from '../../sqlite/sqliteProvider.js';
import { environmentError } from '../../util/text/environmentError.js';
import { serveDatabase } from '../base/threadCalls.js';
import { ContentStore, type ContentStoreOptions } from './contentStore.js';
import { DATABASE_NAME, mainDatabaseError } from './openDatabases.js';

export function serve(port: MessagePort, options: ContentStoreOptions): void {
  const path = join(options.dataDir, DATABASE_NAME);
  serveDatabase(
    async () => new ContentStore(await loadSqlite(), options),
    (error) => environmentError(mainDatabaseError(error, path), path),
    port,
  );
}
