/**
 * Values that are mostly at hand and must be waited for now and then. A promise costs more than reading a row from memory,
 * and lets others in between; so what need not be waited for goes without one.
 */

/** A value, or the promise of it. The values are no thenables. */
export type MaybePromise<T> = T | Promise<T>;

export function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}

/** What `use` makes of the value, in this turn if it is at hand. */
export function whenResolved<T, U>(
  value: MaybePromise<T>,
  use: (value: T) => MaybePromise<U>,
): MaybePromise<U> {
  return isPromise(value) ? value.then(use) : use(value);
}
