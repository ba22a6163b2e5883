/** The one error of this room: a value, a text or an argument says nothing that can be understood. */

/** What is given does not decode, or cannot be written. The message says what is wrong with it. */
export class MetadataError extends Error {
  override readonly name = 'MetadataError';
}
