/**
 * Normalizes very long names, far longer than any in the chain, which RPC callers may send. The results equal those of
 * `normalizeName`; tests compare both.
 */
import { isUtf8 } from 'node:buffer';
import { EMPTY_BYTES, type Bytes } from '../util/bytes.js';
import { AT_ONCE_SIZE, type Slices } from '../util/slices.js';
import { appendDecomposed, classOf, foldCodePoints, normalizeName, orderMarks } from './normalize.js';
import { decodeUtf8, encodeUtf8 } from './unicode/utf8.js';

/** Longest run of marks that is sorted by comparison; a longer run is sorted by class in linear time. */
const SORTED_AT_ONCE = 1024;
/** Number of code points that are processed between two yields to the event loop. */
const CODES_AT_ONCE = 16_384;

/** Returns an offset near `end` at which the name can be cut: the start of a character. */
function pieceEnd(name: Bytes, end: number): number {
  if (end >= name.length) return name.length;
  while ((name[end]! & 0xc0) === 0x80) end--;
  return end;
}

/** Sorts combining marks by class, without changing the order within a class. */
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

/** Folds code points whose marks are in canonical order, and appends the UTF-8 to `parts`. */
function* finish(codes: readonly number[], parts: Bytes[]): Slices<void> {
  for (let at = 0; at < codes.length; at += CODES_AT_ONCE, yield) {
    parts.push(encodeUtf8(foldCodePoints(codes.slice(at, at + CODES_AT_ONCE))));
  }
}

/** Index of the last code point, at or after `from`, that is not a mark; -1 if there is none. */
function lastStarter(codes: readonly number[], from: number): number {
  for (let i = codes.length - 1; i >= from; i--) if (classOf(codes[i]!) === 0) return i;
  return -1;
}

/** Like `normalizeName`, but yields to the event loop after each `pieceBytes` bytes. */
export function* normalizeNameInSlices(name: Bytes, pieceBytes = AT_ONCE_SIZE): Slices<Bytes> {
  if (name.length <= pieceBytes) return normalizeName(name);
  if (!isUtf8(name)) return name;
  const parts: Bytes[] = [EMPTY_BYTES];
  /**
   * The last character read so far and the combining marks after it. The next piece of the name may continue with further
   * marks.
   */
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

/** Sorts each run of combining marks among the code points, in place. */
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
