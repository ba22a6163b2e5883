/** Stack of open resources, which are closed in reverse order. If closing one fails, the others are still closed. */

export type Closer = () => Promise<void> | void;

export class CloseStack {
  private readonly closers: Closer[] = [];

  push(close: Closer): void {
    this.closers.push(close);
  }

  /**
   * Closes all resources in reverse order of opening. After all are closed, it rejects if closing failed: with the single
   * error, or with an `AggregateError` whose message combines all errors.
   */
  async close(): Promise<void> {
    const errors: unknown[] = [];
    for (let close = this.closers.pop(); close; close = this.closers.pop()) {
      try {
        await close();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length === 0) return;
    if (errors.length === 1) throw errors[0];
    throw new AggregateError(errors, errors.map(errorText).join('; '));
  }
}

/** Returns the message of a thrown value of any type. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
