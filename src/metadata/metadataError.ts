/** The one error of `metadata/`: a value, a text or an argument says nothing that can be understood. */

/**
 * What is given does not decode, or cannot be written. The message says what is wrong with it. It has no stack: an answer about
 * many claims throws it for each value that does not decode, and to collect the stack takes longer than to decode.
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
