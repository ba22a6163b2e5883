/**
 * An approximate set of hashes (a Bloom filter). A query tells whether the set may contain a hash that begins with twelve
 * known bytes. A query creates no string, so a scan over many hashes allocates no memory. Hashes are never removed. Each
 * hash sets three bits, selected by its first three words of four bytes (little endian). The addon reads the same bits
 * (`native/blocks/paymentScan.cpp`).
 */
import { assert } from './assert.js';

const FIRST_BITS = 1 << 16;
/**
 * Number of bits per member; each hash sets three bits (`PROBES`). At most about one hash in 1,000 that is not a member is a
 * false positive.
 */
const BITS_A_MEMBER = 32;
const PROBES = 3;
/** Minimum size of a hash in bytes. */
const MIN_HASH_BYTES = 4 * PROBES;

/**
 * Whether a filter may contain the hash that begins at `start`. At least twelve bytes must follow. `words` is
 * `PrefixFilter.words`.
 */
export function mayHaveHash(words: Uint32Array, bytes: Uint8Array, start: number): boolean {
  const mask = words.length * 32 - 1;
  for (let at = start; at < start + MIN_HASH_BYTES; at += 4) {
    const bit = (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) & mask;
    if ((words[bit >>> 5]! & (1 << (bit & 31))) === 0) return false;
  }
  return true;
}

/** Sets the bits of the hash that begins at `start`. */
export function addHash(words: Uint32Array, bytes: Uint8Array, start: number): void {
  const mask = words.length * 32 - 1;
  for (let at = start; at < start + MIN_HASH_BYTES; at += 4) {
    const bit = (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) & mask;
    words[bit >>> 5]! |= 1 << (bit & 31);
  }
}

export class PrefixFilter {
  private readonly members: () => Iterable<string>;
  private heldWords: Uint32Array = new Uint32Array(FIRST_BITS / 32);
  private heldCount = 0;

  /** `members` returns all hashes as strings (one character per byte). It is called again when the filter grows. */
  constructor(members: () => Iterable<string>) {
    this.members = members;
  }

  /**
   * The bits of the filter. The number of words is a power of two. The next `add` may replace the array. Must not be
   * modified.
   */
  get words(): Uint32Array {
    return this.heldWords;
  }

  /** Number of added hashes. */
  get count(): number {
    return this.heldCount;
  }

  /**
   * Initializes the filter with the bits of `count` hashes that were added to an earlier filter. `members` must include
   * these hashes. Takes ownership of `words`.
   */
  fill(words: Uint32Array, count: number): void {
    this.heldWords = words;
    this.heldCount = count;
  }

  /** Adds a hash of at least twelve bytes, one character per byte. `members` must already include the hash. */
  add(hash: string): void {
    assert(hash.length >= MIN_HASH_BYTES, 'a hash is too short for the filter');
    if (++this.heldCount * BITS_A_MEMBER >= this.heldWords.length * 32) this.grow();
    this.set(hash);
  }

  private set(hash: string): void {
    const words = this.heldWords;
    const mask = words.length * 32 - 1;
    for (let at = 0; at < MIN_HASH_BYTES; at += 4) {
      const bit =
        (hash.charCodeAt(at) |
          (hash.charCodeAt(at + 1) << 8) |
          (hash.charCodeAt(at + 2) << 16) |
          (hash.charCodeAt(at + 3) << 24)) &
        mask;
      words[bit >>> 5]! |= 1 << (bit & 31);
    }
  }

  private grow(): void {
    const members = [...this.members()];
    this.heldCount = members.length;
    let bits = this.heldWords.length * 32;
    while (this.heldCount * BITS_A_MEMBER * 2 > bits) bits *= 2;
    this.heldWords = new Uint32Array(bits / 32);
    for (const hash of members) this.set(hash);
  }

  /** Returns whether a member may begin with the twelve bytes at `start`. False is certain; true may be wrong. */
  mayHave(bytes: Uint8Array, start: number): boolean {
    return mayHaveHash(this.heldWords, bytes, start);
  }
}
