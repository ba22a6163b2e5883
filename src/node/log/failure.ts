/**
 * The operator's message about an error that ends the program: one message, with the remedy. Distinguishes bugs from
 * environment failures; only the stack of a bug is useful, and it is logged.
 */
import {
  systemErrorCode,
  systemErrorOfText,
  systemErrorPath,
  systemErrorText,
} from '../../util/text/environmentError.js';
import { OperatorError } from '../../util/text/operatorError.js';
import { errorText } from '../start/closeStack.js';

export interface Failure {
  /** Message for people, in whole sentences. */
  readonly text: string;
  /** Whether only a developer can fix it: then the stack is logged. */
  readonly isBug: boolean;
}

/** `folder` is mentioned if the error names no file. */
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

/** LevelDB names the file in its message; corruption can be repaired from the block files. */
function databaseText(error: Error, folder: string): string | null {
  const code = (error as { code?: unknown }).code;
  if (typeof code !== 'string' || !code.startsWith('LEVEL_')) return null;
  const { message } = error.cause instanceof Error ? error.cause : error;
  const system = systemErrorOfText(message);
  if (system !== null) return systemErrorText(system.code, system.path);
  if (!/corruption|IO error|invalid argument/i.test(message)) return null;
  return `The database in ${folder} is damaged: ${message}. Restart with -reindex to rebuild it from the block files.`;
}
