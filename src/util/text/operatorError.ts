/** The base of errors that the operator can mend. */

/** Its message tells the operator what is wrong and what to do. The program prints it without the stack. */
export class OperatorError extends Error {
  override readonly name: string = 'OperatorError';
}
