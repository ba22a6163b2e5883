/**
 * Recently announced transactions in serialized form. Peers may request them for a quarter of an hour, even after they left
 * the mempool. Source: Core net_processing.cpp `mapRelay`, `vRelayExpiration`. The reference limits only the time; this
 * class also removes the oldest entries above a size limit.
 */

export interface RelayMemoryOptions {
  readonly maxBytes: number;
}

interface Relayed {
  readonly key: string;
  readonly bytes: Buffer;
  readonly expiresMs: number;
}

const LIFETIME_MS = 15 * 60_000;
/** Estimated memory in bytes of an entry in addition to the transaction itself. */
const ENTRY_BYTES = 150;

export class RelayMemory {
  private readonly byKey = new Map<string, Relayed>();
  /** Entries in order of expiry. Entries before index `first` are removed. */
  private order: Relayed[] = [];
  private first = 0;
  private readonly maxBytes: number;
  private usedBytes = 0;

  constructor(options: RelayMemoryOptions) {
    this.maxBytes = options.maxBytes;
  }

  get size(): number {
    return this.byKey.size;
  }

  /** Adds a transaction, serialized with witness. If the transaction is already stored, its expiry time does not change. */
  add(key: string, bytes: Buffer, nowMs: number): void {
    this.expire(nowMs);
    if (this.byKey.has(key)) return;
    const relayed = { key, bytes, expiresMs: nowMs + LIFETIME_MS };
    this.byKey.set(key, relayed);
    this.order.push(relayed);
    this.usedBytes += bytes.length + ENTRY_BYTES;
    while (this.usedBytes > this.maxBytes) this.dropOldest();
  }

  get(key: string, nowMs: number): Buffer | null {
    this.expire(nowMs);
    return this.byKey.get(key)?.bytes ?? null;
  }

  private expire(nowMs: number): void {
    while (this.byKey.size > 0 && this.order[this.first]!.expiresMs < nowMs) this.dropOldest();
  }

  private dropOldest(): void {
    const { key, bytes } = this.order[this.first++]!;
    this.usedBytes -= bytes.length + ENTRY_BYTES;
    this.byKey.delete(key);
    if (this.first < this.order.length / 2) return;
    this.order = this.order.slice(this.first);
    this.first = 0;
  }
}
