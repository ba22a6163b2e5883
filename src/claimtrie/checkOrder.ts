/**
 * The order in which the reference checks names for takeovers: that of its hash set of strings. No root depends on it, but
 * `getchangesinblock` lists the items (claims and supports) activated by takeovers in this order. Source: lbrycrd
 * `namesToCheckForTakeover`, a `std::unordered_set<std::string>`; GNU libstdc++ `_Hash_bytes` (64 bits) and `_Hashtable`.
 * Test: test/vectors/claimAnswers.test.ts.
 */

const MASK = 0xffffffffffffffffn;
const MULTIPLIER = 0xc6a4a7935bd1e995n;
const SEED = 0xc70f6907n;

function mix(value: bigint): bigint {
  return value ^ (value >> 47n);
}

/** Returns the 64-bit Murmur hash of the string's bytes. */
export function stringHash(text: string): bigint {
  let hash = SEED ^ ((BigInt(text.length) * MULTIPLIER) & MASK);
  for (let at = 0; at < text.length; at += 8) {
    const size = Math.min(8, text.length - at);
    let word = 0n;
    for (let i = size - 1; i >= 0; i--) word = (word << 8n) | BigInt(text.charCodeAt(at + i));
    if (size === 8) word = (mix((word * MULTIPLIER) & MASK) * MULTIPLIER) & MASK;
    hash = ((hash ^ word) * MULTIPLIER) & MASK;
  }
  return mix((mix(hash) * MULTIPLIER) & MASK);
}

/** Bucket counts of a growing set: each is the least prime in the library's list above twice the previous one. */
const BUCKET_COUNTS = [13, 29, 59, 127, 257, 541, 1109, 2357, 5087, 10273, 20753, 42043, 85229, 172933];
/**
 * Maximum number of names that are ordered. Larger sets stay unordered to limit the memory: only a listing depends on the
 * order.
 */
export const MAX_ORDERED = BUCKET_COUNTS[BUCKET_COUNTS.length - 1]!;

interface Entry {
  name: string;
  hash: bigint;
  next: Entry | null;
}

/** A linked list of entries. A bucket's slot names the entry before the bucket's first entry. */
class HashSet {
  private readonly head: Entry = { name: '', hash: 0n, next: null };
  private buckets: (Entry | undefined)[] = [];
  private size = 0;
  private grown = 0;

  insert(name: string): void {
    if (this.size === this.buckets.length) this.grow(BUCKET_COUNTS[this.grown++]!);
    this.size++;
    this.link({ name, hash: stringHash(name), next: null });
  }

  private bucketOf(entry: Entry): number {
    return Number(entry.hash % BigInt(this.buckets.length));
  }

  /** Adds an entry at the front of its bucket. If the bucket is empty, adds it at the front of the list. */
  private link(entry: Entry): void {
    const bucket = this.bucketOf(entry);
    const before = this.buckets[bucket];
    if (before) {
      entry.next = before.next;
      before.next = entry;
      return;
    }
    entry.next = this.head.next;
    this.head.next = entry;
    this.buckets[bucket] = this.head;
    if (entry.next) this.buckets[this.bucketOf(entry.next)] = entry;
  }

  private grow(count: number): void {
    let entry = this.head.next;
    this.head.next = null;
    this.buckets = new Array<Entry | undefined>(count).fill(undefined);
    while (entry) {
      const { next } = entry;
      this.link(entry);
      entry = next;
    }
  }

  *names(): Generator<string> {
    for (let entry = this.head.next; entry; entry = entry.next) yield entry.name;
  }
}

/** Sorts names in the order in which the reference's set iterates over them. `names` are distinct and in order of insertion. */
export function setOrder(names: readonly string[]): string[] {
  if (names.length >= MAX_ORDERED) return [...names];
  const set = new HashSet();
  for (const name of names) set.insert(name);
  return [...set.names()];
}
