/** Reason why the hub cannot start. */

/** The hub cannot listen where it was told to; the message is for the operator. */
export class HubStartError extends Error {
  override readonly name = 'HubStartError';
}
