/**
 * Values that are usually available synchronously, and sometimes only through a promise. A promise costs more than reading a
 * row from memory, and other code can run before it resolves. So synchronous values are returned without a promise.
 */

/** A value, or a promise of the value. The value must not be a thenable. */
export type MaybePromise<T> = T | Promise<T>;

export function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}

/** Applies `use` to the value. Synchronous if the value is available. */
export function whenResolved<T, U>(
  value: MaybePromise<T>,
  use: (value: T) => MaybePromise<U>,
): MaybePromise<U> {
  return isPromise(value) ? value.then(use) : use(value);
}
