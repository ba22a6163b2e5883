/**
 * The normalized form of names that are far longer than any in the chain, as callers may send them. What comes out is
 * what `normalizeName` gives; the tests hold the two together.
 */
import { isUtf8 } from 'node:buffer';
import { EMPTY_BYTES, type Bytes } from '../util/bytes.js';
import { AT_ONCE_SIZE, type Slices } from '../util/slices.js';
import { appendDecomposed, classOf, foldCodePoints, normalizeName, orderMarks } from './normalize.js';
import { decodeUtf8, encodeUtf8 } from './unicode/utf8.js';

/** Marks sorted one by one; a longer run is put in order by classes, in time by its length. */
const SORTED_AT_ONCE = 1024;
/** Code points looked at between two pauses. */
const CODES_AT_ONCE = 16_384;

/** Bytes up to a boundary of characters. */
function pieceEnd(name: Bytes, end: number): number {
  if (end >= name.length) return name.length;
  while ((name[end]! & 0xc0) === 0x80) end--;
  return end;
}

/** Marks in the order of their classes, equal ones in theirs. */
function* orderRun(marks: readonly number[]): Slices<number[]> {
  const byClass: number[][] = [];
  for (let i = 0; i < marks.length; i++) {
    (byClass[classOf(marks[i]!)] ??= []).push(marks[i]!);
    if (i % CODES_AT_ONCE === 0) yield;
  }
  const ordered: number[] = [];
  for (const run of byClass) {
    for (let at = 0; run !== undefined && at < run.length; at += CODES_AT_ONCE, yield) {
      ordered.push(...run.slice(at, at + CODES_AT_ONCE));
    }
  }
  return ordered;
}

/** Folds what is in order and writes it. */
function* finish(codes: readonly number[], parts: Bytes[]): Slices<void> {
  for (let at = 0; at < codes.length; at += CODES_AT_ONCE, yield) {
    parts.push(encodeUtf8(foldCodePoints(codes.slice(at, at + CODES_AT_ONCE))));
  }
}

/** Index of the last code point that is not a mark, -1 for none, among those from `from` on. */
function lastStarter(codes: readonly number[], from: number): number {
  for (let i = codes.length - 1; i >= from; i--) if (classOf(codes[i]!) === 0) return i;
  return -1;
}

/** `normalizeName` in slices. `pieceBytes` are looked at between two pauses. */
export function* normalizeNameInSlices(name: Bytes, pieceBytes = AT_ONCE_SIZE): Slices<Bytes> {
  if (name.length <= pieceBytes) return normalizeName(name);
  if (!isUtf8(name)) return name;
  const parts: Bytes[] = [EMPTY_BYTES];
  /** A character and the marks that came after it; more of them may follow. */
  let open: number[] = [];
  for (let at = 0, end: number; at < name.length; at = end, yield) {
    end = pieceEnd(name, at + pieceBytes);
    const codes: number[] = [];
    decodeUtf8(name.subarray(at, end), codes);
    const known = open.length;
    appendDecomposed(codes, open);
    const last = lastStarter(open, known);
    if (last < 0) continue;
    yield* finish(yield* ordered(open.slice(0, last)), parts);
    open = open.slice(last);
  }
  yield* finish(yield* ordered(open), parts);
  return Buffer.concat(parts);
}

/** Code points with each run of marks in order; changes `codes`. */
function* ordered(codes: number[]): Slices<number[]> {
  let at = 0;
  let out: number[] | null = null;
  for (let start = 0; start < codes.length; start++) {
    if (start % CODES_AT_ONCE === 0) yield;
    if (classOf(codes[start]!) === 0) continue;
    let end = start + 1;
    while (end < codes.length && classOf(codes[end]!) !== 0) if (++end % CODES_AT_ONCE === 0) yield;
    if (end - start > SORTED_AT_ONCE) {
      out ??= [];
      appendAll(out, codes.slice(at, start));
      const run = yield* orderRun(codes.slice(start, end));
      for (let i = 0; i < run.length; i += CODES_AT_ONCE, yield)
        appendAll(out, run.slice(i, i + CODES_AT_ONCE));
      at = end;
    } else {
      const run = codes.slice(start, end);
      orderMarks(run);
      for (let i = 0; i < run.length; i++) codes[start + i] = run[i]!;
    }
    start = end - 1;
  }
  if (out === null) return codes;
  appendAll(out, codes.slice(at));
  return out;
}

function appendAll(out: number[], codes: readonly number[]): void {
  for (const code of codes) out.push(code);
}
