/** A violated invariant: a bug in this program, never a verdict on a block or a transaction. The node stops on it. */
export class AssertionError extends Error {
  override readonly name = 'AssertionError';
}

export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionError(message);
}
