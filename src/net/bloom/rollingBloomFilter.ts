/**
 * A probabilistic set of the last `items` items, and of up to half as many before them. It uses little memory and has false
 * positives. Source: Core bloom.cpp `CRollingBloomFilter`.
 */
import { assert } from '../../util/assert.js';
import type { Bytes } from '../../util/bytes.js';
import { SEED_STEP } from './bloomFilter.js';
import { murmur3 } from './murmur3.js';

const MAX_HASH_FUNCTIONS = 50;
/** Number of words up to which floating point represents bit positions exactly. */
const MAX_WORDS = 2 ** 21;

/**
 * Each cell stores a generation in two bits, one in each of two arrays: 0 for an empty cell, or 1 to 3. After every `items`
 * / 2 insertions a new generation starts. It reuses the number of the oldest generation, whose cells are cleared.
 */
export class RollingBloomFilter {
  private readonly hashFunctions: number;
  private readonly itemsPerGeneration: number;
  /** Number of words of 64 cells each. */
  private readonly words: number;
  private readonly low: Uint32Array;
  private readonly high: Uint32Array;
  private readonly randomTweak: () => number;
  private tweak = 0;
  private generation = 1;
  private itemsThisGeneration = 0;

  /**
   * Creates a set for the last `items` items with a false positive rate. `randomTweak` returns an unsigned 32-bit number. It
   * is called for each reset, so that false positives are not predictable.
   */
  constructor(items: number, falsePositiveRate: number, randomTweak: () => number) {
    const logRate = Math.log(falsePositiveRate);
    this.hashFunctions = Math.max(1, Math.min(Math.round(logRate / Math.log(0.5)), MAX_HASH_FUNCTIONS));
    this.itemsPerGeneration = Math.floor((items + 1) / 2);
    const mostItems = this.itemsPerGeneration * 3;
    const bits = Math.ceil(
      (-1 * this.hashFunctions * mostItems) / Math.log(1 - Math.exp(logRate / this.hashFunctions)),
    );
    this.words = Math.ceil(bits / 64);
    assert(this.words <= MAX_WORDS, 'a rolling bloom filter too large for its arithmetic');
    this.low = new Uint32Array(this.words * 2);
    this.high = new Uint32Array(this.words * 2);
    this.randomTweak = randomTweak;
    this.reset();
  }

  insert(item: Bytes): void {
    if (this.itemsThisGeneration === this.itemsPerGeneration) this.beginGeneration();
    this.itemsThisGeneration++;
    for (let i = 0; i < this.hashFunctions; i++) {
      const hash = this.hash(i, item);
      const place = this.placeOf(hash);
      const bit = 1 << (hash & 31);
      this.low[place] = (this.low[place]! & ~bit) | (this.generation & 1 ? bit : 0);
      this.high[place] = (this.high[place]! & ~bit) | (this.generation & 2 ? bit : 0);
    }
  }

  contains(item: Bytes): boolean {
    for (let i = 0; i < this.hashFunctions; i++) {
      const hash = this.hash(i, item);
      const place = this.placeOf(hash);
      if (((this.low[place]! | this.high[place]!) & (1 << (hash & 31))) === 0) return false;
    }
    return true;
  }

  /** Forgets everything. */
  reset(): void {
    this.tweak = this.randomTweak();
    this.itemsThisGeneration = 0;
    this.generation = 1;
    this.low.fill(0);
    this.high.fill(0);
  }

  private hash(hashFunction: number, item: Bytes): number {
    return murmur3(Math.imul(hashFunction, SEED_STEP) + this.tweak, item);
  }

  /**
   * Position of the cell for a hash. The upper bits give the word, by multiplication instead of division; the lower six bits
   * give the bit.
   */
  private placeOf(hash: number): number {
    const word = Math.floor((hash * this.words) / 2 ** 32);
    return word * 2 + ((hash >>> 5) & 1);
  }

  private beginGeneration(): void {
    this.itemsThisGeneration = 0;
    this.generation = this.generation === 3 ? 1 : this.generation + 1;
    const sameLow = this.generation & 1 ? 0 : -1;
    const sameHigh = this.generation & 2 ? 0 : -1;
    for (let i = 0; i < this.low.length; i++) {
      const [low, high] = [this.low[i]!, this.high[i]!];
      const old = (low ^ sameLow) & (high ^ sameHigh);
      this.low[i] = low & ~old;
      this.high[i] = high & ~old;
    }
  }
}
