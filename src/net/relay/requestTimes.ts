/**
 * When each transaction was, or will be, requested, from any peer: two peers are asked for the same one two minutes
 * apart. Holds the latest this many, at least half of its bound. Source: Core net.cpp `mapAlreadyAskedFor`.
 *
 * The reference forgets the one with the earliest time, this the half that was not asked for the longest.
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
