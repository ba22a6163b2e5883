/**
 * What a method of the daemon throws: the catalogue of errors by the class names of lbry-sdk, which clients branch on
 * (`data.name` of an answer). Anything else that is thrown answers with the name `Exception`.
 * Source: lbry-sdk lbry/error/__init__.py.
 */

export class DaemonError extends Error {
  constructor(name: string, message: string) {
    super(message);
    this.name = name;
  }
}

/** A failure that lbry-sdk has no class for: the generic one of Python. */
export const failure = (message: string): DaemonError => new DaemonError('Exception', message);

/** A condition that must hold before a call, such as an unlocked wallet. */
export const assertionFailure = (message: string): DaemonError => new DaemonError('AssertionError', message);

/** A parameter whose value cannot be meant. */
export const badValue = (message: string): DaemonError => new DaemonError('ValueError', message);

export const invalidPassword = (): DaemonError =>
  new DaemonError('InvalidPasswordError', 'Password is invalid.');
