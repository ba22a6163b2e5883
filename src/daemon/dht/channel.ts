/** Queue of values for one reader, which reads it with `for await`. */
export class DhtChannel<Value> implements AsyncIterable<Value> {
  readonly #values: Value[] = [];
  #isEnded = false;
  #wake: (() => void) | null = null;

  push(value: Value): void {
    if (this.#isEnded) return;
    this.#values.push(value);
    this.#wake?.();
  }

  /** Ends the queue. The reader still receives the values that were pushed before. */
  end(): void {
    this.#isEnded = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Value> {
    for (;;) {
      while (this.#values.length > 0) yield this.#values.shift()!;
      if (this.#isEnded) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = null;
    }
  }
}
