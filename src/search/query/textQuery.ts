/**
 * Parses the text of a search to a tree, and matches the tree with a document's words. Words are alternatives unless an
 * operator is between them. Operators: `+` means and, `|` or; `-` precedes an excluded part; `"…"` is a phrase; `*` follows
 * a prefix. `~N` allows up to N edits after a word, and up to N other words within a phrase. Parentheses group; `\` escapes
 * a character. Operators are applied from left to right with equal precedence. An exclusion applies to the whole text or
 * parenthesis. Every text is valid: unmatched operators are ignored. Source: Elasticsearch's simple_query_string with
 * all its flags (Lucene's SimpleQueryParser).
 */
import {
  FIELD_BREAK,
  MAX_WORD_LENGTH,
  VALUE_BREAK,
  WHITE_SPACE,
  foldText,
  textWords,
} from '../document/analyze.js';
import { badRequest } from './searchError.js';

export type TextNode =
  | { readonly kind: 'everything' }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'word'; readonly word: string }
  | { readonly kind: 'phrase'; readonly words: readonly string[] }
  /** Matches the words in their order, with up to `gap` other words between two. */
  | { readonly kind: 'near'; readonly words: readonly string[]; readonly gap: number }
  | { readonly kind: 'prefix'; readonly prefix: string }
  /** Matches words of the index that differ from `word` by up to `edits` edits. */
  | { readonly kind: 'fuzzy'; readonly word: string; readonly edits: number }
  | { readonly kind: 'and'; readonly nodes: readonly TextNode[] }
  | { readonly kind: 'or'; readonly nodes: readonly TextNode[] }
  | { readonly kind: 'not'; readonly node: TextNode };

/** Maximum number of words of a text. Arbitrary: each word is looked up in the index. */
const MAX_WORDS = 256;
/** Maximum length of a text in characters: the maximum number of words of maximum length, with separators. */
const MAX_TEXT_LENGTH = MAX_WORDS * (MAX_WORD_LENGTH + 1);
/** Maximum nesting depth of parentheses; deeper parentheses are ignored. Arbitrary. */
const MAX_DEPTH = 32;
/**
 * Maximum number of edits of a fuzzy word, and of other words within a phrase. Source for the edits: Lucene's fuzzy automata
 * support at most two.
 */
const MAX_EDITS = 2;
const MAX_GAP = 100;

const NOTHING: TextNode = { kind: 'nothing' };

class TextParser {
  private at = 0;
  private words = 0;
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  parse(depth: number): TextNode {
    let found: TextNode | null = null;
    const excluded: TextNode[] = [];
    let operator: 'and' | 'or' = 'or';
    let negations = 0;
    const add = (node: TextNode | null) => {
      if (node === null) return;
      if (negations % 2 === 1) excluded.push({ kind: 'not', node });
      else found = found === null ? node : joined(operator, found, node);
      operator = 'or';
      negations = 0;
    };
    while (this.at < this.text.length) {
      const sign = this.text[this.at]!;
      if (/\s/.test(sign)) {
        this.at++;
        // A "not" operator without a word after it is ignored.
        negations = 0;
      } else if (sign === '+' || sign === '|') {
        operator = sign === '+' ? 'and' : 'or';
        this.at++;
      } else if (sign === '-') {
        negations++;
        this.at++;
      } else if (sign === '(') {
        this.at++;
        if (depth < MAX_DEPTH) {
          const inner = this.parse(depth + 1);
          add(inner.kind === 'nothing' ? null : inner);
        }
      } else if (sign === ')') {
        this.at++;
        if (depth > 0) break;
      } else if (sign === '"') {
        add(this.phrase());
      } else {
        add(this.token());
      }
    }
    const nodes = [...(found === null ? [] : [found as TextNode]), ...excluded];
    if (nodes.length === 0) return NOTHING;
    return nodes.length === 1 ? nodes[0]! : { kind: 'and', nodes };
  }

  /** Parses a phrase up to its closing quote. If the quote is not closed, it is ignored. */
  private phrase(): TextNode | null {
    let end = this.at + 1;
    while (end < this.text.length && this.text[end] !== '"') end += this.text[end] === '\\' ? 2 : 1;
    if (end >= this.text.length) {
      this.at++;
      return null;
    }
    const inner = this.text.slice(this.at + 1, end).replace(/\\(.)/gs, '$1');
    this.at = end + 1;
    const gap = /^~(\d{1,9})/.exec(this.text.slice(this.at, this.at + 12));
    if (gap !== null) this.at += gap[0].length;
    const node = phraseOf(textWords(inner));
    if (node === null) return null;
    this.count(node.kind === 'phrase' ? node.words.length : 1);
    const between = Math.min(MAX_GAP, Number(gap?.[1] ?? 0));
    if (node.kind !== 'phrase' || between === 0) return node;
    return { kind: 'near', words: node.words, gap: between };
  }

  private token(): TextNode | null {
    let token = '';
    let isEscaped = false;
    while (this.at < this.text.length) {
      let sign = this.text[this.at]!;
      if (/[\s"|+()]/.test(sign)) break;
      isEscaped = sign === '\\';
      if (isEscaped) {
        this.at++;
        sign = this.text[this.at] ?? '';
      }
      token += sign;
      this.at++;
    }
    const fuzzy = /^(.+)~(\d{0,9})$/s.exec(token);
    if (token === '') return null;
    this.count(1);
    if (!isEscaped && token === '*') return { kind: 'everything' };
    if (!isEscaped && token.endsWith('*')) {
      const prefix = foldText(token.slice(0, -1));
      // A prefix is valid only if it has no white space and is not longer than a word may be.
      const isWord = prefix.length <= MAX_WORD_LENGTH && !WHITE_SPACE.test(prefix);
      return isWord ? { kind: 'prefix', prefix } : NOTHING;
    }
    if (!isEscaped && fuzzy !== null) {
      const edits = Math.min(MAX_EDITS, Number(fuzzy[2]));
      if (edits > 0) return { kind: 'fuzzy', word: foldText(fuzzy[1]!), edits };
      return phraseOf(textWords(fuzzy[1]!));
    }
    return phraseOf(textWords(token));
  }

  private count(words: number): void {
    this.words += words;
    if (this.words > MAX_WORDS) throw badRequest(`text cant have more than ${MAX_WORDS} words.`);
  }
}

function phraseOf(words: readonly string[]): TextNode | null {
  if (words.length === 0) return null;
  return words.length === 1 ? { kind: 'word', word: words[0]! } : { kind: 'phrase', words };
}

function joined(operator: 'and' | 'or', left: TextNode, right: TextNode): TextNode {
  if (left.kind === operator) return { kind: operator, nodes: [...left.nodes, right] };
  return { kind: operator, nodes: [left, right] };
}

/** Parses a text to a tree. Throws `SearchError` only if the text has too many words or is too long. */
export function parseTextQuery(text: string): TextNode {
  if (text.length > MAX_TEXT_LENGTH)
    throw badRequest(`text cant have more than ${MAX_TEXT_LENGTH} characters.`);
  return new TextParser(text).parse(0);
}

/** Returns the tree with each fuzzy word replaced by the words that `similar` finds for it. */
export function expandFuzzy(
  node: TextNode,
  similar: (word: string, edits: number) => readonly string[],
): TextNode {
  if (node.kind === 'fuzzy') {
    const nodes = similar(node.word, node.edits).map((word): TextNode => ({ kind: 'word', word }));
    return nodes.length === 0 ? NOTHING : { kind: 'or', nodes };
  }
  if (node.kind === 'and' || node.kind === 'or') {
    return { kind: node.kind, nodes: node.nodes.map((inner) => expandFuzzy(inner, similar)) };
  }
  return node.kind === 'not' ? { kind: 'not', node: expandFuzzy(node.node, similar) } : node;
}

/**
 * Counts the occurrences of words in their order in packed words, with up to `gap` other words between two. Occurrences do
 * not overlap; counting stops at `most`. The time is always proportional to the number of words in both.
 */
export function countNear(words: readonly string[], gap: number, packed: string, most = Infinity): number {
  const placesOf = new Map<string, number[]>();
  // Starts with the last word, so that a word that occurs twice is not matched twice at one position.
  for (let n = words.length - 1; n >= 0; n--) {
    const places = placesOf.get(words[n]!);
    if (places === undefined) placesOf.set(words[n]!, [n]);
    else places.push(n);
  }
  let count = 0;
  // For each n, the end of the last match of the first n + 1 words. A match that ends earlier allows no further
  // continuation, so it is not stored.
  const ends = new Array<number>(words.length).fill(-Infinity);
  for (const [at, word] of packed.split(' ').entries()) {
    if (word[0] === VALUE_BREAK || word[0] === FIELD_BREAK) ends.fill(-Infinity);
    for (const n of placesOf.get(word) ?? []) {
      if (n > 0 && at - ends[n - 1]! - 1 > gap) continue;
      if (n < words.length - 1) {
        ends[n] = at;
        continue;
      }
      if (++count >= most) return count;
      ends.fill(-Infinity);
      break;
    }
  }
  return count;
}

/** Returns a substring of packed words whose presence is equivalent to a match of the node; null if there is none. */
export function substringOf(node: TextNode): string | null {
  if (node.kind === 'word') return ` ${node.word} `;
  if (node.kind === 'phrase') return ` ${node.words.join(' ')} `;
  return node.kind === 'prefix' ? ` ${node.prefix}` : null;
}

/** Whether packed words (`analyze.ts`) match the tree. The tree must not contain fuzzy words. */
export function matchesText(node: TextNode, packed: string): boolean {
  switch (node.kind) {
    case 'everything':
      return true;
    case 'nothing':
    case 'fuzzy':
      return false;
    case 'near':
      return countNear(node.words, node.gap, packed, 1) > 0;
    case 'and':
      return node.nodes.every((inner) => matchesText(inner, packed));
    case 'or':
      return node.nodes.some((inner) => matchesText(inner, packed));
    case 'not':
      return !matchesText(node.node, packed);
    default:
      return packed.includes(substringOf(node)!);
  }
}

/**
 * Whether two words differ by at most `edits` edits: a letter inserted, deleted, changed, or swapped with the next one.
 * Source: optimal string alignment.
 */
export function isSimilar(a: string, b: string, edits: number): boolean {
  const left = [...a];
  const right = [...b];
  if (Math.abs(left.length - right.length) > edits) return false;
  let before: number[] = [];
  let above = right.map((_, i) => i + 1);
  above.unshift(0);
  for (let i = 1; i <= left.length; i++) {
    const row = [i];
    for (let j = 1; j <= right.length; j++) {
      const cost = left[i - 1] === right[j - 1] ? 0 : 1;
      let least = Math.min(above[j]! + 1, row[j - 1]! + 1, above[j - 1]! + cost);
      if (i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1]) {
        least = Math.min(least, before[j - 2]! + 1);
      }
      row.push(least);
    }
    before = above;
    above = row;
  }
  return above[right.length]! <= edits;
}
