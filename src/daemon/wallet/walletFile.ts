/**
 * The file of a wallet: read, and replaced as a whole so that a kill leaves the old or the new one. What cannot be read is
 * never written over. Source: lbry-sdk lbry/wallet/wallet.py `WalletStorage`.
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
import { linkTarget } from '../../util/linkTarget.js';
import { refuseSpecialFile } from '../../util/specialFile.js';
import { DaemonError } from '../base/daemonError.js';
import { parseWalletText } from './walletContents.js';

const NEW_FILE_MODE = 0o600;
const MODE_BITS = 0o7777;

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';
const exists = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'EEXIST';

/** Whether anything is at the path, be it a link that leads nowhere. */
export async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    (error: unknown) => !isMissing(error),
  );
}

/**
 * Where the file is: where a link at the path leads to. Throws `EnvironmentError` for a link that leads nowhere: a new wallet
 * in its place would hide the one on a disk that is not there.
 */
export async function placeOfFile(path: string): Promise<string> {
  try {
    return linkTarget(path);
  } catch (error) {
    if (!isMissing(error)) throw environmentError(error, path);
    throw new EnvironmentError(
      `The wallet file ${path} is a link to ${await readlink(path)}, where nothing is. Attach the disk that it is on, ` +
        'or remove the link to begin with a new wallet.',
    );
  }
}

/**
 * What the file says, or null if there is none. Throws `DaemonError` with what to do where it is not a wallet,
 * `EnvironmentError` where it is not a file.
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
    // A wallet of lbryum may have none.
    if (!wallet.has('accounts') && !wallet.has('master_public_keys'))
      throw new Error('It has no accounts, so it is not a wallet of lbrynet or lbcnet.');
    return wallet;
  } catch (error) {
    throw await unreadableWallet(path, (error as Error).message);
  }
}

/** What is thrown where the file at the path is not a wallet that can be used: it says what to do, and a copy is kept. */
export async function unreadableWallet(path: string, reason: string): Promise<DaemonError> {
  const copy = await keepCopy(path, 'damaged');
  return new DaemonError(
    'WalletFileError',
    `The wallet file ${path} cannot be read: ${reason} It is left as it is, and a copy is kept at ` +
      `${copy}. Put a backup in its place, or move it away to begin with a new wallet.`,
  );
}

/** Copies the file to the first free name beside it, unless such a copy is there; says where it is. */
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

/** Stamp that detects a changed file; null without a file. */
export async function fileStamp(path: string): Promise<string | null> {
  try {
    const { ino, size, mtimeNs } = await stat(path, { bigint: true });
    return `${ino}/${size}/${mtimeNs}`;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** Files that writing begins with. Source: lbry-sdk `WalletStorage.write`, which has the same names. */
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
 * Puts a file that was written whole in its place where a kill came before that: lbrynet removes the old file first. The path
 * that was taken, or null. Throws `DaemonError` where there are several.
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
      `The wallet file ${path} is missing, and there are several that were to become it: ${whole.join(', ')}. ` +
        `Rename the one that is right, most often the newest, to ${basename(path)}, and start again.`,
    );
  await rename(only, path);
  return only;
}

/** Removes halves of what is in the file, which kills in the middle of writing left beside it; what is whole stays. */
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

/** Puts the text in place of the file and returns when it is on disk. The file's mode stays; a new one is the owner's alone. */
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
