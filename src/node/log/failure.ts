/**
 * Creates the operator's message for an error that ends the program, with a suggested fix. Distinguishes bugs from errors of
 * the environment. The stack is logged only for a bug.
 */
import { DatabaseError } from '../../store/leveldb/databaseError.js';
import { systemErrorCode, systemErrorPath, systemErrorText } from '../../util/text/environmentError.js';
import { OperatorError } from '../../util/text/operatorError.js';
import { errorText } from '../start/closeStack.js';

export interface Failure {
  /** Message for the operator, in whole sentences. */
  readonly text: string;
  /** Whether the error is a bug, which only a developer can fix. Its stack is logged. */
  readonly isBug: boolean;
}

/** Describes an error that ends the program. If the error names no file, the message contains `folder`. */
export function describeFailure(error: unknown, folder: string): Failure {
  if (error instanceof AggregateError) {
    const parts = error.errors.map((one: unknown) => describeFailure(one, folder));
    const texts = [...new Set(parts.map(({ text }) => text))];
    return { text: texts.join('\n'), isBug: parts.some(({ isBug }) => isBug) };
  }
  const known = environmentText(error, folder);
  if (known !== null) return { text: known, isBug: false };
  return { text: errorText(error), isBug: true };
}

function environmentText(error: unknown, folder: string): string | null {
  if (!(error instanceof Error)) return null;
  if (error instanceof OperatorError) return error.message;
  return databaseText(error, folder) ?? systemText(error, folder);
}

function systemText(error: Error, folder: string): string | null {
  const code = systemErrorCode(error);
  return code === null ? null : systemErrorText(code, systemErrorPath(error, folder));
}

/** Returns the message for a database error, or null for other errors. A corrupt database can be rebuilt from the block files. */
function databaseText(error: Error, folder: string): string | null {
  if (!(error instanceof DatabaseError)) return null;
  const { message, system, isCorruption } = error;
  if (system !== null) return systemErrorText(system.code, system.path);
  if (!isCorruption) return null;
  return `The database in ${folder} is corrupt: ${message}. Restart with -reindex to rebuild it from the block files.`;
}
