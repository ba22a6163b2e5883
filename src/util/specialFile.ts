/**
 * Named pipes, sockets and devices in place of files. Opening a pipe waits for a writer, possibly forever, and holds a
 * thread meanwhile. Code that opens a file of unknown kind asks here first.
 */
import { statSync } from 'node:fs';
import { systemErrorReason } from './text/environmentError.js';

/** BSD's error code for a file of the wrong type. Linux has none. */
const CODE = 'EFTYPE';
/** What is named below it is meant as it is: `/dev/null`, `/dev/stdin`, `/dev/fd/63`. */
const MEANT = /^\/dev\//;

/** Whether something is at a path, or behind its link, that is neither file nor folder. */
export function isSpecialFile(path: string | Buffer): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found !== undefined && !found.isFile() && !found.isDirectory();
}

/** Throws a system error (EFTYPE) that names the path where a special file is there, unless it is named below `/dev`. */
export function refuseSpecialFile(path: string): void {
  if (MEANT.test(path) || !isSpecialFile(path)) return;
  throw Object.assign(new Error(systemErrorReason(CODE)), { code: CODE, path });
}
