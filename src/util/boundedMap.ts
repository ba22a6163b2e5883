/** LRU cache with a limit on the total size of the values. The caller defines the unit of sizes. */
export class BoundedMap<Key, Value> {
  private readonly entries = new Map<Key, { value: Value; size: number }>();
  readonly most: number;
  size = 0;

  constructor(most: number) {
    this.most = most;
  }

  get(key: Key): Value | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined) return undefined;
    this.entries.delete(key);
    this.entries.set(key, entry);
    return entry.value;
  }

  /** Adds a value. A value that is larger than the limit of the map is not stored. */
  set(key: Key, value: Value, size: number): void {
    this.delete(key);
    if (size > this.most) return;
    for (const [oldest] of this.entries) {
      if (this.size + size <= this.most) break;
      this.delete(oldest);
    }
    this.entries.set(key, { value, size });
    this.size += size;
  }

  delete(key: Key): void {
    this.size -= this.entries.get(key)?.size ?? 0;
    this.entries.delete(key);
  }

  clear(): void {
    this.entries.clear();
    this.size = 0;
  }
}
