/**
 * Lock that allows one process at a time in a folder. It is acquired before anything is written there, and released when the
 * process ends. Source: `LockDirectory`, `LockDataDirectory`.
 *
 * The runtime has no file locks, but LevelDB takes one of the operating system when it opens a database. So the lock is
 * an empty database of its own: it works on every system, with and without the native addon. Unlike a socket or a file with
 * a process id, it does not remain after `kill -9`, and it works between containers. The chain's own database cannot be
 * used: `-reindex` deletes it while holding the lock.
 */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeLevelDb } from '../leveldb/makeLevelDb.js';
import { NoLevelDbError } from '../leveldb/packageLevelDb.js';
import { environmentError, systemErrorOfText, systemErrorText } from '../../util/text/environmentError.js';
import { makeFolder } from '../../util/makeFolder.js';
import { OperatorError } from '../../util/text/operatorError.js';

/** The file in it that the operating system locks. */
const LOCK_FILE = 'LOCK';

/** The folder is in use or cannot be written; the message is for the operator. */
export class FolderLockError extends OperatorError {
  override readonly name = 'FolderLockError';
}

/**
 * Creates the folder if necessary and locks it; the returned function unlocks it. `name` is the folder of the lock's
 * database, and `what` the name of the folder in messages. Throws `FolderLockError`.
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
      // The lock database is corrupt, for instance after a crash of the machine. It has no data, so it is deleted.
      await emptyLock(path);
      return openLock(path);
    });
  } catch (error) {
    // The error is not about the folder: there is no LevelDB for the lock.
    if (error instanceof NoLevelDbError) throw error;
    const cause = causeOf(error);
    const refused = systemErrorOfText(errorText(cause));
    if (refused) throw new FolderLockError(systemErrorText(refused.code, refused.path));
    if (isLocked(error)) {
      throw new FolderLockError(
        `Cannot obtain a lock on ${what} ${folder}. lbcnode is probably already running.`,
      );
    }
    const told = errorText(environmentError(cause, path));
    throw new FolderLockError(`Cannot write to ${what} '${folder}'; check permissions. (${told})`);
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

/** Removes all files except the locked one, which its owner needs. */
async function emptyLock(path: string): Promise<void> {
  for (const name of await readdir(path)) {
    if (name !== LOCK_FILE) await rm(join(path, name), { recursive: true, force: true });
  }
}

function causeOf(error: unknown): unknown {
  return error instanceof Error && error.cause instanceof Error ? error.cause : error;
}

/** Whether another process holds the lock. A lock file that cannot be opened counts as not locked. */
function isLocked(error: unknown): boolean {
  const cause = causeOf(error);
  if ((cause as { code?: unknown } | null)?.code !== 'LEVEL_LOCKED') return false;
  return systemErrorOfText(errorText(cause)) === null;
}
