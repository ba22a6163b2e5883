/** Errors on their way to another thread: those of known classes keep their class and their fields. */

/** An error as it crosses; `kind` is null for one of no known class. */
export interface CrossedError {
  readonly kind: string | null;
  readonly message: string;
  readonly fields?: unknown;
}

/** A class of errors that crosses. Subclasses cross as this class. */
export interface ErrorKind<Kind extends Error = Error> {
  readonly kind: string;
  readonly type: abstract new (...args: never[]) => Kind;
  /** What there is besides the message, as it can be cloned. */
  fields?(error: Kind): unknown;
  restore(message: string, fields: unknown): Kind;
}

export class CrossingErrors {
  private readonly kinds: readonly ErrorKind[];
  private readonly other: (message: string) => Error;

  /** `other` restores errors of no known class. */
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
