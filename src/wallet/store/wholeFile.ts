/**
 * Writes a wallet file as a whole. The file is written under a temporary name and then moved to its path, so that it is
 * either complete or missing. Handles the names of temporary files and the overwriting of replaced files. `walletFile.ts`
 * describes the layout.
 */
import { randomBytes } from 'node:crypto';
import { close, fsync, fsyncSync, fstatSync, openSync, writeSync } from 'node:fs';
import { link, open, readdir, rename, rm, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { RecordWriter } from '../../store/rows/rowRecords.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import type { Bytes } from '../../util/bytes.js';
import { COMMIT_HEAD_BYTES, makeCommit } from './walletCommits.js';
import * as head from './walletFileHead.js';

const syncFile = promisify(fsync);
const closeFile = promisify(close);

/** Maximum size of a commit in bytes. A commit with a single row may be larger. */
const MAX_COMMIT_BYTES = 1 << 20;
/** Number of bytes that are overwritten in one write. */
const WIPE_BYTES = 1 << 20;

export function writeWhole(fd: number, bytes: Buffer, offset: number): void {
  for (let done = 0; done < bytes.length;) {
    done += writeSync(fd, bytes, done, bytes.length - done, offset + done);
  }
}

/** Suffix of a temporary file. A process that was killed may leave such a file. */
const TEMPORARY = /^\.[0-9a-f]{12}\.tmp$/;

/** Whether file `other` is a leftover temporary file of the file `name`. */
export function isLeftover(other: string, name: string): boolean {
  return other.startsWith(name) && TEMPORARY.test(other.slice(name.length));
}

/** Removes leftover temporary files of the file at `path`. */
export async function removeLeftovers(path: string): Promise<void> {
  const name = basename(path);
  for (const other of await readdir(dirname(path))) {
    if (isLeftover(other, name)) await rm(join(dirname(path), other), { force: true });
  }
}

/**
 * Overwrites a file with zeros if it was deleted. A file that still has a name, such as a hard link by the user, is not
 * changed.
 */
export async function wipeUnlinked(fd: number, sizeBytes: number): Promise<void> {
  if (fstatSync(fd).nlink > 0) return;
  const zeros = Buffer.alloc(Math.min(sizeBytes, WIPE_BYTES));
  try {
    for (let at = 0; at < sizeBytes; at += zeros.length)
      writeWhole(fd, zeros.subarray(0, Math.min(zeros.length, sizeBytes - at)), at);
    await syncFile(fd);
  } catch {
    // The new file is complete, so the error is ignored. Its only effect is that old data may remain on the disk.
  }
}

/** Receives the payloads of a wallet file while it is written, and adds data after its last commit. */
export interface WholeFileTail {
  /** Called with each payload and its offset in the file. */
  take(payload: Buffer, offset: number): void;
  /** Called when all commits are written. `end` and `number`: offset and number of the next commit. */
  write(file: FileHandle, end: number, number: number): Promise<void>;
}

/**
 * Writes a wallet file with these rows under a temporary name, syncs it, and moves it to `path`. Only the user that runs the
 * node can read it.
 */
export async function writeWholeFile(
  path: string,
  rows: Iterable<readonly [key: string, value: Bytes]>,
  replaces: boolean,
  tail: WholeFileTail | null = null,
): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  const file = await open(temporary, tail === null ? 'wx' : 'wx+', 0o600);
  try {
    const { fd } = file;
    const records = new RecordWriter();
    let end = head.HEAD_BYTES;
    let number = 0;
    const flush = (): void => {
      const payload = records.take();
      if (payload.length === 0) return;
      const commit = makeCommit(payload, number++);
      writeWhole(fd, commit, end);
      tail?.take(commit.subarray(COMMIT_HEAD_BYTES), end + COMMIT_HEAD_BYTES);
      end += commit.length;
      // The commit is overwritten, because it may contain private keys.
      commit.fill(0);
    };
    let since = performance.now();
    for (const [key, value] of rows) {
      records.add(key, value);
      if (records.sizeBytes >= MAX_COMMIT_BYTES) flush();
      since = await yieldIfDue(since);
    }
    flush();
    records.wipe();
    writeWhole(fd, head.makeHead(end), 0);
    await tail?.write(file, end, number);
    await file.sync();
  } catch (error) {
    await file.close();
    await rm(temporary, { force: true });
    throw error;
  }
  await file.close();
  try {
    // `link` fails if `path` exists, while `rename` replaces an existing file.
    if (replaces) await rename(temporary, path);
    else await link(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
  syncFolder(dirname(path));
}

function syncFolder(path: string): void {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch {
    // Some systems cannot open folders, so on these systems the folder is not synced.
    return;
  }
  try {
    fsyncSync(fd);
  } catch {
    // Some file systems cannot sync folders, so on these the folder is not synced.
  } finally {
    void closeFile(fd);
  }
}
