/** A log without output. */
import type { Logger } from '../../../../src/util/logging.js';

export const quietLogger: Logger = {
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  debug: () => undefined,
  willLog: () => false,
};
