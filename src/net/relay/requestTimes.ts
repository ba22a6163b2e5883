/**
 * Time of the last or next request for each transaction, over all peers. Requests of one transaction to two peers must be
 * two minutes apart. The number of entries is limited; at least the latest entries, up to half of the limit, are kept.
 * Source: Core net.cpp `mapAlreadyAskedFor`. The reference removes the entry with the earliest time; this class removes the
 * half that was unused longest.
 */

export class RequestTimes {
  private readonly maxCount: number;
  private young = new Map<string, number>();
  private old = new Map<string, number>();

  constructor(maxCount: number) {
    this.maxCount = maxCount;
  }

  get size(): number {
    return this.young.size + this.old.size;
  }

  get(key: string): number | undefined {
    return this.young.get(key) ?? this.old.get(key);
  }

  set(key: string, timeMs: number): void {
    if (this.young.size >= this.maxCount / 2) {
      this.old = this.young;
      this.young = new Map();
    }
    this.old.delete(key);
    this.young.set(key, timeMs);
  }

  delete(key: string): void {
    this.young.delete(key);
    this.old.delete(key);
  }
}
