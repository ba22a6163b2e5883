/**
 * Tracks own transactions that a hub has accepted but need not list in histories yet, and callers that wait until a history
 * lists them.
 */
import { hashFromHex, hashToHex } from '../../../util/bytes.js';

/** Milliseconds within which a hub must list an accepted transaction in a history. Arbitrary. */
const KEPT_MS = 60_000;

export class OwnBroadcasts {
  readonly #sent = new Map<string, { txid: Buffer; timer: NodeJS.Timeout }>();
  readonly #waiting = new Map<string, Set<(isAnnounced: boolean) => void>>();
  readonly #givenUp: () => void;
  readonly #keptMs: number;

  /**
   * Creates the list of pending broadcasts. `givenUp` is called if no history contained a broadcast transaction within
   * `keptMs` milliseconds.
   */
  constructor(givenUp: () => void, keptMs = KEPT_MS) {
    this.#givenUp = givenUp;
    this.#keptMs = keptMs;
  }

  add(txid: Uint8Array): void {
    this.delete(txid);
    const timer = setTimeout(() => {
      this.delete(txid);
      this.#givenUp();
    }, this.#keptMs).unref();
    this.#sent.set(hashToHex(txid), { txid: Buffer.from(txid), timer });
  }

  /** Removes a broadcast, because no hub accepted it or because a history shows it. */
  delete(txid: Uint8Array): void {
    this.#forget(hashToHex(txid));
  }

  #forget(id: string): void {
    clearTimeout(this.#sent.get(id)?.timer);
    this.#sent.delete(id);
  }

  /** Whether a hub has accepted the transaction but not shown it yet. */
  has(txid: Uint8Array): boolean {
    return this.#sent.has(hashToHex(txid));
  }

  kept(): Buffer[] {
    return [...this.#sent.values()].map(({ txid }) => txid);
  }

  /** Txids of own broadcasts, including those that callers wait for. */
  awaited(): Buffer[] {
    return [...new Set([...this.#sent.keys(), ...this.#waiting.keys()])].map(hashFromHex);
  }

  /** Called with the printed txids that the hub's histories contain. */
  announced(ids: Iterable<string>): void {
    if (this.#sent.size === 0 && this.#waiting.size === 0) return;
    for (const id of ids) {
      this.#forget(id);
      for (const tell of this.#waiting.get(id) ?? []) tell(true);
    }
  }

  /** Resolves to true when a history contains the transaction, or to false on timeout. */
  whenAnnounced(txid: Uint8Array, timeoutMs: number): Promise<boolean> {
    const id = hashToHex(txid);
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(id) ?? new Set();
      this.#waiting.set(id, waiting);
      const end = (isAnnounced: boolean): void => {
        clearTimeout(timer);
        waiting.delete(end);
        if (waiting.size === 0) this.#waiting.delete(id);
        resolve(isAnnounced);
      };
      const timer = setTimeout(() => end(false), timeoutMs);
      waiting.add(end);
    });
  }

  close(): void {
    for (const txid of this.kept()) this.delete(txid);
    for (const waiting of [...this.#waiting.values()]) for (const end of [...waiting]) end(false);
  }
}
