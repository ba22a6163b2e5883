/**
 * Plain error messages for a file that SQLite cannot open, read or write. SQLite reports neither the file nor the system's
 * reason, so this module finds both by examining the files and their folder.
 */
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  EnvironmentError,
  environmentError,
  systemErrorCode,
  systemErrorText,
} from '../util/text/environmentError.js';

/** SQLite's file failures: primary result code (sqlite3.h), error text, and the corresponding system error code. */
const FAILURES: readonly (readonly [code: number, text: RegExp, systemCode: string | null])[] = [
  [3, /access permission denied/i, 'EACCES'],
  [8, /readonly database/i, 'EROFS'],
  [10, /disk I\/O error/i, 'EIO'],
  [13, /disk is full/i, 'ENOSPC'],
  [14, /unable to open database/i, null],
];
/** Suffixes of the database file and of the files that SQLite creates beside it. */
const BESIDE = ['', '-wal', '-shm', '-journal'] as const;

/** Finds the file or folder that causes an error of the database at `path`; null if none is found. */
function hindrance(path: string): { path: string; code: string } | null {
  for (const suffix of BESIDE) {
    const file = path + suffix;
    try {
      if (!existsSync(file)) continue;
      if (statSync(file).isDirectory()) return { path: file, code: 'EISDIR' };
      accessSync(file, constants.R_OK | constants.W_OK);
    } catch (error) {
      return { path: file, code: systemErrorCode(error) ?? 'EACCES' };
    }
  }
  try {
    accessSync(dirname(path), constants.W_OK | constants.X_OK);
  } catch (error) {
    return { path: dirname(path), code: systemErrorCode(error) ?? 'EACCES' };
  }
  return null;
}

/** Converts an error about a file to an `EnvironmentError` for the operator. Other errors are returned unchanged. */
export function sqliteFileError(error: unknown, path: string): unknown {
  if (!(error instanceof Error)) return error;
  if (systemErrorCode(error) !== null) return environmentError(error, path);
  const { errcode } = error as { errcode?: unknown };
  const failure = FAILURES.find(([code, text]) =>
    typeof errcode === 'number' ? (errcode & 0xff) === code : text.test(error.message),
  );
  if (failure === undefined) return error;
  const found = hindrance(path) ?? (failure[2] === null ? null : { path, code: failure[2] });
  const text =
    found === null
      ? `${path}: it cannot be opened (${error.message}). Move it away and start again.`
      : systemErrorText(found.code, found.path);
  return new EnvironmentError(text, { cause: error });
}
