/** Data and callbacks that all steps of a start share. */
import type { Logger, LogControl } from '../../util/logging.js';
import type { AdjustedClock } from '../clock.js';
import type { StatusLine } from '../display/console.js';
import type { LoadedOptions } from '../options/options.js';
import type { NodeServices } from '../services/services.js';
import type { CloseStack } from './closeStack.js';
import { OperatorError } from '../../util/text/operatorError.js';

/** Error: the operator must fix a problem before the node can start. Printed as `Error: …`. */
export class StartError extends OperatorError {
  override readonly name = 'StartError';
}

export interface NodeDeps {
  logger: Logger & LogControl;
  /** Requests that the program stops the node. The program then calls `stop` of the handle. */
  requestStop: () => void;
  /** Called for a bug or a broken environment. The program must report it and stop. */
  onFatal: (error: unknown) => void;
  /** Signal that aborts if the program is stopped during the start. */
  signal: AbortSignal;
  /**
   * Shows a warning to the operator, in addition to the log. Not called for the warnings of `LoadedOptions`, which the
   * program has already shown.
   */
  showWarning?: (message: string) => void;
  /** Shows the progress of long work in the status line; null removes it. */
  show?: (status: StatusLine | null) => void;
  /** Writes a progress line to the log. */
  logProgress?: (line: string) => void;
  /** Called with the name of each flush point. Tests kill the process at these points. */
  onPoint?: (name: string) => void;
}

export interface StartContext {
  readonly loaded: LoadedOptions;
  readonly deps: NodeDeps;
  readonly closers: CloseStack;
  readonly clock: AdjustedClock;
  readonly parts: NodeServices;
  /** Shows a warning to the operator and writes it to the log. */
  readonly warn: (message: string) => void;
  /** Signal that aborts when the program stops, and when the node abandons an import. */
  readonly signal: AbortSignal;
}
