/** Transfer of errors to another thread. Errors of registered classes keep their class and their fields. */

/** An error in the form that is sent to another thread. `kind` names its registered class; null for other classes. */
export interface CrossedError {
  readonly kind: string | null;
  readonly message: string;
  readonly fields?: unknown;
}

/** A registered class of errors. Errors of subclasses arrive as errors of this class. */
export interface ErrorKind<Kind extends Error = Error> {
  readonly kind: string;
  readonly type: abstract new (...args: never[]) => Kind;
  /** Returns the data of an error besides its message. The data must be cloneable. */
  fields?(error: Kind): unknown;
  restore(message: string, fields: unknown): Kind;
}

export class CrossingErrors {
  private readonly kinds: readonly ErrorKind[];
  private readonly other: (message: string) => Error;

  /** `other` creates the error that replaces an error of an unregistered class. */
  constructor(kinds: readonly ErrorKind[], other: (message: string) => Error = (text) => new Error(text)) {
    this.kinds = kinds;
    this.other = other;
  }

  cross(error: unknown): CrossedError {
    const message = error instanceof Error ? error.message : String(error);
    const known = this.kinds.find(({ type }) => error instanceof type);
    if (known === undefined) return { kind: null, message };
    return { kind: known.kind, message, fields: known.fields?.(error as Error) };
  }

  restore({ kind, message, fields }: CrossedError): Error {
    const known = kind === null ? undefined : this.kinds.find((one) => one.kind === kind);
    return known === undefined ? this.other(message) : known.restore(message, fields);
  }
}
