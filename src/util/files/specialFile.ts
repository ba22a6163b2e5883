/**
 * Detects named pipes, sockets and devices at the paths of files. Opening a pipe waits for a writer, possibly forever, and
 * blocks a thread. So code that opens a file of unknown type must check the type first.
 */
import { statSync } from 'node:fs';
import { systemErrorReason } from '../text/environmentError.js';

/** BSD's error code for a file of the wrong type. Linux has no such code. */
const CODE = 'EFTYPE';
/**
 * Special files below /dev are accepted, because the operator chose them intentionally: `/dev/null`, `/dev/stdin`,
 * `/dev/fd/63`.
 */
const MEANT = /^\/dev\//;

/** Whether `path`, or the target of a link at `path`, exists and is neither a file nor a folder. */
export function isSpecialFile(path: string | Buffer): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found !== undefined && !found.isFile() && !found.isDirectory();
}

/** Throws a system error (EFTYPE) if there is a special file at `path`. Paths below `/dev` are accepted. */
export function refuseSpecialFile(path: string): void {
  if (MEANT.test(path) || !isSpecialFile(path)) return;
  throw Object.assign(new Error(systemErrorReason(CODE)), { code: CODE, path });
}
