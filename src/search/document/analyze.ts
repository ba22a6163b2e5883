/**
 * Text to words, the same for documents and queries: split at white space alone, lower case, English stems (Porter), as the
 * hub's index does for every language. Also the form in which the words of a document are kept: one string with a blank
 * before and behind each word, so that a word, a phrase or a beginning is found by looking for a substring.
 */
import { stemmer } from 'stemmer';

/** The fields that a text search looks into, in the order in which their words are kept, with their weights in ranking. */
export const TEXT_FIELDS = [
  ['name', 4],
  ['title', 1],
  ['description', 0.5],
  ['author', 1],
  ['tags', 0.5],
] as const;

/** Between two fields, and between the values of one: no phrase reaches across. */
export const FIELD_BREAK = '\x1f';
export const VALUE_BREAK = '\x1e';

/** Longer words are cut into pieces of this many characters, as Lucene's white space tokenizer does. */
export const MAX_WORD_LENGTH = 255;
/** No English word is as long. */
const MAX_STEMMED_LENGTH = 64;
/** Words whose stems are remembered, and as many that were not asked for since. Arbitrary: most of a text is words seen before. */
const REMEMBERED_STEMS = 50_000;
/** The last letters of all endings that the stemmer takes off or changes; other words are their own stems. */
const STEMMED_ENDS = new Set([...'cdegilmnrstuy'].map((letter) => letter.charCodeAt(0)));
/** Control characters that are no white space would part words in the index. */
const CONTROLS = /[\0-\x08\x0e-\x1b\x7f]/g;
/** What Java calls white space, and so Lucene: no-break blanks are none. */
export const WHITE_SPACE = /[\t-\r\x1c-\x20\u1680\u2000-\u2006\u2008-\u200a\u2028\u2029\u205f\u3000]+/;

let stems = new Map<string, string>();
let olderStems = new Map<string, string>();

function stem(word: string): string {
  const { length } = word;
  if (length < 3 || length > MAX_STEMMED_LENGTH || !STEMMED_ENDS.has(word.charCodeAt(length - 1)))
    return word;
  const known = stems.get(word);
  if (known !== undefined) return known;
  const made = olderStems.get(word) ?? stemmer(word);
  if (stems.size >= REMEMBERED_STEMS) {
    olderStems = stems;
    stems = new Map();
  }
  stems.set(word, made);
  return made;
}

/** Lower case with nothing in it that the index could not hold. */
export function foldText(text: string): string {
  return Buffer.from(text.toLowerCase(), 'utf8').toString('utf8').replace(CONTROLS, '\ufffd');
}

/** The words of a text in its order. */
export function textWords(text: string): string[] {
  const words: string[] = [];
  for (const word of foldText(text).split(WHITE_SPACE)) {
    if (word === '') continue;
    for (let at = 0; at < word.length; at += MAX_WORD_LENGTH) {
      words.push(stem(word.slice(at, at + MAX_WORD_LENGTH)));
    }
  }
  return words;
}

/** The words of a document's fields. */
export interface DocumentWords {
  /** All fields in the order of `TEXT_FIELDS`. */
  readonly packed: string;
  /** Number of words by field. */
  readonly lengths: readonly number[];
}

/** Packs the values of each field, in the order of `TEXT_FIELDS`. */
export function packWords(fields: readonly (readonly string[])[]): DocumentWords {
  const lengths: number[] = [];
  const packed = fields.map((values) => {
    let length = 0;
    const parts: string[] = [];
    for (const value of values) {
      const words = textWords(value);
      length += words.length;
      if (words.length > 0) parts.push(` ${words.join(' ')} `);
    }
    lengths.push(length);
    return parts.join(VALUE_BREAK);
  });
  return { packed: packed.join(FIELD_BREAK), lengths };
}
