/** Byte ranges of requests. Source: RFC 9110, section 14. */

/** Positions of bytes; `to` is the first one behind the range. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/** A request for more ranges than this gets the whole file, which RFC 9110, section 14.2, allows. Arbitrary. */
export const MAX_RANGES = 16;

/** Ranges with fewer bytes between them are sent as one, because the head of a part is about as long. Arbitrary. */
const GAP_BYTES = 80;

/** One range of the header: null if it has another form, `from` beyond the end where no byte of the file is in it. */
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

/** Joins ranges that overlap or nearly touch. Each result stands where the first of its ranges stood. */
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
 * What a header `Range` asks for of a file with this many bytes. Null if the header must be ignored: another unit, another
 * form, an end before the start, too many ranges. No ranges where none of them has a byte of the file (status 416).
 */
export function readRanges(header: string, sizeBytes: number): readonly ByteRange[] | null {
  const [, list] = /^bytes=(.*)$/i.exec(header.trim()) ?? [];
  if (list === undefined) return null;
  const ranges: ByteRange[] = [];
  const texts = list.split(',').map((text) => text.trim());
  if (texts.every((text) => text === '')) return null;
  for (const text of texts) {
    // RFC 9110, section 5.6.1.2: empty elements of a list are passed over.
    if (text === '') continue;
    const range = oneRange(text, sizeBytes);
    if (range === null) return null;
    if (range.from < sizeBytes) ranges.push(range);
  }
  const results = joined(ranges);
  return results.length > MAX_RANGES ? null : results;
}
