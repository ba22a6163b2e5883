/** What was opened, to be closed in the reverse order; one that fails keeps none of the others from being closed. */

export type Closer = () => Promise<void> | void;

export class CloseStack {
  private readonly closers: Closer[] = [];

  push(close: Closer): void {
    this.closers.push(close);
  }

  /**
   * Closes everything, what was opened last first. Rejects at the end with what failed: the error itself, or an
   * `AggregateError` of several whose message holds theirs.
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

/** Message of any thrown value. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
