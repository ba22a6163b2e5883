/**
 * Tracks own transactions that a hub has accepted but need not list in histories yet, and callers that wait until a history
 * lists them.
 */
import { hashFromHex, hashToHex } from '../../../util/bytes.js';

/** Time limit for a hub to show an accepted transaction. Arbitrary. */
const KEPT_MS = 60_000;

export class OwnBroadcasts {
  readonly #sent = new Map<string, { txid: Buffer; timer: NodeJS.Timeout }>();
  readonly #waiting = new Map<string, Set<(isTold: boolean) => void>>();
  readonly #givenUp: () => void;
  readonly #keptMs: number;

  /** `givenUp` is called when no hub showed a transaction in a history in time. */
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

  /** Removes a broadcast after no hub accepted it, or after a history shows it. */
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

  /** Called with the printed txids that histories show. */
  told(ids: Iterable<string>): void {
    if (this.#sent.size === 0 && this.#waiting.size === 0) return;
    for (const id of ids) {
      this.#forget(id);
      for (const tell of this.#waiting.get(id) ?? []) tell(true);
    }
  }

  /** Resolves to true when a history shows the transaction, or to false on timeout. */
  whenTold(txid: Uint8Array, timeoutMs: number): Promise<boolean> {
    const id = hashToHex(txid);
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(id) ?? new Set();
      this.#waiting.set(id, waiting);
      const end = (isTold: boolean): void => {
        clearTimeout(timer);
        waiting.delete(end);
        if (waiting.size === 0) this.#waiting.delete(id);
        resolve(isTold);
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
