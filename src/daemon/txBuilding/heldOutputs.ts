/**
 * Outputs that a transaction in the making spends by name: claims, supports, whatever a call asks for. A caller that wants
 * one of them meanwhile waits, and looks for it again. Coins are not held here, but reserved in the ledger's database.
 */
import type { Txo } from '../txo/txo.js';

const keyOf = (txo: Txo): string => `${txo.txidHex}:${txo.nout}`;

export class HeldOutputs {
  readonly #held = new Map<string, Promise<void>>();
  /** Entries released during a lookup, with a set for each lookup. */
  readonly #lookers = new Set<Set<string>>();

  /**
   * Runs `use` with what `find` finds, when no other caller holds any of it. `find` may be called more than once, since what
   * it found may be spent by who held it.
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

  /** Holds what is found in the same turn in which it is seen to be free. */
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
