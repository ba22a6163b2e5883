/**
 * Grammar of `lbry://` URLs: parsing and formatting. The claim index resolves URLs, and it compares names by the chain's
 * rules. Source: lbry-sdk lbry/schema/url.py.
 */

export interface UrlSegment {
  /** Name of a claim. The name of a channel includes its `@`. */
  readonly name: string;
  /** First 1 to 40 digits of the claim id, in the hex form that programs print; null if the URL contains no id. */
  readonly claimId: string | null;
  /**
   * Rank of the claim by amount among the claims of the name, from 1; null if the URL contains none. A value above 2^53 is
   * rounded to a double.
   */
  readonly amountOrder: number | null;
}

/** Parts of a URL. At least one is present. With both, the stream is a claim that the channel signed. */
export interface ClaimUrl {
  readonly channel: UrlSegment | null;
  readonly stream: UrlSegment | null;
}

const SCHEME = 'lbry://';
const NAME = String.raw`[^=&#:$@%?;"/\\<>{}|^~\x60\[\]\u0000-\u0020\uD800-\uDFFF\uFFFE\uFFFF]+`;
const MODIFIER = String.raw`(?:[:#]([0-9a-f]{1,40})|\$([1-9][0-9]*))?`;
/** Pattern of a URL. QUIRK: one line break at the end is ignored, as by the `$` of the reference's pattern. */
const PATTERN = new RegExp(
  `^(?:${SCHEME})?(?:(@${NAME})${MODIFIER}(?:/(${NAME})${MODIFIER})?|(${NAME})${MODIFIER})\n?$`,
  'u',
);

/**
 * URL segment from three consecutive groups of a match: name, claim id and rank. `group` is the index of the first. Null if
 * the name is absent.
 */
function segmentAt(match: RegExpExecArray, group: number): UrlSegment | null {
  const [name, claimId, order] = match.slice(group, group + 3);
  if (name === undefined) return null;
  const amountOrder = order === undefined ? null : Math.min(Number(order), Number.MAX_VALUE);
  return { name, claimId: claimId ?? null, amountOrder };
}

/** Parses a URL, with or without `lbry://`; null if it is invalid. */
export function parseUrl(text: string): ClaimUrl | null {
  const match = PATTERN.exec(text);
  if (match === null) return null;
  return { channel: segmentAt(match, 1), stream: segmentAt(match, 4) ?? segmentAt(match, 7) };
}

function formatSegment({ name, claimId, amountOrder }: UrlSegment): string {
  if (claimId !== null) return `${name}:${claimId}`;
  return amountOrder === null ? name : `${name}$${BigInt(amountOrder)}`;
}

/** Formats a URL, starting with `lbry://` and with `:` before claim ids. */
export function formatUrl({ channel, stream }: ClaimUrl): string {
  const segments = [channel, stream].filter((part) => part !== null);
  return SCHEME + segments.map(formatSegment).join('/');
}
