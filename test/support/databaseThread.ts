/** Keeps the thread of the daemon's databases running between the tests of a file. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { openContentDatabase, type ContentDatabase } from '../../src/daemon/content/contentDatabase.js';

/**
 * The thread ends when the last database is closed, and its start takes longer than many tests. This keeps a database open until
 * the end of the file.
 */
export function keepDatabaseThread(): void {
  let folder: string;
  let database: ContentDatabase;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'lbcnet-kept-'));
    database = openContentDatabase({ dataDir: folder, nowSec: 0 }, () => undefined);
    await database.finishedCount('');
  });
  afterAll(async () => {
    await database.close();
    rmSync(folder, { recursive: true });
  });
}
