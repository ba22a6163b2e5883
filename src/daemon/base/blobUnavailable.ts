/** Error: the storage of a blob cannot be reached at present. The message is part of a sentence. */
export class BlobUnavailableError extends Error {
  override readonly name: string = 'BlobUnavailableError';
}
