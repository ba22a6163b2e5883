/** What the system refuses about a file of the database, so that code that stops on LevelDB's errors stops on it. */
import {
  EnvironmentError,
  systemErrorCode,
  systemErrorPath,
  systemErrorText,
} from '../../util/environmentError.js';
import { DatabaseCorruptionError } from '../levelDb.js';

export class DatabaseFileError extends EnvironmentError {
  override readonly name = 'DatabaseFileError';
  readonly code = 'LEVEL_IO_ERROR';
}

/** The error with the file's name and what to do; what is known already stays as it is. */
export function fileError(error: unknown, path: string): Error {
  if (error instanceof DatabaseCorruptionError || error instanceof DatabaseFileError) return error;
  const code = systemErrorCode(error);
  const text =
    code === null
      ? `${path}: ${error instanceof Error ? error.message : String(error)}. Check its disk and start again.`
      : systemErrorText(code, systemErrorPath(error, path));
  return new DatabaseFileError(text, { cause: error });
}
