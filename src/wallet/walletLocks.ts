/** Locks wallet folders, so that other nodes cannot use them. Source: lbrycrd wallet/db.cpp `LockDirectory`. */
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { FolderLockError, lockFolder } from '../store/files/folderLock.js';
import { isThere, LOCK_NAME } from './walletPlace.js';

const LOCK = { name: LOCK_NAME, what: 'wallet directory' } as const;

/** The locks of wallet folders that this node holds. Only one call of its methods may run at a time. */
export class WalletLocks {
  /** Locks by folder, with the number of open wallets that need the lock. */
  private readonly locks = new Map<string, { users: number; readonly unlock: () => Promise<void> }>();

  /**
   * Locks a folder. Resolves with a function that must be called when the wallet does not need the lock any more. The lock
   * is released when the last wallet has called it. Rejects with `FolderLockError`.
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

  /** Whether another process has locked the folder of a wallet. */
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
