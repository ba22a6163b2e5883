/** Reads one item of an iteration ahead, while the caller uses the previous one. */
export async function* readAhead<T>(source: AsyncIterable<T>): AsyncGenerator<T> {
  const items = source[Symbol.asyncIterator]();
  let next = items.next();
  try {
    for (;;) {
      const { value, done } = await next;
      if (done === true) return;
      next = items.next();
      // The error is thrown when the item is taken.
      next.catch(() => undefined);
      yield value;
    }
  } finally {
    await next.catch(() => undefined);
    await items.return?.();
  }
}
