/**
 * Locations of wallets: maps a wallet's name, which may be a path, to its file. A wallet is a folder with a file
 * `wallet.db`, or a single file in the wallet folder. Owns the other files in such a folder. Source: lbrycrd
 * wallet/walletutil.cpp `WalletLocation`, wallet/wallet.cpp `Verify`.
 */
import { rm, rmdir } from 'node:fs/promises';
import { lstatSync, readdirSync, realpathSync, statSync, type Stats } from 'node:fs';
import { basename, join, relative, resolve, sep } from 'node:path';
import { WalletFile } from './store/walletFile.js';
import { isLeftover } from './store/writeFileAnew.js';
import { isForeignWallet, placeBeside } from './transfer/foreignWallet.js';

export const WALLET_FILE_NAME = 'wallet.db';
/** The file name of the reference's wallets. */
export const FOREIGN_FILE_NAME = 'wallet.dat';
/** Name of the lock that excludes other nodes from a wallet's folder. */
export const LOCK_NAME = '.lbcnodelock';
/** Maximum depth of the search for wallets in the wallet folder. Arbitrary. */
const MAX_DEPTH = 4;

export interface WalletPlace {
  readonly name: string;
  /** The absolute path that the name stands for: a folder or a file. */
  readonly path: string;
  /** The wallet's file; it may not exist. */
  readonly file: string;
  /** A wallet of the reference to import if the file does not exist; null for none. */
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

/** The target of a linked file: the lock must be in its folder, and the file is replaced there. */
function realFile(path: string): string {
  try {
    return lstatSync(path).isSymbolicLink() ? realpathSync(path) : path;
  } catch {
    return path;
  }
}

/** Whether the path exists. */
export const isThere = (path: string): boolean => statOf(path, false) !== null;

/** Whether two paths lead to the same file, also by links. Source: Boost `equivalent`. */
export function isSameFile(path: string, other: string): boolean {
  if (path === other) return true;
  const [one, two] = [statOf(path), statOf(other)];
  return one !== null && two !== null && one.ino === two.ino && one.dev === two.dev;
}

/** Names of the wallets in the wallet folder, sorted. The wallet in the folder itself has an empty name. */
export function walletNames(walletDir: string): string[] {
  const names: string[] = [];
  const visit = (folder: string, depth: number): void => {
    let entries;
    try {
      entries = readdirSync(folder, { withFileTypes: true });
    } catch {
      // The folder is not readable for this user.
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

/** Whether a folder is left of a wallet whose creation was interrupted: it has a lock, but no complete file. */
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

/** Removes a wallet's folder that has only the lock. */
export async function removeFolder(path: string): Promise<void> {
  try {
    await rm(join(path, LOCK_NAME), { recursive: true, force: true });
    await rmdir(path);
  } catch {
    // The folder has other files.
  }
}
