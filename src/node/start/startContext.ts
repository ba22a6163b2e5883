/** What all steps of a start share. */
import type { Logger, LogControl } from '../../util/logging.js';
import type { AdjustedClock } from '../clock.js';
import type { StatusLine } from '../display/console.js';
import type { LoadedOptions } from '../options/options.js';
import type { NodeServices } from '../services/services.js';
import type { CloseStack } from './closeStack.js';
import { OperatorError } from '../../util/text/operatorError.js';

/** A problem that the operator must fix before the node can start; printed as `Error: …`. */
export class StartError extends OperatorError {
  override readonly name = 'StartError';
}

export interface NodeDeps {
  logger: Logger & LogControl;
  /** Asks the program to stop; it calls `stop` of the handle. */
  requestStop: () => void;
  /** A bug or a broken environment: the program must report it and stop. */
  onFatal: (error: unknown) => void;
  /** Aborted when the program is to stop during its start. */
  signal: AbortSignal;
  /** Shows the operator a warning in addition to the log. The program has already shown those of `LoadedOptions`. */
  showWarning?: (message: string) => void;
  /** Shows the progress of long work as a status line. */
  show?: (status: StatusLine | null) => void;
  /** Writes a log line about progress. */
  logProgress?: (line: string) => void;
  /** Called at named points of flushes; tests kill the process there. */
  onPoint?: (name: string) => void;
}

export interface StartContext {
  readonly loaded: LoadedOptions;
  readonly deps: NodeDeps;
  readonly closers: CloseStack;
  readonly clock: AdjustedClock;
  readonly parts: NodeServices;
  /** Warns the operator and writes to the log. */
  readonly warn: (message: string) => void;
  /** Aborted when the program shall stop, and when the node gives up what it imports. */
  readonly signal: AbortSignal;
}
