/** Byte ranges of requests. Source: RFC 9110, section 14. */

/** Byte range: `from` is included, `to` is the first position after the range. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/** Maximum number of ranges. A request with more ranges gets the whole file, which RFC 9110, section 14.2, allows. Arbitrary. */
export const MAX_RANGES = 16;

/** Gap in bytes below which two ranges are sent as one, because the header of a part is about as long. Arbitrary. */
const GAP_BYTES = 80;

/**
 * Parses one range of the header. Returns null if the form is invalid. `from` is beyond the end if the range contains no
 * byte of the file.
 */
function oneRange(text: string, sizeBytes: number): ByteRange | null {
  const [, first, last] = /^(\d*)-(\d*)$/.exec(text) ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return null;
  if (first === '') {
    const length = Number(last);
    return length === 0
      ? { from: sizeBytes, to: sizeBytes }
      : { from: Math.max(0, sizeBytes - length), to: sizeBytes };
  }
  if (last !== '' && Number(last) < Number(first)) return null;
  return { from: Number(first), to: last === '' ? sizeBytes : Math.min(Number(last) + 1, sizeBytes) };
}

/** Joins ranges that overlap or have a small gap. A joined range has the position of its first member in the list. */
function joined(ranges: readonly ByteRange[]): ByteRange[] {
  const results: { at: number; from: number; to: number }[] = [];
  const byStart = ranges.map((range, at) => ({ at, ...range })).toSorted((a, b) => a.from - b.from);
  for (const range of byStart) {
    const last = results.at(-1);
    if (last === undefined || range.from > last.to + GAP_BYTES) results.push(range);
    else {
      last.at = Math.min(last.at, range.at);
      last.to = Math.max(last.to, range.to);
    }
  }
  return results.toSorted((a, b) => a.at - b.at).map(({ from, to }) => ({ from, to }));
}

/**
 * Parses a `Range` header for a file of this size. Returns null if the header must be ignored: another unit, an invalid
 * form, an end before the start, or too many ranges. Returns no ranges if none contains a byte of the file (status 416).
 */
export function readRanges(header: string, sizeBytes: number): readonly ByteRange[] | null {
  const [, list] = /^bytes=(.*)$/i.exec(header.trim()) ?? [];
  if (list === undefined) return null;
  const ranges: ByteRange[] = [];
  const texts = list.split(',').map((text) => text.trim());
  if (texts.every((text) => text === '')) return null;
  for (const text of texts) {
    // Empty elements of a list are skipped. Source: RFC 9110, section 5.6.1.2.
    if (text === '') continue;
    const range = oneRange(text, sizeBytes);
    if (range === null) return null;
    if (range.from < sizeBytes) ranges.push(range);
  }
  const results = joined(ranges);
  return results.length > MAX_RANGES ? null : results;
}
