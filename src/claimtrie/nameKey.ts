/**
 * Names as latin1 strings, one code unit per byte: the form used in the trie, its maps and its rows. String order is byte
 * order. Contains the fast path of normalization; the rule itself is in `normalize.ts`.
 */
import { fromLatin1, toLatin1 } from '../util/bytes.js';
import { normalizeName } from './normalize.js';

const LOWER_CASE_ASCII = /^[\x00-\x40\x5b-\x7f]*$/;
const ASCII = /^[\x00-\x7f]*$/;

/** The normalized form of a name. For ASCII it is the lower case. */
export function normalizeKey(name: string): string {
  if (LOWER_CASE_ASCII.test(name)) return name;
  if (ASCII.test(name)) return name.toLowerCase();
  return toLatin1(normalizeName(fromLatin1(name)));
}
