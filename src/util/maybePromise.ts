/**
 * Values that are usually available synchronously, and sometimes only through a promise. A promise costs more than reading a
 * row from memory, and lets other code run in between; synchronous values therefore need no promise.
 */

/** A value, or the promise of it. The values are not thenables. */
export type MaybePromise<T> = T | Promise<T>;

export function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}

/** The result of `use` on the value; synchronous if the value is available. */
export function whenResolved<T, U>(
  value: MaybePromise<T>,
  use: (value: T) => MaybePromise<U>,
): MaybePromise<U> {
  return isPromise(value) ? value.then(use) : use(value);
}
