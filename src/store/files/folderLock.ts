/**
 * Lock that allows one process at a time in a folder. The lock is acquired before any file in the folder is written, and
 * released when the process ends. Source: `LockDirectory`, `LockDataDirectory`.
 *
 * Node has no file locks, but LevelDB acquires a lock of the operating system when it opens a database. So the lock is a
 * separate empty database. This works on every system, with and without the native addon. Unlike a socket or a file with a
 * process id, the lock does not remain after `kill -9`, and it works between containers. The database of the chain cannot
 * serve as lock, because `-reindex` deletes it while it holds the lock.
 */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseError } from '../leveldb/databaseError.js';
import { makeLevelDb } from '../leveldb/makeLevelDb.js';
import { NoLevelDbError } from '../leveldb/packageLevelDb.js';
import { environmentError, systemErrorOfText, systemErrorText } from '../../util/text/environmentError.js';
import { makeFolder } from '../../util/files/makeFolder.js';
import { OperatorError } from '../../util/text/operatorError.js';

/** Name of the file in the lock database that the operating system locks. */
const LOCK_FILE = 'LOCK';

/** Error: the folder is in use or cannot be written. The message is for the operator. */
export class FolderLockError extends OperatorError {
  override readonly name = 'FolderLockError';
}

/**
 * Creates the folder if necessary and locks it. The returned function unlocks it. `name` is the name of the lock database
 * inside the folder. `what` is the description of the folder in messages. Throws `FolderLockError`.
 */
export async function lockFolder(
  folder: string,
  { name = 'lock', what = 'data directory' } = {},
): Promise<() => Promise<void>> {
  const path = join(folder, name);
  try {
    makeFolder(path);
    return await openLock(path).catch(async (error: unknown) => {
      if (isLocked(error) || error instanceof NoLevelDbError) throw error;
      // The lock database is corrupt, for instance after a crash of the machine. It contains no data, so its files are
      // deleted.
      await emptyLock(path);
      return openLock(path);
    });
  } catch (error) {
    // The error does not concern the folder: no LevelDB implementation is available for the lock.
    if (error instanceof NoLevelDbError) throw error;
    const cause = causeOf(error);
    const refused = systemErrorOfText(errorText(cause));
    if (refused) throw new FolderLockError(systemErrorText(refused.code, refused.path));
    if (isLocked(error)) {
      throw new FolderLockError(
        `Cannot obtain a lock on ${what} ${folder}. lbcnode is probably already running.`,
      );
    }
    const reason = errorText(environmentError(cause, path));
    throw new FolderLockError(`Cannot write to ${what} '${folder}'; check permissions. (${reason})`);
  }
}

function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function openLock(path: string): Promise<() => Promise<void>> {
  const database = makeLevelDb(path, { cacheBytes: 0, writeBufferBytes: 64 << 10 });
  await database.open();
  return () => database.close();
}

/** Removes all files of the lock database except the locked file, which the process that holds the lock needs. */
async function emptyLock(path: string): Promise<void> {
  for (const name of await readdir(path)) {
    if (name !== LOCK_FILE) await rm(join(path, name), { recursive: true, force: true });
  }
}

function causeOf(error: unknown): unknown {
  return error instanceof Error && error.cause instanceof Error ? error.cause : error;
}

/** Whether an error means that another process holds the lock. A lock file that cannot be opened counts as not locked. */
function isLocked(error: unknown): boolean {
  return error instanceof DatabaseError && error.isLocked;
}
