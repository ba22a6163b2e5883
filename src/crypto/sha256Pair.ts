/**
 * Double SHA-256 of exactly 64 bytes, the step of every hash tree, without an allocation.
 * Owns nothing but its scratch words. In V8 it takes half the time of two calls into OpenSSL, whose cost for so
 * short a message is the crossing and the digest objects; anything longer belongs to `hash.ts`.
 * Source: FIPS 180-4 section 6.2.
 */
import type { Bytes } from '../util/bytes.js';

/** First 32 bits of the fractional parts of the cube roots of the first 64 primes. */
// prettier-ignore
const ROUND_CONSTANTS = Int32Array.of(
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
);

/** First 32 bits of the fractional parts of the square roots of the first 8 primes. */
// prettier-ignore
const INITIAL_STATE = Int32Array.of(
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
);

/** Message schedule of the block in work. */
const schedule = new Int32Array(64);
const state = new Int32Array(8);

/** Extends the 16 words in `words` to 64. */
function extend(words: Int32Array): void {
  for (let i = 16; i < 64; i++) {
    const a = words[i - 15]!;
    const b = words[i - 2]!;
    const s0 = ((a >>> 7) | (a << 25)) ^ ((a >>> 18) | (a << 14)) ^ (a >>> 3);
    const s1 = ((b >>> 17) | (b << 15)) ^ ((b >>> 19) | (b << 13)) ^ (b >>> 10);
    words[i] = (words[i - 16]! + words[i - 7]! + s0 + s1) | 0;
  }
}

/** The second block of every 64-byte message is the same padding: its schedule is computed once. */
const PADDING_SCHEDULE = new Int32Array(64);
PADDING_SCHEDULE[0] = 0x80000000 | 0;
PADDING_SCHEDULE[15] = 512;
extend(PADDING_SCHEDULE);

/** The 64 rounds over `state`. */
function compress(words: Int32Array): void {
  let a = state[0]!;
  let b = state[1]!;
  let c = state[2]!;
  let d = state[3]!;
  let e = state[4]!;
  let f = state[5]!;
  let g = state[6]!;
  let h = state[7]!;
  for (let i = 0; i < 64; i++) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + ROUND_CONSTANTS[i]! + words[i]!) | 0;
    const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + t2) | 0;
  }
  state[0] = state[0]! + a;
  state[1] = state[1]! + b;
  state[2] = state[2]! + c;
  state[3] = state[3]! + d;
  state[4] = state[4]! + e;
  state[5] = state[5]! + f;
  state[6] = state[6]! + g;
  state[7] = state[7]! + h;
}

function loadHalf(source: Bytes, at: number, wordAt: number): void {
  for (let i = 0; i < 8; i++) {
    const p = at + 4 * i;
    schedule[wordAt + i] =
      (source[p]! << 24) | (source[p + 1]! << 16) | (source[p + 2]! << 8) | source[p + 3]!;
  }
}

/**
 * Writes the double SHA-256 of `left[leftAt .. +32]` followed by `right[rightAt .. +32]` to `out[outAt .. +32]`.
 * The output may overlap the inputs: they are read first. The caller keeps the ranges within bounds.
 */
export function hashPairInto(
  left: Bytes,
  leftAt: number,
  right: Bytes,
  rightAt: number,
  out: Bytes,
  outAt: number,
): void {
  loadHalf(left, leftAt, 0);
  loadHalf(right, rightAt, 8);
  extend(schedule);
  state.set(INITIAL_STATE);
  compress(schedule);
  compress(PADDING_SCHEDULE);

  schedule.set(state);
  schedule[8] = 0x80000000 | 0;
  schedule.fill(0, 9, 15);
  schedule[15] = 256;
  extend(schedule);
  state.set(INITIAL_STATE);
  compress(schedule);

  for (let i = 0; i < 8; i++) {
    const word = state[i]!;
    const p = outAt + 4 * i;
    out[p] = word >>> 24;
    out[p + 1] = word >>> 16;
    out[p + 2] = word >>> 8;
    out[p + 3] = word;
  }
}
