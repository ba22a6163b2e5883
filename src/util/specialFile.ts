/**
 * Named pipes, sockets and devices at paths of files. Opening a pipe waits for a writer, possibly forever, and blocks a
 * thread. Code that opens a file of unknown type must check it first.
 */
import { statSync } from 'node:fs';
import { systemErrorReason } from './text/environmentError.js';

/** BSD's error code for a file of the wrong type. Linux has none. */
const CODE = 'EFTYPE';
/** Paths below /dev are intentional: `/dev/null`, `/dev/stdin`, `/dev/fd/63`. */
const MEANT = /^\/dev\//;

/** Whether there is something at a path, or at its link's target, that is neither file nor folder. */
export function isSpecialFile(path: string | Buffer): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found !== undefined && !found.isFile() && !found.isDirectory();
}

/** Throws a system error (EFTYPE) with the path if it is a special file, unless it is below `/dev`. */
export function refuseSpecialFile(path: string): void {
  if (MEANT.test(path) || !isSpecialFile(path)) return;
  throw Object.assign(new Error(systemErrorReason(CODE)), { code: CODE, path });
}
