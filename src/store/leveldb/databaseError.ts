/** The class of all errors of LevelDB, of the addon and of the package. */
import { systemErrorOfText } from '../../util/text/environmentError.js';

/** An error of LevelDB. `cause` is the error that the addon or the package threw; the message is that of LevelDB. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError';
  /** Code of the addon or the package, such as `LEVEL_IO_ERROR`. */
  readonly code: string;
  /** The failed system call; null if the error has another reason. */
  readonly system: { readonly code: string; readonly path: string } | null;

  constructor(code: string, cause: Error) {
    const { message } = cause.cause instanceof Error ? cause.cause : cause;
    super(message, { cause });
    this.code = code;
    this.system = systemErrorOfText(message);
  }

  /** Whether files of the database lost or changed bytes. */
  get isCorruption(): boolean {
    return this.system === null && /corruption|IO error|invalid argument/i.test(this.message);
  }

  /** Whether another process has the database open. A lock file that cannot be opened does not count. */
  get isLocked(): boolean {
    return this.system === null && this.code === 'LEVEL_LOCKED';
  }
}

/** Wraps an error of LevelDB. Other errors are returned unchanged. */
export function databaseError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof DatabaseError) return error;
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && code.startsWith('LEVEL_') ? new DatabaseError(code, error) : error;
}

/** Calls LevelDB. Throws its errors as `DatabaseError`. */
export function onDatabase<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw databaseError(error);
  }
}
