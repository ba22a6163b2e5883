/** Why the hub cannot begin. */

/** The hub cannot listen where it was told to; the message is for the operator. */
export class HubStartError extends Error {
  override readonly name = 'HubStartError';
}
