/** Base class of errors that the operator can fix. */

/**
 * An error that the operator can fix. The message tells what is wrong and what to do. The program prints it without a stack
 * trace.
 */
export class OperatorError extends Error {
  override readonly name: string = 'OperatorError';
}
