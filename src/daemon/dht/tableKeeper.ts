/**
 * Adds contacts to the routing table one at a time, and pings contacts in an unknown state.
 * Source: lbry-sdk lbry/dht/protocol/protocol.py `routing_table_task`, `PingQueue`.
 */
import { sleep, type Clock } from '../base/clock.js';
import { endpointKey, type Contact, type Target } from './contact.js';
import type { PeerBook } from './peerBook.js';
import type { RoutingTable } from './routingTable.js';

/** Maximum number of contacts that wait to be added or pinged. Further contacts are dropped. */
const MAX_WAITING = 2000;
const PING_EVERY_MS = 1000;

export interface TableKeeperDeps {
  readonly clock: Clock;
  readonly table: RoutingTable;
  readonly book: PeerBook;
  readonly ownId: Buffer;
  /** Pings a target and resolves to whether it answered. A node that answers is added to the table. */
  readonly ping: (target: Target) => Promise<boolean>;
  readonly stopping: AbortSignal;
}

const keyOf = (target: Target): string =>
  target.nodeId === null ? endpointKey(target.address, target.udpPort) : target.key;

interface Due {
  readonly target: Target;
  readonly atMs: number;
}

export class TableKeeper {
  readonly #deps: TableKeeperDeps;
  readonly #toAdd = new Map<string, Contact>();
  readonly #toPing = new Map<string, Due>();
  #isAdding = false;
  #isPinging = false;

  constructor(deps: TableKeeperDeps) {
    this.#deps = deps;
  }

  add(contact: Contact): void {
    if (contact.nodeId.equals(this.#deps.ownId) || this.#toAdd.size >= MAX_WAITING) return;
    this.#toAdd.set(contact.key, contact);
    if (!this.#isAdding) void this.#addAll();
  }

  remove(contact: Contact): void {
    this.#toAdd.delete(contact.key);
    this.#deps.table.remove(contact);
  }

  /**
   * Pings each target after the delay, at most one target per second. A contact that has become good in the meantime enters
   * the table without a ping.
   */
  pingLater(targets: Iterable<Target>, delayMs: number): void {
    const atMs = this.#deps.clock.nowMs() + delayMs;
    for (const target of targets) {
      const key = keyOf(target);
      const known = this.#toPing.get(key);
      if (known === undefined ? this.#toPing.size < MAX_WAITING : known.atMs > atMs)
        this.#toPing.set(key, { target, atMs });
    }
    if (!this.#isPinging && this.#toPing.size > 0) void this.#pingAll();
  }

  async #addAll(): Promise<void> {
    const { table, ping, stopping } = this.#deps;
    this.#isAdding = true;
    for (const [key, contact] of this.#toAdd) {
      if (stopping.aborted) break;
      this.#toAdd.delete(key);
      await table.add(contact, ping);
    }
    this.#isAdding = false;
  }

  async #pingAll(): Promise<void> {
    const { clock, stopping } = this.#deps;
    this.#isPinging = true;
    while (this.#toPing.size > 0 && !stopping.aborted) {
      const nowMs = clock.nowMs();
      for (const [key, { target, atMs }] of this.#toPing) {
        if (atMs > nowMs) continue;
        this.#toPing.delete(key);
        this.#pingOne(target);
        break;
      }
      await sleep(clock, PING_EVERY_MS, stopping);
    }
    this.#isPinging = false;
  }

  #pingOne(target: Target): void {
    const { book, table, ping } = this.#deps;
    if (target.nodeId !== null && book.goodness(target) === 'good') {
      if (table.get(target.nodeId) === null) this.add(target);
    } else void ping(target);
  }
}
