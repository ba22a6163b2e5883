/**
 * One daemon at a time in a folder. The runtime has no file locks, but SQLite takes one of the operating system: it lasts
 * over `kill -9`, and is given free by the death of the process.
 */
import { join } from 'node:path';
import { sqliteFileError } from '../../sqlite/sqliteFileError.js';
import { loadSqlite, type SqliteDatabase } from '../../sqlite/sqliteProvider.js';
import { EnvironmentError, onFile } from '../../util/text/environmentError.js';
import { refuseSpecialFile } from '../../util/specialFile.js';

const LOCK_NAME = 'lbcnet.lock';

/** Throws `EnvironmentError` where another daemon has the folder, or the file cannot be used; the returned function frees it. */
export async function lockFolder(folder: string): Promise<() => void> {
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
        `Another lbcnet is running in ${folder}. Stop it (lbcnet stop), or name another folder by --data-dir.`,
      );
    if (/not a database|malformed/i.test(message))
      throw new EnvironmentError(
        `${path}: it is damaged, or a file of another program. It holds nothing: delete it and start again.`,
      );
    throw sqliteFileError(error, path);
  }
  const held = database;
  return () => {
    held.exec('ROLLBACK');
    held.close();
  };
}
