/** A blob is kept somewhere that cannot be reached now. The message is part of a sentence. */
export class BlobUnavailableError extends Error {
  override readonly name: string = 'BlobUnavailableError';
}
