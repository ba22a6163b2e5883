/**
 * Lock that allows only one daemon per folder. Node.js has no function for file locks, but SQLite takes an operating system
 * lock, which is released when the process ends, even by `kill -9`.
 */
import { join } from 'node:path';
import { sqliteFileError } from '../../sqlite/sqliteFileError.js';
import { loadSqlite, type SqliteDatabase } from '../../sqlite/sqliteProvider.js';
import { EnvironmentError, onFile } from '../../util/text/environmentError.js';
import { refuseSpecialFile } from '../../util/files/specialFile.js';

const LOCK_NAME = 'lbcnet.lock';

/**
 * Locks a folder, which the setting `option` names. Returns the function that releases it. Throws `EnvironmentError` if another daemon has the folder or the
 * file is unusable.
 */
export async function lockFolder(
  folder: string,
  option: 'data-dir' | 'wallet-dir' = 'data-dir',
): Promise<() => void> {
  const sqlite = await loadSqlite();
  const path = join(folder, LOCK_NAME);
  onFile(path, () => refuseSpecialFile(path));
  let database: SqliteDatabase | null = null;
  try {
    database = sqlite.open(path);
    database.exec('PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch (error) {
    database?.close();
    const { message } = error as Error;
    if (/locked|busy/i.test(message))
      throw new EnvironmentError(
        `Another lbcnet is running in ${folder}. Stop it (lbcnet stop), or use another folder with --${option}.`,
      );
    if (/not a database|malformed/i.test(message))
      throw new EnvironmentError(
        `${path}: it is corrupt, or a file of another program. It contains no data: delete it and start again.`,
      );
    throw sqliteFileError(error, path);
  }
  const held = database;
  return () => {
    held.exec('ROLLBACK');
    held.close();
  };
}
