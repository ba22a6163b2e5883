/**
 * Splits the text of documents and queries into words: only at white space, in lower case, reduced to English stems
 * (Porter), as the hub's index does for every language. The words of a document are stored as one string with a space before
 * and after each word, so that a substring search finds a word, a phrase or a prefix.
 */
import { stemmer } from 'stemmer';

/** Fields that a text search covers, in the order in which their words are stored, with their weights for ranking. */
export const TEXT_FIELDS = [
  ['name', 4],
  ['title', 1],
  ['description', 0.5],
  ['author', 1],
  ['tags', 0.5],
] as const;

/** Separators between two fields and between two values of a field. They prevent a phrase from matching across them. */
export const FIELD_BREAK = '\x1f';
export const VALUE_BREAK = '\x1e';

/** Maximum length of a word in characters. Longer words are split into pieces, as Lucene's white space tokenizer does. */
export const MAX_WORD_LENGTH = 255;
/** Maximum length in characters of a word that is reduced to its stem. English words are not longer. */
const MAX_STEMMED_LENGTH = 64;
/**
 * Maximum number of words in each of the two halves (new and old) of the stem cache. Arbitrary: large enough for most words
 * of a text.
 */
const REMEMBERED_STEMS = 50_000;
/** Last letters of all endings that the stemmer changes. Words with other last letters are their own stems. */
const STEMMED_ENDS = new Set([...'cdegilmnrstuy'].map((letter) => letter.charCodeAt(0)));
/** Matches control characters that are not white space. They are removed, because the index could treat them as word breaks. */
const CONTROLS = /[\0-\x08\x0e-\x1b\x7f]/g;
/** Matches white space as Java and therefore Lucene defines it, without no-break spaces. */
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

/** Returns the text in lower case, without characters that the index cannot store. */
export function foldText(text: string): string {
  return text.toLowerCase().toWellFormed().replace(CONTROLS, '\ufffd');
}

/** Returns the words of a text, in order, after folding and splitting. */
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

/** Words of a document's text fields. */
export interface DocumentWords {
  /** Words of all fields in the order of `TEXT_FIELDS`, as one string. */
  readonly packed: string;
  /** Number of words in each field. */
  readonly lengths: readonly number[];
}

/** Packs the values of each text field. The fields must be in the order of `TEXT_FIELDS`. */
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
