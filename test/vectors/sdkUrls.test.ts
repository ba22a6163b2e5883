/** Compares URLs, names, tags and amounts with those that the Python lbry-sdk parsed and printed. */
import { classOf, normalizeName } from '../../src/claimtrie/normalize.js';
import { formatLbc, parseLbc } from '../../src/metadata/amounts.js';
import { MetadataError } from '../../src/metadata/metadataError.js';
import { normalizeTag } from '../../src/metadata/tags.js';
import { formatUrl, parseUrl, type UrlSegment } from '../../src/metadata/url.js';
import { AcceptedDifferences } from '../support/acceptedDifferences.js';
import { checkAccepted, checkSdkVectors, differs, type SdkLine } from './sdkVectors.js';

const accepted = new AcceptedDifferences('sdkUrls');

const normalize = (name: string): string => Buffer.from(normalizeName(Buffer.from(name))).toString();

/** Whether the text may have a mark of a newer Unicode version, which the chain's normalization does not reorder. */
const hasUnorderedMark = (text: string): boolean =>
  [...text].some((mark) => /\p{Mn}/u.test(mark) && classOf(mark.codePointAt(0)!) === 0);

/** The recording decomposed names by a newer Unicode; `normalized_unicode_11` is folded by that of the chain. */
function checkName({ text, normalized, normalized_unicode_11 }: SdkLine): string | null {
  const [ours, ofChain] = [normalize(text as string), (normalized_unicode_11 ?? normalized) as string];
  if (ours === normalized) return null;
  if (ours === ofChain) return accepted.accept('name folded by the Unicode of the chain');
  return accepted.unless(
    hasUnorderedMark(ours) && ours.normalize('NFD') === ofChain,
    'mark of a newer Unicode',
    differs(ours, ofChain),
  );
}

const showSegment = (segment: UrlSegment | null) =>
  segment && {
    name: segment.name,
    ...(segment.claimId === null ? {} : { claim_id: segment.claimId }),
    ...(segment.amountOrder === null ? {} : { amount_order: BigInt(segment.amountOrder).toString() }),
    normalized: normalize(segment.name),
  };

checkSdkVectors('urls', {
  url: ({ text, error, channel, stream, written }) => {
    const url = parseUrl(text as string);
    if (url === null || error !== undefined) return differs(url === null, error !== undefined);
    return differs(
      [showSegment(url.channel), showSegment(url.stream), formatUrl(url)],
      [channel, stream, written],
    );
  },
  name: checkName,
  tag: ({ text, normalized }) => differs(normalizeTag(text as string), normalized),
  amount: ({ dewies, lbc }) => differs(formatLbc(BigInt(dewies as string)), lbc),
  'parsed amount': ({ text, dewies, error, error_text }) => {
    try {
      return differs(parseLbc(text as string).toString(), dewies);
    } catch (failure) {
      if (!(failure instanceof MetadataError)) return String(failure);
      return accepted.unless(
        error === 'ValueError',
        'text of a wrong amount',
        differs(failure.message, error_text),
      );
    }
  },
});

checkAccepted(accepted);
