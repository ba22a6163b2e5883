/** MurmurHash3 (x86, 32 bits), the hash function of bloom filters. Source: Core hash.cpp `MurmurHash3`. */
import type { Bytes } from '../../util/bytes.js';

const C1 = 0xcc9e2d51;
const C2 = 0x1b873593;

function scramble(word: number): number {
  const k = Math.imul(word, C1);
  return Math.imul((k << 15) | (k >>> 17), C2);
}

/** Returns an unsigned 32-bit number. The seed is taken modulo 2^32. */
export function murmur3(seed: number, data: Bytes): number {
  const whole = data.length & ~3;
  let h = seed | 0;
  for (let i = 0; i < whole; i += 4) {
    h ^= scramble(data[i]! | (data[i + 1]! << 8) | (data[i + 2]! << 16) | (data[i + 3]! << 24));
    h = (h << 13) | (h >>> 19);
    h = (Math.imul(h, 5) + 0xe6546b64) | 0;
  }
  let tail = 0;
  for (let i = data.length - 1; i >= whole; i--) tail = (tail << 8) | data[i]!;
  // Without remaining bytes the result is also correct, because `tail` is 0 and `scramble(0)` is 0.
  h ^= scramble(tail) ^ data.length;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
