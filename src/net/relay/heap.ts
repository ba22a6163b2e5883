/** Binary heap: returns entries in the caller's order. Only the entries that are removed get sorted. */

export class Heap<T> {
  private readonly items: T[];
  private readonly compare: (a: T, b: T) => number;

  /** Builds the heap in place from `items`, in linear time. `compare` is negative if `a` comes before `b`. */
  constructor(compare: (a: T, b: T) => number, items: T[] = []) {
    this.compare = compare;
    this.items = items;
    for (let at = (items.length >> 1) - 1; at >= 0; at--) this.sink(at);
  }

  get size(): number {
    return this.items.length;
  }

  /** Returns the smallest entry of the heap without removing it. */
  peek(): T | undefined {
    return this.items[0];
  }

  push(item: T): void {
    const { items } = this;
    let at = items.length;
    items.push(item);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.compare(item, items[parent]!) >= 0) break;
      items[at] = items[parent]!;
      at = parent;
    }
    items[at] = item;
  }

  /** Removes and returns the smallest entry of the heap. */
  pop(): T | undefined {
    const { items } = this;
    const first = items[0];
    const last = items.pop();
    if (items.length > 0) {
      items[0] = last!;
      this.sink(0);
    }
    return first;
  }

  private sink(from: number): void {
    const { items, compare } = this;
    const item = items[from]!;
    let at = from;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && compare(items[child + 1]!, items[child]!) < 0) child++;
      if (compare(items[child]!, item) >= 0) break;
      items[at] = items[child]!;
      at = child;
    }
    items[at] = item;
  }
}
