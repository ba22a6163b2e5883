/**
 * Thrown if an invariant is violated, which is a bug in this program. Never used to reject a block or a transaction. The
 * node stops on this error.
 */
export class AssertionError extends Error {
  override readonly name = 'AssertionError';
}

export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionError(message);
}
