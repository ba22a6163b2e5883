/**
 * Maps a wallet's name, which may be a path, to its file. A wallet is a folder with a file `wallet.db`, or a single file in
 * the wallet folder. Also handles the other files in a wallet's folder. Source: lbrycrd wallet/walletutil.cpp
 * `WalletLocation`, wallet/wallet.cpp `Verify`.
 */
import { rm, rmdir } from 'node:fs/promises';
import { lstatSync, readdirSync, realpathSync, statSync, type Stats } from 'node:fs';
import { basename, join, relative, resolve, sep } from 'node:path';
import { WalletFile } from './store/walletFile.js';
import { isLeftover } from './store/wholeFile.js';
import { isForeignWallet, placeBeside } from './transfer/foreignWallet.js';

export const WALLET_FILE_NAME = 'wallet.db';
/** File name of the reference's wallets. */
export const FOREIGN_FILE_NAME = 'wallet.dat';
/** Name of the lock in a wallet's folder that prevents its use by other nodes. */
export const LOCK_NAME = '.lbcnodelock';
/** Maximum folder depth of the search for wallets below the wallet folder. Arbitrary. */
const MAX_DEPTH = 4;

export interface WalletPlace {
  readonly name: string;
  /** Absolute path of the folder or file that the name means. */
  readonly path: string;
  /** Path of the wallet's file, which may not exist yet. */
  readonly file: string;
  /** Path of a wallet of the reference that is imported if `file` does not exist; null if there is none. */
  readonly foreign: string | null;
  readonly kind: 'missing' | 'folder' | 'file' | 'other';
}

function statOf(path: string, follow = true): Stats | null {
  try {
    return follow ? statSync(path) : lstatSync(path);
  } catch {
    return null;
  }
}

export function walletPlace(walletDir: string, name: string): WalletPlace {
  const path = resolve(walletDir, name);
  const own = statOf(path, false);
  const target = own?.isSymbolicLink() === true ? statOf(path) : own;
  const inFolder = realFile(join(path, WALLET_FILE_NAME));
  if (own === null) return { name, path, file: inFolder, foreign: null, kind: 'missing' };
  if (target?.isDirectory() === true) {
    const other = join(path, FOREIGN_FILE_NAME);
    const foreign = !isThere(inFolder) && isForeignWallet(other) ? other : null;
    return { name, path, file: inFolder, foreign, kind: 'folder' };
  }
  if (own.isFile() && isForeignWallet(path)) {
    const file = placeBeside(path);
    return { name, path, file, foreign: isThere(file) ? null : path, kind: 'file' };
  }
  const isPlain = own.isFile() && (basename(name) === name || WalletFile.isOne(path));
  return { name, path, file: path, foreign: null, kind: isPlain ? 'file' : 'other' };
}

/**
 * Path of the target of a linked wallet file. The lock must be in the folder of the target, and a new version of the file
 * replaces the target.
 */
function realFile(path: string): string {
  try {
    return lstatSync(path).isSymbolicLink() ? realpathSync(path) : path;
  } catch {
    return path;
  }
}

/** Whether a file or folder exists at the path. */
export const isThere = (path: string): boolean => statOf(path, false) !== null;

/** Whether two paths refer to the same file, directly or by links. Source: Boost `equivalent`. */
export function isSameFile(path: string, other: string): boolean {
  if (path === other) return true;
  const [one, two] = [statOf(path), statOf(other)];
  return one !== null && two !== null && one.ino === two.ino && one.dev === two.dev;
}

/** Names of the wallets in the wallet folder, sorted. The name of the wallet in the folder itself is empty. */
export function walletNames(walletDir: string): string[] {
  const names: string[] = [];
  const visit = (folder: string, depth: number): void => {
    let entries;
    try {
      entries = readdirSync(folder, { withFileTypes: true });
    } catch {
      // The folder is skipped, because the operating system refuses access to it.
      return;
    }
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (statOf(path)?.isDirectory() === true) {
        if (depth < MAX_DEPTH) visit(path, depth + 1);
      } else if (entry.name === WALLET_FILE_NAME) {
        if (WalletFile.isOne(path)) names.push(relative(walletDir, folder));
      } else if (entry.name === FOREIGN_FILE_NAME) {
        if (!isThere(join(folder, WALLET_FILE_NAME)) && isForeignWallet(path))
          names.push(relative(walletDir, folder));
      } else if (depth === 0 && entry.isFile() && WalletFile.isOne(path)) names.push(entry.name);
    }
  };
  visit(walletDir, 0);
  return names.map((name) => name.split(sep).join('/')).sort();
}

/** Whether a folder was left by the interrupted creation of a wallet: it contains a lock, but no complete file. */
export function isUnfinished(path: string): boolean {
  try {
    const names = readdirSync(path);
    return (
      names.includes(LOCK_NAME) &&
      names.every((name) => name === LOCK_NAME || isLeftover(name, WALLET_FILE_NAME))
    );
  } catch {
    return false;
  }
}

/** Removes the folder of a wallet if it contains only the lock. */
export async function removeFolder(path: string): Promise<void> {
  try {
    await rm(join(path, LOCK_NAME), { recursive: true, force: true });
    await rmdir(path);
  } catch {
    // The folder contains other files, so it is kept.
  }
}
