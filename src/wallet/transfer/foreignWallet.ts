/**
 * Reads a `wallet.dat` of the reference, including newer changes in its database log, and copies its rows to a new wallet
 * file. The original files are never changed. Source: lbrycrd wallet/db.cpp `BerkeleyEnvironment`, `LockDirectory`.
 */
import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { toLatin1 } from '../../util/bytes.js';
import { EnvironmentError, environmentError } from '../../util/text/environmentError.js';
import { inSlices } from '../../scheduler/slices.js';
import { refuseSpecialFile } from '../../util/files/specialFile.js';
import { splitKey } from '../store/records.js';
import { WalletFile } from '../store/walletFile.js';
import { BerkeleyDbError, isBerkeleyDb, readBerkeleyDb } from './berkeleyDb.js';
import type { LogFile } from './berkeleyLog.js';
import { replayLog } from './berkeleyReplay.js';

/** Name of the database within the file that contains the wallet. */
const DATABASE = 'main';
const LOG_FOLDER = 'database';
const LOG_NAME = /^log\.(\d{10})$/;
/** Name of the file that the reference locks in a wallet folder. */
const FOREIGN_LOCK = '.walletlock';
const FIRST_LOG = 'log.0000000001';
const HEAD_BYTES = 512;

/** Error: the file cannot be imported. The message contains the reason and what the operator can do. */
class ForeignWalletError extends EnvironmentError {
  override readonly name = 'ForeignWalletError';
}

/** Whether a file starts like a wallet file of the reference. */
export function isForeignWallet(path: string): boolean {
  let fd: number;
  try {
    refuseSpecialFile(path);
    fd = openSync(path, 'r');
  } catch {
    return false;
  }
  try {
    const start = Buffer.alloc(HEAD_BYTES);
    return readSync(fd, start, 0, HEAD_BYTES, 0) === HEAD_BYTES && isBerkeleyDb(start);
  } catch {
    return false;
  } finally {
    closeSync(fd);
  }
}

/** Default path of the new wallet file for a wallet file of the reference. */
export function placeBeside(path: string): string {
  return join(dirname(path), `${basename(path).replace(/\.dat$/, '')}.db`);
}

export interface Migrated {
  readonly rows: number;
  /** Whether the database log contained changes that were not in the file. */
  readonly usedLog: boolean;
  /** Warning for the user; empty if there is nothing to warn about. */
  readonly warning: string;
}

/** Copies a wallet of the reference to a new file. Rejects with `ForeignWalletError`; in that case it leaves no new file. */
export async function migrateForeignWallet(from: string, to: string): Promise<Migrated> {
  refuseOpen(from);
  let bytes: Buffer;
  let log: LogFile[];
  try {
    refuseSpecialFile(from);
    const before = await stat(from);
    bytes = await readFile(from);
    log = await logOf(from);
    const after = await stat(from);
    if (before.mtimeMs !== after.mtimeMs || bytes.length !== after.size)
      throw new ForeignWalletError(`${from} changed while it was being read. Stop lbrycrd first.`);
  } catch (error) {
    throw environmentError(error, from);
  }
  let rows = 0;
  const records = function* (database: Buffer): Generator<[key: string, value: Buffer]> {
    for (const [key, value] of readBerkeleyDb(database, DATABASE)) {
      if (splitKey(key) === null) throw new BerkeleyDbError('A record has no type');
      rows++;
      yield [toLatin1(key), value];
    }
  };
  try {
    const whole = log.length === 0 ? bytes : await inSlices(replayLog(bytes, log));
    const file = await WalletFile.create(to, records(whole));
    await file.close();
    const lacksLog = log.length === 0 && isUnfinished(bytes);
    return { rows, usedLog: !whole.equals(bytes), warning: lacksLog ? lackOfLog(from) : '' };
  } catch (error) {
    if (!(error instanceof BerkeleyDbError)) throw error;
    throw new ForeignWalletError(
      `${from} cannot be read: ${error.message}. Start lbrycrd once with this wallet and stop it, which ` +
        'cleans the file up; or export the keys with its dumpwallet and import them with importwallet.',
    );
  }
}

/** Reads the database log files that belong to a wallet file. Log files that a different machine type wrote are left out. */
async function logOf(path: string): Promise<LogFile[]> {
  const folder = join(dirname(path), LOG_FOLDER);
  let names: string[];
  try {
    names = await readdir(folder);
  } catch {
    // If the wallet was closed cleanly, it has no log.
    return [];
  }
  const files: LogFile[] = [];
  for (const name of names) {
    const match = LOG_NAME.exec(name);
    if (match === null) continue;
    refuseSpecialFile(join(folder, name));
    files.push({ number: Number(match[1]), bytes: await readFile(join(folder, name)) });
  }
  return files;
}

/**
 * Whether the pages of a file still refer to its log. The reference resets the LSNs when it closes a wallet. Source:
 * `CheckpointLSN`.
 */
function isUnfinished(bytes: Buffer): boolean {
  const pageBytes = bytes.readUInt32LE(20);
  if (pageBytes < HEAD_BYTES || pageBytes > bytes.length) return false;
  for (let at = 0; at + pageBytes <= bytes.length; at += pageBytes)
    if (bytes.readUInt32LE(at) !== 0) return true;
  return false;
}

const lackOfLog = (path: string): string =>
  `${path} was not closed cleanly, and its database log (${LOG_FOLDER}/${FIRST_LOG} and so on) is not ` +
  'next to it: the last changes by lbrycrd may be missing.';

/** Rejects a wallet that is currently open in the reference, as far as the system shows this. */
function refuseOpen(path: string): void {
  let inode: number;
  let locks: string;
  try {
    inode = statSync(join(dirname(path), FOREIGN_LOCK)).ino;
    locks = readFileSync('/proc/locks', 'latin1');
  } catch {
    // The lock file does not exist, or the system does not provide a list of locks.
    return;
  }
  const held = locks.split('\n').some((line) => new RegExp(`:${inode} \\d+ `).test(line));
  if (held) throw new ForeignWalletError(`${path} is in use. Stop lbrycrd first.`);
}
