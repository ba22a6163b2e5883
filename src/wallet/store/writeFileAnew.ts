/**
 * A wallet file written as a whole: under another name first, then moved to its own, so that there is all of it or nothing.
 * Owns the names of unfinished files, and what becomes of replaced ones. Its layout is `walletFile.ts`'s.
 */
import { randomBytes } from 'node:crypto';
import { close, fsync, fsyncSync, fstatSync, openSync, writeSync } from 'node:fs';
import { link, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { RecordWriter } from '../../store/rows/rowRecords.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import type { Bytes } from '../../util/bytes.js';
import { makeCommit } from './walletCommits.js';
import * as head from './walletFileHead.js';

const syncFile = promisify(fsync);
const closeFile = promisify(close);

/** A commit is no longer, except for one row that is. */
const MAX_COMMIT_BYTES = 1 << 20;
/** What is overwritten at once. */
const WIPE_BYTES = 1 << 20;

export function writeWhole(fd: number, bytes: Buffer, offset: number): void {
  for (let done = 0; done < bytes.length;) {
    done += writeSync(fd, bytes, done, bytes.length - done, offset + done);
  }
}

/** What the name of a file that is being written ends with; a kill leaves it there. */
const TEMPORARY = /^\.[0-9a-f]{12}\.tmp$/;

/** Whether a name is that of a file which was to become `name` and was not finished. */
export function isLeftover(other: string, name: string): boolean {
  return other.startsWith(name) && TEMPORARY.test(other.slice(name.length));
}

/** Removes files that were to replace one and were not finished. */
export async function removeLeftovers(path: string): Promise<void> {
  const name = basename(path);
  for (const other of await readdir(dirname(path))) {
    if (isLeftover(other, name)) await rm(join(dirname(path), other), { force: true });
  }
}

/** Writes zeros over a file that has no name any more. What has one, as a link of the owner's, is not touched. */
export async function wipeUnlinked(fd: number, sizeBytes: number): Promise<void> {
  if (fstatSync(fd).nlink > 0) return;
  const zeros = Buffer.alloc(Math.min(sizeBytes, WIPE_BYTES));
  try {
    for (let at = 0; at < sizeBytes; at += zeros.length)
      writeWhole(fd, zeros.subarray(0, Math.min(zeros.length, sizeBytes - at)), at);
    await syncFile(fd);
  } catch {
    // The new file stands; what was in the old one is the disk's to forget.
  }
}

/**
 * Writes a wallet file with these rows under another name, brings it to disk and moves it to `path`. No one but its owner
 * may read it.
 */
export async function writeFileAnew(
  path: string,
  rows: Iterable<readonly [key: string, value: Bytes]>,
  replaces: boolean,
): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  const file = await open(temporary, 'wx', 0o600);
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
      end += commit.length;
      // Private keys may be in it.
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
    await file.sync();
  } catch (error) {
    await file.close();
    await rm(temporary, { force: true });
    throw error;
  }
  await file.close();
  try {
    // A link fails where something lies already; a name does not.
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
    // Not every system lets folders be opened.
    return;
  }
  try {
    fsyncSync(fd);
  } catch {
    // Nor synced.
  } finally {
    void closeFile(fd);
  }
}
