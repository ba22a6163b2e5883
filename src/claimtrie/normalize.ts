/**
 * Normalization of names since the normalization fork: NFD, then full case folding, by Unicode 11 data. Contains the rule
 * for one name; the code that looks up names decides from which height it applies. Source: lbrycrd claimtrieforks.cpp
 * `normalizeClaimName` (ICU 63), UAX #15, Unicode 11 section 3.13.
 */
import type { Bytes } from '../util/bytes.js';
import { unicodeTables } from './unicode/tables.js';
import { decodeUtf8, encodeUtf8 } from './unicode/utf8.js';

const { combiningClass, decomposition, folding, sequences } = unicodeTables;

// Hangul syllables decompose by arithmetic: Unicode 11 section 3.12.
const HANGUL_BASE = 0xac00;
const HANGUL_COUNT = 11172;
const LEADING_BASE = 0x1100;
const VOWEL_BASE = 0x1161;
const TRAILING_BASE = 0x11a7;
const VOWEL_COUNT = 21;
const TRAILING_COUNT = 28;

export function classOf(code: number): number {
  return combiningClass.get(code);
}

function pushSequence(place: number, out: number[]): void {
  const end = place + sequences[place]!;
  for (let i = place + 1; i <= end; i++) out.push(sequences[i]!);
}

function pushHangul(syllable: number, out: number[]): void {
  const trailing = syllable % TRAILING_COUNT;
  const pair = (syllable - trailing) / TRAILING_COUNT;
  out.push(LEADING_BASE + Math.floor(pair / VOWEL_COUNT), VOWEL_BASE + (pair % VOWEL_COUNT));
  if (trailing !== 0) out.push(TRAILING_BASE + trailing);
}

/** Sorts each run of combining marks by class, without changing the order within a class. Source: UAX #15, canonical ordering. */
export function orderMarks(codes: number[]): void {
  for (let start = 0; start < codes.length; start++) {
    let before = classOf(codes[start]!);
    if (before === 0) continue;
    let end = start + 1;
    let ordered = true;
    for (; end < codes.length; end++) {
      const next = classOf(codes[end]!);
      if (next === 0) break;
      if (next < before) ordered = false;
      before = next;
    }
    if (!ordered) {
      const run = codes.slice(start, end).sort((a, b) => classOf(a) - classOf(b));
      for (let i = 0; i < run.length; i++) codes[start + i] = run[i]!;
    }
    start = end;
  }
}

/** Appends the decomposition of each code point. Marks are not sorted yet. */
export function appendDecomposed(codes: readonly number[], out: number[]): void {
  for (const code of codes) {
    const place = decomposition.get(code);
    const syllable = code - HANGUL_BASE;
    if (place !== 0) pushSequence(place, out);
    else if (syllable >= 0 && syllable < HANGUL_COUNT) pushHangul(syllable, out);
    else out.push(code);
  }
}

/** Canonical decomposition (NFD) of code points by the tables of Unicode 11. */
export function decomposeCodePoints(codes: readonly number[]): number[] {
  const out: number[] = [];
  appendDecomposed(codes, out);
  orderMarks(out);
  return out;
}

/** Full default case folding (statuses C and F) of code points by Unicode 11. */
export function foldCodePoints(codes: readonly number[]): number[] {
  const out: number[] = [];
  for (const code of codes) {
    const place = folding.get(code);
    if (place !== 0) pushSequence(place, out);
    else out.push(code);
  }
  return out;
}

function normalizeUnicode(name: Bytes): Bytes {
  const codes: number[] = [];
  if (!decodeUtf8(name, codes)) return name;
  return encodeUtf8(foldCodePoints(decomposeCodePoints(codes)));
}

function lowerAscii(name: Bytes, firstUpper: number): Bytes {
  const lower = Uint8Array.from(name);
  for (let i = firstUpper; i < lower.length; i++) {
    const byte = lower[i]!;
    if (byte >= 0x41 && byte <= 0x5a) lower[i] = byte + 0x20;
  }
  return lower;
}

/**
 * The normalized form of a name. A name that is not well-formed UTF-8 is returned unchanged. The result may be `name`
 * itself, so neither may be modified afterwards. QUIRK: folding comes after the ordering of marks, and marks are not ordered
 * again. Normalizing is idempotent nevertheless: the one mark that folds to a letter (U+0345) has the highest class, so no
 * mark follows it. Test: test/unit/claimtrie/normalize.test.ts, test/fuzz/name.test.ts.
 */
export function normalizeName(name: Bytes): Bytes {
  let firstUpper = -1;
  for (let i = 0; i < name.length; i++) {
    const byte = name[i]!;
    if (byte >= 0x80) return normalizeUnicode(name);
    if (firstUpper < 0 && byte >= 0x41 && byte <= 0x5a) firstUpper = i;
  }
  return firstUpper < 0 ? name : lowerAscii(name, firstUpper);
}
