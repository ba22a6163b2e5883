/**
 * Values that are mostly at hand and must be waited for now and then. A promise costs more than reading a row from memory,
 * and lets others in between; so what need not be waited for goes without one.
 */

/** A value, or the promise of it. The values are no thenables. */
export type Soon<T> = T | Promise<T>;

export function isPromise<T>(value: Soon<T>): value is Promise<T> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}

/** What `use` makes of the value, in this turn if it is at hand. */
export function whenSoon<T, U>(value: Soon<T>, use: (value: T) => Soon<U>): Soon<U> {
  return isPromise(value) ? value.then(use) : use(value);
}
