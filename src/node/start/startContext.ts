/** What all steps of a start share. */
import type { Logger, LogControl } from '../../util/logging.js';
import type { AdjustedClock } from '../clock.js';
import type { StatusLine } from '../display/console.js';
import type { LoadedOptions } from '../options/options.js';
import type { NodeServices } from '../services/services.js';
import type { CloseStack } from './closeStack.js';
import { OperatorError } from '../../util/text/operatorError.js';

/** Something the operator must mend before the node can start; printed as `Error: …`. */
export class StartError extends OperatorError {
  override readonly name = 'StartError';
}

export interface NodeDeps {
  logger: Logger & LogControl;
  /** Asks the program to stop; it calls `stop` of the handle. */
  requestStop: () => void;
  /** A bug or a broken environment: the program must stop and say so. */
  onFatal: (error: unknown) => void;
  /** Aborted when the program shall stop while it is still starting. */
  signal: AbortSignal;
  /** Shows the operator a warning beside the log. Those of `LoadedOptions` the program has shown before. */
  showWarning?: (message: string) => void;
  /** Shows how far long work is, in a line that renews itself. */
  show?: (status: StatusLine | null) => void;
  /** A line of log on how far it is. */
  logProgress?: (line: string) => void;
  /** Named points of flushes, where tests kill the process. */
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
