/** Error class of the module `metadata`. */

/**
 * Thrown if the input cannot be decoded or encoded. The message gives the reason. The error has no stack trace: a response
 * about many claims may throw it for each invalid value, and collecting the stack takes longer than decoding.
 */
export class MetadataError extends Error {
  override readonly name = 'MetadataError';

  constructor(message: string, options?: ErrorOptions) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message, options);
    Error.stackTraceLimit = stackTraceLimit;
  }
}
