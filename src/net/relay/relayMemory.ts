/**
 * Recently announced transactions in serialized form: peers may request them for a quarter of an hour, even if they have
 * left the mempool. Source: Core net_processing.cpp `mapRelay`, `vRelayExpiration`. The reference only limits the time; here
 * the oldest are removed above a size limit.
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
/** Memory of an entry besides the transaction. */
const ENTRY_BYTES = 150;

export class RelayMemory {
  private readonly byKey = new Map<string, Relayed>();
  /** In order of expiry, from `first` on. */
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

  /** `bytes` are serialized with witness. The time of an existing entry does not change. */
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
