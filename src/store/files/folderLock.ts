/**
 * One process at a time in a folder. Taken before anything is written there, released by the death of the process.
 * Source: `LockDirectory`, `LockDataDirectory`.
 *
 * The runtime has no file locks, but LevelDB takes one of the operating system when it opens a database. So the lock is
 * an empty database of its own: it works with and without the native addon, on every system, over `kill -9`, and, unlike
 * a socket or a file with a process id, is neither left behind nor blind to a process in another container. The chain's
 * own database cannot serve: `-reindex` deletes it, and the code that does so must hold the lock already.
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
 * Makes the folder if need be and locks it; the returned function gives it free. The lock's database has a name in the
 * folder; `what` the folder is called in messages. Throws `FolderLockError`.
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
      // Damaged, by a crash of the machine for instance; there is nothing in it to lose.
      await emptyLock(path);
      return openLock(path);
    });
  } catch (error) {
    // Not about the folder: there is no LevelDB to lock it with.
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

/** Removes all except the locked file itself: its holder keeps it. */
async function emptyLock(path: string): Promise<void> {
  for (const name of await readdir(path)) {
    if (name !== LOCK_FILE) await rm(join(path, name), { recursive: true, force: true });
  }
}

function causeOf(error: unknown): unknown {
  return error instanceof Error && error.cause instanceof Error ? error.cause : error;
}

/** Whether another holds the lock; a lock file that the system does not let us open counts as not locked. */
function isLocked(error: unknown): boolean {
  const cause = causeOf(error);
  if ((cause as { code?: unknown } | null)?.code !== 'LEVEL_LOCKED') return false;
  return systemErrorOfText(errorText(cause)) === null;
}
