/** Tags of claims. Source: lbry-sdk lbry/schema/tags.py. */

/**
 * White space in the reference's patterns. JavaScript's `\s` differs in control characters and U+FEFF.
 */
const SPACE = String.raw`[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]`;
const RUN_OF_SPACE = new RegExp(`${SPACE}{2,}`, 'g');
const OUTER_SPACE = new RegExp(`^${SPACE}+|${SPACE}+$`, 'g');

/** Normalizes a tag to the form in which it is stored and searched. Empty if no characters remain. */
export function normalizeTag(tag: string): string {
  return tag
    .toLowerCase()
    .replaceAll("'", '')
    .replace(/[#!~]/g, ' ')
    .replace(RUN_OF_SPACE, ' ')
    .replace(OUTER_SPACE, '');
}

/** Tag that replaces the tag `nsfw` of old claims. */
export const MATURE_TAG = 'mature';
