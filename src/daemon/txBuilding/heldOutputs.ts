/**
 * Locks on specific outputs (claims, supports and others) that a transaction being built spends. Another caller that needs a
 * locked output waits and then repeats its search. Coins need no such lock, because they are reserved in the ledger's
 * database.
 */
import type { Txo } from '../txo/txo.js';

const keyOf = (txo: Txo): string => `${txo.txidHex}:${txo.nout}`;

export class HeldOutputs {
  readonly #held = new Map<string, Promise<void>>();
  /** One set for each call of `find` that is running. It collects the outputs that are released during the call. */
  readonly #lookers = new Set<Set<string>>();

  /**
   * Runs `use` with the outputs that `find` returns, as soon as no other caller has locked them. `find` is called again
   * after a wait, because the previous holder of the lock may have spent the outputs.
   */
  async with<Found extends readonly Txo[], Result>(
    find: () => Promise<Found>,
    use: (found: Found) => Promise<Result>,
  ): Promise<Result> {
    const { found, letGo } = await this.#hold(find);
    try {
      return await use(found);
    } finally {
      letGo();
    }
  }

  /**
   * Locks the outputs that `find` returns. The check that they are free and the lock happen in the same turn of the event
   * loop. If outputs were released while `find` ran, they may be spent, so `find` is called again.
   */
  async #hold<Found extends readonly Txo[]>(
    find: () => Promise<Found>,
  ): Promise<{ readonly found: Found; letGo(): void }> {
    for (;;) {
      const gone = new Set<string>();
      this.#lookers.add(gone);
      try {
        const found = await find();
        const keys = found.map(keyOf);
        const busy = keys.flatMap((key) => this.#held.get(key) ?? []);
        if (busy.length === 0 && !keys.some((key) => gone.has(key)))
          return { found, letGo: this.#mark(keys) };
        await Promise.all(busy);
      } finally {
        this.#lookers.delete(gone);
      }
    }
  }

  #mark(keys: readonly string[]): () => void {
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    for (const key of keys) this.#held.set(key, ended);
    return () => {
      for (const key of keys) {
        this.#held.delete(key);
        for (const looker of this.#lookers) looker.add(key);
      }
      end();
    };
  }
}
