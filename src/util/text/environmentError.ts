/**
 * Error messages for failures of the environment (disks, files, permissions, limits). A message describes the failure, names
 * the file, and tells the operator what to do. Such an error is not a bug and not a rejection of a block, so the program
 * prints the message without a stack trace.
 */
import { OperatorError } from './operatorError.js';

/** Error: the environment failed. The message is for the operator and contains the failure, the file, and what to do. */
export class EnvironmentError extends OperatorError {
  override readonly name: string = 'EnvironmentError';
}

/** Texts for system error codes: the failure, and what the operator can do. Source: errno(3). */
const SYSTEM_ERRORS: Readonly<Record<string, readonly [happened: string, advice: string]>> = {
  ENOSPC: ['no space is left on its disk', 'Free disk space and start again'],
  EDQUOT: ['the disk quota is exceeded', 'Free disk space and start again'],
  EFBIG: [
    'it would exceed the maximum file size',
    'Raise the limit of file sizes (ulimit -f) and start again',
  ],
  EIO: ['the disk failed to read or write it', 'Check the disk and the system’s log, then start again'],
  EROFS: ['its disk is read-only', 'Make the disk writable and start again'],
  EACCES: ['access is denied', 'Give the user that runs the node the permission and start again'],
  EPERM: ['access is denied', 'Give the user that runs the node the permission and start again'],
  EMFILE: [
    'the process has too many files open',
    'Raise the limit of open files (ulimit -n) or lower -maxconnections, then start again',
  ],
  ENFILE: ['the system has too many files open', 'Close other programs or raise the limit, then start again'],
  ENOMEM: ['the system has no memory left', 'Close other programs or lower -dbcache, then start again'],
  ENOTDIR: ['a part of its path is not a folder', 'Move the file in its path away and start again'],
  EISDIR: ['it is a folder where a file should be', 'Move it away and start again'],
  EFTYPE: ['it is a named pipe, a socket or a device where a file should be', 'Move it away and start again'],
  EEXIST: ['another file exists there', 'Move it away and start again'],
  ENOTEMPTY: ['a folder that is not empty exists there', 'Move it away and start again'],
  ENOENT: ['it is missing', 'Restore it and start again'],
  ELOOP: ['its path is a loop of symbolic links', 'Correct the symbolic links and start again'],
  ENAMETOOLONG: ['its path is too long', 'Use a shorter path'],
  ENODEV: ['its disk was removed', 'Attach the disk and start again'],
  ENXIO: ['its disk was removed', 'Attach the disk and start again'],
  ESTALE: ['its disk was removed', 'Attach the disk and start again'],
  EBUSY: ['it is in use', 'End the program that uses it and start again'],
  ETXTBSY: ['it is in use', 'End the program that uses it and start again'],
  ETIMEDOUT: ['its disk does not answer', 'Check the disk and start again'],
};

/** Texts of system errors that follow the file's name in LevelDB's messages, with their error codes. */
const SYSTEM_TEXTS: readonly (readonly [text: RegExp, code: string])[] = [
  [/no space left on device/i, 'ENOSPC'],
  [/disk quota exceeded/i, 'EDQUOT'],
  [/file too large/i, 'EFBIG'],
  [/input\/output error/i, 'EIO'],
  [/read-only file ?system/i, 'EROFS'],
  [/permission denied/i, 'EACCES'],
  [/operation not permitted/i, 'EPERM'],
  [/too many open files in system/i, 'ENFILE'],
  [/too many open files/i, 'EMFILE'],
  [/cannot allocate memory/i, 'ENOMEM'],
  [/not a directory/i, 'ENOTDIR'],
  [/is a directory/i, 'EISDIR'],
  [/directory not empty/i, 'ENOTEMPTY'],
  [/file exists/i, 'EEXIST'],
  [/no such file or directory/i, 'ENOENT'],
  [/no such device/i, 'ENODEV'],
  [/stale file handle/i, 'ESTALE'],
];

/** Error codes that LevelDB reports only if its files were manipulated. */
const CORRUPTION: ReadonlySet<string> = new Set(['ENOENT', 'EISDIR', 'ENOTEMPTY', 'EEXIST']);

/** Error codes of a full disk. */
const FULL: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT']);

/** Code of a system error. Null for other errors, and for system errors that the operator cannot fix. */
export function systemErrorCode(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const { code } = error as NodeJS.ErrnoException;
  // Node.js uses this code if a folder is removed as if it were a file.
  if (code === 'ERR_FS_EISDIR') return 'EISDIR';
  return code !== undefined && Object.hasOwn(SYSTEM_ERRORS, code) ? code : null;
}

/** Whether a system error, or an `EnvironmentError` of this or another thread, is about a full disk. */
export function isDiskFull(error: unknown): boolean {
  const code = systemErrorCode(error);
  if (code !== null) return FULL.has(code);
  return error instanceof EnvironmentError && [...FULL].some((full) => error.message.includes(`(${full})`));
}

/** The path in a system error; `otherwise` if the error contains no path. */
export function systemErrorPath(error: unknown, otherwise: string): string {
  const { path, info } = error as { path?: unknown; info?: { path?: unknown } };
  return [path, info?.path].find((one) => typeof one === 'string') ?? otherwise;
}

/** Adds `path` to a system error that has no path (errors of reads and writes). Returns the error. */
export function withPath(error: unknown, path: string): unknown {
  if (systemErrorCode(error) !== null && systemErrorPath(error, '') === '')
    (error as NodeJS.ErrnoException).path = path;
  return error;
}

/** Describes the failure as a part of a sentence, such as `it is missing`. `code` is the code of a system error. */
export function systemErrorReason(code: string): string {
  return SYSTEM_ERRORS[code]![0];
}

/**
 * Returns one sentence about the failure and one about what the operator can do. `path` is the file that the failed call
 * used.
 */
export function systemErrorText(code: string, path: string): string {
  const [happened, advice] = SYSTEM_ERRORS[code]!;
  return `${path}: ${happened} (${code}). ${advice}; no acknowledged data is lost.`;
}

/**
 * The message of an `EnvironmentError` for a failed call to a program that continues to run. It advises to repeat the call. The
 * message of a system error advises to start the program again.
 */
export function callErrorText({ message }: EnvironmentError): string {
  return message
    .replace(/start again; no acknowledged data is lost\.$/, 'repeat the call.')
    .replace(/; no acknowledged data is lost\.$/, '.');
}

/**
 * Parses LevelDB's text `IO error: <path>: <reason>`. Returns the path and the error code of the reason. Null for other
 * texts. Also null if the file is missing or not a file, because only corruption causes this, and corruption can be repaired from
 * the block files. `LOCK` is an exception, because it is empty.
 */
export function systemErrorOfText(text: string): { path: string; code: string } | null {
  const found = /IO error: (\/.*?|[A-Za-z]:\\.*?): (.*)/.exec(text);
  if (!found) return null;
  const code = SYSTEM_TEXTS.find(([pattern]) => pattern.test(found[2]!))?.[1];
  if (code === undefined || (CORRUPTION.has(code) && !found[1]!.endsWith('LOCK'))) return null;
  return { path: found[1]!, code };
}

/**
 * Converts a system error to an `EnvironmentError`. The message names `path`, unless the error itself contains a path. Other
 * errors are returned unchanged.
 */
export function environmentError(error: unknown, path: string): unknown {
  const code = systemErrorCode(error);
  if (code === null) return error;
  return new EnvironmentError(systemErrorText(code, systemErrorPath(error, path)), { cause: error });
}

/** Error codes that mean that a disk is full or broken. A wrong path has other codes. */
const DISK_FAILURES: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO']);

/** If a disk is full or broken: the failure, in the form of `failureReason`. Null for other errors, such as a wrong path. */
export function diskFailureReason(error: unknown): string | null {
  const cause = error instanceof EnvironmentError ? error.cause : error;
  const code = systemErrorCode(cause);
  return code !== null && DISK_FAILURES.has(code) ? failureReason(cause) : null;
}

/** The reason of an error as a part of a sentence. Used for errors that do not end the program. */
export function failureReason(error: unknown): string {
  const cause = error instanceof EnvironmentError && error.cause !== undefined ? error.cause : error;
  const code = systemErrorCode(cause);
  if (code !== null) return `${systemErrorReason(code)} (${code})`;
  return cause instanceof Error ? cause.message : String(cause);
}

/**
 * Runs a task that uses the file at `path`. Throws system errors as `EnvironmentError` that names the file. A function for
 * the path is called only after an error.
 */
export function onFile<T>(path: string | (() => string), task: () => T): T {
  try {
    return task();
  } catch (error) {
    throw environmentError(error, typeof path === 'string' ? path : path());
  }
}
