/**
 * Recovers the readable part of a corrupt wallet file: complete commits, and the consistent rows of corrupt commits. The
 * rows are written to a new file. The old file is kept beside it. Source: lbrycrd wallet/db.cpp `BerkeleyBatch::Recover`.
 */
import { constants, existsSync } from 'node:fs';
import { copyFile, link, readFile, rename, rm } from 'node:fs/promises';
import { EnvironmentError, environmentError } from '../../util/text/environmentError.js';
import { toLatin1 } from '../../util/bytes.js';
import { inSlices } from '../../scheduler/slices.js';
import { AT_ONCE_SIZE, type Slices } from '../../util/slices.js';
import { parseKeyRecord } from '../keys/keyRecords.js';
import { parseTxRecord } from '../ledger/txRecord.js';
import { Reader } from '../../util/reader.js';
import { refuseSpecialFile } from '../../util/files/specialFile.js';
import { changesOf } from '../../store/rows/rowRecords.js';
import type { NodePort } from '../port.js';
import { beginsWithColumns } from './columnFile.js';
import { RECORD_KINDS, splitKey } from './records.js';
import { COMMIT_HEAD_BYTES, commitNumber, isWhole } from './walletCommits.js';
import { WalletFile } from './walletFile.js';
import { HEAD_BYTES, syncedEnd } from './walletFileHead.js';

const DELETED = 0xffffffff;
const ROW_HEAD_BYTES = 8;
/** Maximum length in bytes of a row key. The longest key contains a script. */
const MAX_KEY_BYTES = 11_000;
const MAX_VALUE_BYTES = 4 << 20;
/** Maximum number of consecutive commits that may be lost in a corrupt part of the file. */
const MAX_GAP = 1 << 20;

export interface Salvaged {
  readonly rows: ReadonlyMap<string, Buffer>;
  /** Number of bytes in the file that contain no readable rows. */
  readonly lostBytes: number;
}

/** Writes the readable rows to a new file, which replaces the old file. The old file is kept beside it under another name. */
export async function salvageWallet(path: string, { log, warn, nowSec }: NodePort): Promise<void> {
  let bytes: Buffer;
  try {
    refuseSpecialFile(path);
    bytes = await readFile(path);
  } catch (error) {
    throw environmentError(error, path);
  }
  const { rows, lostBytes } = await inSlices(salvageRows(bytes));
  if (rows.size === 0)
    throw new EnvironmentError(
      `Salvage found no records in ${path}. The file is not changed; restore a backup.`,
    );
  let kept = `${path}.${nowSec()}.bak`;
  for (let n = 1; existsSync(kept); n++) kept = `${path}.${nowSec()}.${n}.bak`;
  const fresh = `${path}.salvaged`;
  try {
    // A process that was killed may have left an unfinished file with this name.
    await rm(fresh, { force: true });
    const file = await WalletFile.create(fresh, rows);
    await file.close();
    // A wallet file with this name must exist at any time. Otherwise a start of the node would create an empty wallet.
    await keepAs(path, kept);
    await rename(fresh, path);
  } catch (error) {
    throw environmentError(error, path);
  }
  log.info(`The old ${path} is kept as ${kept}`);
  const found = `Salvage of ${path} found ${rows.size} records.`;
  if (lostBytes > 0) warn(`${found} ${lostBytes} bytes could not be read; the old file is ${kept}.`);
  else log.info(`${found} Nothing was corrupt.`);
}

/** Gives a file a second name: by a hard link, or by a copy if the file system does not support hard links. */
async function keepAs(path: string, kept: string): Promise<void> {
  try {
    await link(path, kept);
  } catch {
    await copyFile(path, kept, constants.COPYFILE_EXCL);
  }
}

/** The latest version of each row, as far as the file is readable. */
function* salvageRows(bytes: Buffer): Slices<Salvaged> {
  const rows = new Map<string, Buffer>();
  let lostBytes = 0;
  let number = -1;
  let looked = 0;
  const last = attachedImageAt(bytes) ?? bytes.length;
  for (let at = HEAD_BYTES; at < last;) {
    const end = commitEnd(bytes, at, number);
    if (end !== null) {
      number = commitNumber(bytes.subarray(at, end));
      for (const [key, value] of changesOf(bytes.subarray(at + COMMIT_HEAD_BYTES, end)))
        enter(rows, key, value);
      at = end;
    } else {
      const row = rowAt(bytes, at);
      if (row === null) lostBytes++;
      else enter(rows, row.key, row.value);
      at = row?.end ?? at + 1;
    }
    if (++looked % AT_ONCE_SIZE === 0) yield;
  }
  return { rows, lostBytes };
}

/** Offset of the image that a backup has after its commits (`walletImage.ts`); null if the file has none. */
function attachedImageAt(bytes: Buffer): number | null {
  const end = bytes.length < HEAD_BYTES ? bytes.length : syncedEnd(bytes).end;
  return end < bytes.length && beginsWithColumns(bytes.subarray(end)) ? end : null;
}

function enter(rows: Map<string, Buffer>, key: Buffer, value: Buffer | null): void {
  if (value === null) rows.delete(toLatin1(key));
  else rows.set(toLatin1(key), Buffer.from(value));
}

/** End of the complete commit that begins at `at`; null if there is none. */
function commitEnd(bytes: Buffer, at: number, after: number): number | null {
  if (at + COMMIT_HEAD_BYTES > bytes.length) return null;
  const end = at + COMMIT_HEAD_BYTES + bytes.readUInt32LE(at);
  const number = commitNumber(bytes.subarray(at, at + COMMIT_HEAD_BYTES));
  if (end > bytes.length || number <= after || number > after + MAX_GAP) return null;
  return isWhole(bytes.subarray(at, end)) ? end : null;
}

/** The row that starts at `at`, if it is valid for its type; null otherwise. */
function rowAt(bytes: Buffer, at: number): { key: Buffer; value: Buffer | null; end: number } | null {
  if (at + ROW_HEAD_BYTES >= bytes.length) return null;
  const keyLength = bytes.readUInt32LE(at);
  const valueLength = bytes.readUInt32LE(at + 4);
  if (keyLength === 0 || keyLength > MAX_KEY_BYTES) return null;
  const isDeleted = valueLength === DELETED;
  const keyEnd = at + ROW_HEAD_BYTES + keyLength;
  const end = keyEnd + (isDeleted ? 0 : valueLength);
  if ((!isDeleted && valueLength > MAX_VALUE_BYTES) || end > bytes.length) return null;
  const key = bytes.subarray(at + ROW_HEAD_BYTES, keyEnd);
  const split = splitKey(key);
  if (split === null || !KINDS.has(split.kind)) return null;
  const value = isDeleted ? null : bytes.subarray(keyEnd, end);
  return value === null || holdsTogether(split.kind, split.rest, value) ? { key, value, end } : null;
}

const KINDS: ReadonlySet<string> = new Set(RECORD_KINDS);

/** Whether the content of a row without a checksum is consistent: its fields match each other. */
function holdsTogether(kind: string, rest: Buffer, value: Buffer): boolean {
  try {
    if (kind === 'key') return parseKeyRecord(value, new Reader(rest).varBytes()) !== null;
    if (kind === 'tx') parseTxRecord(value);
    return true;
  } catch {
    return false;
  }
}
