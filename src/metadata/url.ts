/**
 * The grammar of `lbry://` URLs: parsing and writing. The claim index resolves URLs, and names are compared by the chain's
 * rule, not here. Source: lbry-sdk lbry/schema/url.py.
 */

export interface UrlSegment {
  /** The name of a channel, with its `@`. */
  readonly name: string;
  /** The first 1 to 40 digits of the claim id as printed. */
  readonly claimId: string | null;
  /** The claim's rank by amount among those of the name, from 1. Values above 2^53 are rounded to a double. */
  readonly amountOrder: number | null;
}

/** At least one of both is present; a stream with a channel is one that the channel signed. */
export interface ClaimUrl {
  readonly channel: UrlSegment | null;
  readonly stream: UrlSegment | null;
}

const SCHEME = 'lbry://';
const NAME = String.raw`[^=&#:$@%?;"/\\<>{}|^~\x60\[\]\u0000-\u0020\uD800-\uDFFF\uFFFE\uFFFF]+`;
const MODIFIER = String.raw`(?:[:#]([0-9a-f]{1,40})|\$([1-9][0-9]*))?`;
/** QUIRK: one line break at the end is ignored, as by the `$` of the reference's pattern. */
const PATTERN = new RegExp(
  `^(?:${SCHEME})?(?:(@${NAME})${MODIFIER}(?:/(${NAME})${MODIFIER})?|(${NAME})${MODIFIER})\n?$`,
  'u',
);

/** The URL segment in three groups of the pattern, starting with the name's group. */
function segmentAt(match: RegExpExecArray, group: number): UrlSegment | null {
  const [name, claimId, order] = match.slice(group, group + 3);
  if (name === undefined) return null;
  const amountOrder = order === undefined ? null : Math.min(Number(order), Number.MAX_VALUE);
  return { name, claimId: claimId ?? null, amountOrder };
}

/** The parts of a URL, with or without `lbry://` before it; null if invalid. */
export function parseUrl(text: string): ClaimUrl | null {
  const match = PATTERN.exec(text);
  if (match === null) return null;
  return { channel: segmentAt(match, 1), stream: segmentAt(match, 4) ?? segmentAt(match, 7) };
}

function formatSegment({ name, claimId, amountOrder }: UrlSegment): string {
  if (claimId !== null) return `${name}:${claimId}`;
  return amountOrder === null ? name : `${name}$${BigInt(amountOrder)}`;
}

/** The URL with `lbry://` before it and `:` before claim ids. */
export function formatUrl({ channel, stream }: ClaimUrl): string {
  const segments = [channel, stream].filter((part) => part !== null);
  return SCHEME + segments.map(formatSegment).join('/');
}
