/**
 * Errors of the daemon's methods, with the class names of lbry-sdk, which clients check (`data.name` of an answer). Any
 * other error has the name `Exception` in the answer. Source: lbry-sdk lbry/error/__init__.py.
 */

import { failureReason } from '../../util/text/environmentError.js';

export class DaemonError extends Error {
  constructor(name: string, message: string) {
    super(message);
    this.name = name;
  }
}

/** Error without a class in lbry-sdk: Python's generic `Exception`. */
export const failure = (message: string): DaemonError => new DaemonError('Exception', message);

/** Creates the error for an unmet precondition of a call, such as an unlocked wallet. */
export const assertionFailure = (message: string): DaemonError => new DaemonError('AssertionError', message);

/** Error for a parameter with an invalid value. */
export const badValue = (message: string): DaemonError => new DaemonError('ValueError', message);

/** Error for a file that the daemon cannot write. `what` names the kind of file. */
export const unwritableFile = (what: string, path: string, error: unknown): DaemonError =>
  new DaemonError(
    'OSError',
    `The ${what} file ${path} cannot be written: ${failureReason(error)}. The file was not changed.`,
  );

export const invalidPassword = (): DaemonError =>
  new DaemonError('InvalidPasswordError', 'Password is invalid.');

/**
 * Error for a method whose component is disabled by the setting `components_to_skip`. The text begins as the text of
 * lbry-sdk's `all_components_running`.
 */
export const skippedComponent = (name: string): DaemonError =>
  new DaemonError('NameError', `${name} is not a known Component: it is skipped`);
