/**
 * Reads and writes the file of a wallet. Writing is atomic. An unreadable file is never overwritten. Source: lbry-sdk
 * lbry/wallet/wallet.py `WalletStorage`.
 */
import { constants } from 'node:fs';
import {
  chmod,
  copyFile,
  lstat,
  open,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { EnvironmentError, environmentError } from '../../util/text/environmentError.js';
import type { JsonObject } from '../../util/json/json.js';
import { decodeUtf8 } from '../../util/json/jsonParse.js';
import { linkTarget } from '../../util/files/linkTarget.js';
import { refuseSpecialFile } from '../../util/files/specialFile.js';
import { DaemonError } from '../base/daemonError.js';
import { parseWalletText } from './walletContents.js';

const NEW_FILE_MODE = 0o600;
const MODE_BITS = 0o7777;

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';
const exists = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'EEXIST';

/** Whether a file exists at the path, or a symbolic link, even if its target is missing. */
export async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    (error: unknown) => !isMissing(error),
  );
}

/**
 * Path of the file with links resolved. Throws `EnvironmentError` for a dangling link. The link may lead to a disk that is
 * not mounted. A new wallet at the mount point would hide the wallet on the disk.
 */
export async function placeOfFile(path: string): Promise<string> {
  try {
    return linkTarget(path);
  } catch (error) {
    if (!isMissing(error)) throw environmentError(error, path);
    throw new EnvironmentError(
      `The wallet file ${path} is a symbolic link to ${await readlink(path)}, which does not exist. Mount ` +
        'its disk, or remove the link to start with a new wallet.',
    );
  }
}

/**
 * Reads and parses the wallet file. Resolves to null if the file does not exist. Rejects with `DaemonError` (with
 * instructions) if it is not a wallet, and with `EnvironmentError` if it is not a regular file.
 */
export async function readWalletFile(path: string): Promise<JsonObject | null> {
  let bytes: Buffer;
  try {
    refuseSpecialFile(path);
    bytes = await readFile(path);
  } catch (error) {
    if (isMissing(error)) return null;
    throw environmentError(error, path);
  }
  try {
    const text = decodeUtf8(bytes);
    if (text === null) throw new Error('The text is not UTF-8.');
    const wallet = parseWalletText(text);
    // A wallet without accounts is accepted only in lbryum's format, which has master public keys instead.
    if (!wallet.has('accounts') && !wallet.has('master_public_keys'))
      throw new Error('It has no accounts, so it is not a wallet of lbrynet or lbcnet.');
    return wallet;
  } catch (error) {
    throw await unreadableWallet(path, (error as Error).message);
  }
}

/** Copies a file that is not a usable wallet, and returns an error with instructions for the user. */
export async function unreadableWallet(path: string, reason: string): Promise<DaemonError> {
  const copy = await keepCopy(path, 'damaged');
  return new DaemonError(
    'WalletFileError',
    `The wallet file ${path} cannot be read: ${reason} It was not changed, and a copy was saved as ` +
      `${copy}. Restore a backup, or move the file away to start with a new wallet.`,
  );
}

/**
 * Copies the wallet file to the first free name in its folder, unless an identical copy already exists. Resolves to the path
 * of the copy.
 */
export async function keepCopy(path: string, kind: 'damaged' | 'foreign'): Promise<string> {
  const bytes = await readFile(path);
  for (let n = 1; ; n++) {
    const copy = `${path}.${kind}.${n}`;
    try {
      await copyFile(path, copy, constants.COPYFILE_EXCL);
      return copy;
    } catch (error) {
      if (!exists(error)) throw error;
      if ((await readFile(copy)).equals(bytes)) return copy;
    }
  }
}

/** Text with inode, size and times that changes when the file changes; null if the file does not exist. */
export async function fileStamp(path: string): Promise<string | null> {
  try {
    const { ino, size, mtimeNs } = await stat(path, { bigint: true });
    return `${ino}/${size}/${mtimeNs}`;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** Finds the temporary files of interrupted writes. Source: lbry-sdk `WalletStorage.write`, which uses the same names. */
async function temporaryFiles(path: string): Promise<string[]> {
  const folder = dirname(path);
  const start = `${basename(path)}.tmp.`;
  const names = (await readdir(folder)).sort();
  return names
    .filter((name) => name.startsWith(start) && /^[0-9]+$/.test(name.slice(start.length)))
    .map((name) => join(folder, name));
}

const isWhole = async (path: string): Promise<boolean> => {
  try {
    refuseSpecialFile(path);
    return parseWalletText(decodeUtf8(await readFile(path)) ?? '').has('accounts');
  } catch {
    return false;
  }
};

/**
 * Completes an interrupted write: if the wallet file is missing, a complete temporary file is renamed to it. lbrynet removes
 * the old file before the rename, so a kill may leave this state. Resolves to the path of the temporary file, or null.
 * Rejects with `DaemonError` if there are several temporary files.
 */
export async function takeWholeTemporary(path: string): Promise<string | null> {
  if ((await fileStamp(path)) !== null) return null;
  const whole: string[] = [];
  for (const one of await temporaryFiles(path)) if (await isWhole(one)) whole.push(one);
  const [only] = whole;
  if (only === undefined) return null;
  if (whole.length > 1)
    throw new DaemonError(
      'WalletFileError',
      `The wallet file ${path} is missing, and there are several new files for it: ${whole.join(', ')}. ` +
        `Rename the right one, usually the newest, to ${basename(path)}, and start again.`,
    );
  await rename(only, path);
  return only;
}

/** Removes incomplete temporary files of interrupted writes. Complete temporary files stay. */
export async function removeHalfWritten(path: string): Promise<void> {
  for (const one of await temporaryFiles(path)) if (!(await isWhole(one))) await rm(one, { force: true });
}

async function modeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).mode & MODE_BITS;
  } catch (error) {
    if (isMissing(error)) return NEW_FILE_MODE;
    throw error;
  }
}

/**
 * Replaces the content of the file. Resolves when the new content is on disk. The permission bits of an existing file do not
 * change; a new file is accessible only to its owner.
 */
export async function writeWalletFile(path: string, text: string): Promise<void> {
  const mode = await modeOf(path);
  const temporary = `${path}.tmp.${process.pid}`;
  try {
    const file = await open(temporary, 'w', NEW_FILE_MODE);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await chmod(temporary, mode);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  const folder = await open(dirname(path), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
