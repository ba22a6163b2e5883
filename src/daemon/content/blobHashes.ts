/**
 * A set of blob hashes that stores each hash in 48 bytes outside the JavaScript heap, because a folder may hold millions of blobs.
 * It can be transferred to another thread without a copy.
 */

/** Size of a blob hash in bytes. */
const HASH_BYTES = 48;
const HASH_DIGITS = 2 * HASH_BYTES;
/**
 * Number of shards of the set. When a shard is full, only this shard is copied, so that each addition is fast. A power of
 * two, at most 256. Arbitrary.
 */
const SHARDS = 64;
const FIRST_CAPACITY = 16;
/** Maximum load of a shard, in sixteenths of its capacity, and factor of its growth, in quarters. */
const MAX_LOAD_16THS = 12;
const GROWTH_QUARTERS = 6;
/** Margin of a shard in standard deviations of its number of hashes, which few shards exceed. */
const MARGIN_DEVIATIONS = 3;

/** Values of lower case hexadecimal digits by character code; 255 for others. */
const NIBBLES = new Uint8Array(128).fill(255);
for (let value = 0; value < 16; value++) NIBBLES[value.toString(16).charCodeAt(0)] = value;

/** One part of the set: open addressing with linear probing. A slot of zeros is empty. */
interface Shard {
  slots: Uint8Array;
  capacity: number;
  count: number;
}

/** The data that is transferred to another thread. */
export interface PackedHashes {
  readonly shards: readonly { readonly slots: Uint8Array; readonly count: number }[];
}

export class BlobHashes implements Iterable<string> {
  #shards: Shard[];
  /** Buffer for the hash that is being searched. */
  readonly #key = new Uint8Array(HASH_BYTES);

  /** Creates an empty set. `expected` is the number of hashes for which it allocates memory at once; more can be added. */
  constructor(expected = 0) {
    const capacity = capacityFor(expected);
    // One allocation takes less time than one for each shard.
    const memory = new ArrayBuffer(SHARDS * capacity * HASH_BYTES);
    this.#shards = Array.from({ length: SHARDS }, (_, at) => ({
      slots: new Uint8Array(memory, at * capacity * HASH_BYTES, capacity * HASH_BYTES),
      capacity,
      count: 0,
    }));
  }

  /** Replaces all hashes by a set that another thread packed. */
  take({ shards }: PackedHashes): void {
    this.#shards = shards.map(({ slots, count }) => ({ slots, count, capacity: slots.length / HASH_BYTES }));
  }

  get size(): number {
    return this.#shards.reduce((sum, { count }) => sum + count, 0);
  }

  has(hash: string): boolean {
    const shard = this.#find(hash);
    return shard !== null && this.#slotOf(shard) >= 0;
  }

  /** Adds a hash. Returns false if the set already has the hash, or if the text is not a hash. */
  add(hash: string): boolean {
    const shard = this.#find(hash);
    if (shard === null || this.#slotOf(shard) >= 0) return false;
    if ((shard.count + 1) * 16 > shard.capacity * MAX_LOAD_16THS) grow(shard);
    shard.slots.set(this.#key, ~slotFor(shard, this.#key, 0) * HASH_BYTES);
    shard.count++;
    return true;
  }

  /** Removes a hash. Returns false if the set does not have the hash. */
  delete(hash: string): boolean {
    const shard = this.#find(hash);
    const at = shard === null ? -1 : this.#slotOf(shard);
    if (at < 0) return false;
    removeSlot(shard!, at);
    shard!.count--;
    return true;
  }

  /** Iterates over the hashes in any order. Hashes that are added or deleted during the iteration may be included or not. */
  *[Symbol.iterator](): Generator<string> {
    for (const shard of this.#shards)
      for (let at = 0; at < shard.capacity; at++)
        if (!isEmpty(shard, at))
          yield Buffer.from(
            shard.slots.buffer,
            shard.slots.byteOffset + at * HASH_BYTES,
            HASH_BYTES,
          ).toString('hex');
  }

  /**
   * Packs the set for transfer to another thread. `buffers` are the buffers to transfer. This set must not be used
   * afterwards.
   */
  pack(): { readonly packed: PackedHashes; readonly buffers: ArrayBuffer[] } {
    const shards = this.#shards.map(({ slots, count }) => ({ slots, count }));
    return {
      packed: { shards },
      buffers: [...new Set(shards.map(({ slots }) => slots.buffer as ArrayBuffer))],
    };
  }

  /**
   * Parses the hash into the buffer of the searched key. Returns the shard that contains the hash or would contain it; null
   * if the text is not a hash.
   */
  #find(hash: string): Shard | null {
    if (hash.length !== HASH_DIGITS) return null;
    const key = this.#key;
    for (let at = 0; at < HASH_BYTES; at++) {
      const high = NIBBLES[hash.charCodeAt(2 * at)] ?? 255;
      const low = NIBBLES[hash.charCodeAt(2 * at + 1)] ?? 255;
      if ((high | low) > 15) return null;
      key[at] = (high << 4) | low;
    }
    return isEmptyAt(key, 0) ? null : this.#shards[key[0]! & (SHARDS - 1)]!;
  }

  #slotOf(shard: Shard): number {
    return slotFor(shard, this.#key, 0);
  }
}

/** Capacity of a shard of a set with `expected` hashes. Shards have different numbers of hashes, so this has a margin. */
function capacityFor(expected: number): number {
  const mean = expected / SHARDS;
  const most = mean + MARGIN_DEVIATIONS * Math.sqrt(mean);
  return Math.max(FIRST_CAPACITY, Math.ceil((most * 16) / MAX_LOAD_16THS));
}

function isEmptyAt(bytes: Uint8Array, offset: number): boolean {
  for (let at = 0; at < HASH_BYTES; at++) if (bytes[offset + at] !== 0) return false;
  return true;
}

const isEmpty = ({ slots }: Shard, at: number): boolean => isEmptyAt(slots, at * HASH_BYTES);

/** Slot at which the search for a hash begins. The first byte of the hash is not used, because it selects the shard. */
function homeOf(bytes: Uint8Array, offset: number, capacity: number): number {
  const head =
    bytes[offset + 1]! * 0x1000000 +
    (bytes[offset + 2]! << 16) +
    (bytes[offset + 3]! << 8) +
    bytes[offset + 4]!;
  return Math.floor((head / 0x100000000) * capacity);
}

/**
 * Returns the slot of a hash in the shard. If the hash is missing, returns `~slot`, where `slot` is the empty slot for its
 * insertion.
 */
function slotFor({ slots, capacity }: Shard, key: Uint8Array, offset: number): number {
  let at = homeOf(key, offset, capacity);
  for (;;) {
    const start = at * HASH_BYTES;
    let same = 0;
    while (same < HASH_BYTES && slots[start + same] === key[offset + same]) same++;
    if (same === HASH_BYTES) return at;
    if (slots[start] === 0 && isEmptyAt(slots, start)) return ~at;
    at = at + 1 === capacity ? 0 : at + 1;
  }
}

function grow(shard: Shard): void {
  const { slots: old, capacity: before } = shard;
  shard.capacity = Math.ceil((before * GROWTH_QUARTERS) / 4);
  shard.slots = new Uint8Array(shard.capacity * HASH_BYTES);
  for (let at = 0; at < before; at++) {
    const start = at * HASH_BYTES;
    if (!isEmptyAt(old, start))
      shard.slots.set(old.subarray(start, start + HASH_BYTES), ~slotFor(shard, old, start) * HASH_BYTES);
  }
}

/** Empties a slot. Moves later hashes of the same probe sequence, which a search would not find otherwise. */
function removeSlot(shard: Shard, at: number): void {
  const { slots, capacity } = shard;
  let hole = at;
  for (let next = (at + 1) % capacity; !isEmpty(shard, next); next = (next + 1) % capacity) {
    const home = homeOf(slots, next * HASH_BYTES, capacity);
    const isBehindHole = home <= next ? home <= hole && hole < next : home <= hole || hole < next;
    if (!isBehindHole) continue;
    slots.copyWithin(hole * HASH_BYTES, next * HASH_BYTES, (next + 1) * HASH_BYTES);
    hole = next;
  }
  slots.fill(0, hole * HASH_BYTES, (hole + 1) * HASH_BYTES);
}
