/**
 * One daemon at a time in a folder. The runtime has no file locks, but SQLite takes one of the operating system: it lasts
 * over `kill -9`, and is given free by the death of the process.
 */
import { join } from 'node:path';
import { loadSqlite } from '../../sqlite/sqliteProvider.js';
import { EnvironmentError, onFile } from '../../util/environmentError.js';
import { refuseSpecialFile } from '../../util/specialFile.js';

const LOCK_NAME = 'lbcnet.lock';

/** The returned function gives the folder free. Throws `EnvironmentError` where another daemon has it. */
export async function lockFolder(folder: string): Promise<() => void> {
  const sqlite = await loadSqlite();
  const path = join(folder, LOCK_NAME);
  onFile(path, () => refuseSpecialFile(path));
  const database = sqlite.open(path);
  try {
    database.exec('PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (!/locked|busy/i.test((error as Error).message)) throw error;
    throw new EnvironmentError(
      `Another lbcnet is running in ${folder}. Stop it (lbcnet stop), or name another folder by --data-dir.`,
    );
  }
  return () => {
    database.exec('ROLLBACK');
    database.close();
  };
}
