/** Locks on wallet folders, which exclude other nodes. Source: lbrycrd wallet/db.cpp `LockDirectory`. */
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { FolderLockError, lockFolder } from '../store/files/folderLock.js';
import { isThere, LOCK_NAME } from './walletPlace.js';

const LOCK = { name: LOCK_NAME, what: 'wallet directory' } as const;

/** Locks of wallet folders; one call at a time. */
export class WalletLocks {
  /** Locks by folder, with the number of wallets that need each. */
  private readonly locks = new Map<string, { users: number; readonly unlock: () => Promise<void> }>();

  /**
   * Locks a folder. Resolves with a function that releases the lock when no wallet needs it any more. Rejects with
   * `FolderLockError`.
   */
  async lock(path: string): Promise<() => Promise<void>> {
    const folder = realpathSync(path);
    const held = this.locks.get(folder) ?? { users: 0, unlock: await lockFolder(folder, LOCK) };
    held.users++;
    this.locks.set(folder, held);
    return async () => {
      if (--held.users > 0) return;
      this.locks.delete(folder);
      await held.unlock();
    };
  }

  /** Whether another process has locked a folder. */
  async isLockedByOther(path: string): Promise<boolean> {
    const folder = realpathSync(path);
    if (this.locks.has(folder) || !isThere(join(folder, LOCK_NAME))) return false;
    try {
      await (
        await lockFolder(folder, LOCK)
      )();
      return false;
    } catch (error) {
      if (error instanceof FolderLockError) return true;
      throw error;
    }
  }
}
