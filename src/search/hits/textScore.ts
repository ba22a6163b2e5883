/**
 * Relevance of a document for a text: the BM25 score of each word in each field, multiplied by the weight of the field,
 * summed over fields and words. A prefix scores the weight of its field. The rarity of a word is computed over all fields
 * together. Source: Lucene's BM25Similarity (k1 1.2, b 0.75) as used by simple_query_string, summed over fields
 * (`most_fields`).
 */
import { FIELD_BREAK, TEXT_FIELDS } from '../document/analyze.js';
import { countNear, substringOf, type TextNode } from '../query/textQuery.js';

const K1 = 1.2;
const B = 0.75;

/**
 * Totals over all documents: their number, and for each field the number of documents that have the field and the number of
 * its words.
 */
export interface TextTotals {
  readonly documents: number;
  readonly withField: readonly number[];
  readonly wordsInField: readonly number[];
}

/** A word, phrase or prefix of the searched text that contributes to the score. */
interface ScoredPart {
  readonly rarity: number;
  /** Whether the part of the text adds a constant score, as a prefix does. */
  readonly isFlat: boolean;
  /**
   * Adds the number of occurrences in each field to `counts`. Returns false if there are none. `breaks` are the offsets at
   * which the fields end.
   */
  count(packed: string, breaks: Int32Array, counts: Int32Array): boolean;
}

/** Returns the words whose document counts the score needs. Empty if the score does not depend on them. */
export function rankedWords(node: TextNode): string[] {
  const words = new Set<string>();
  const parts = positiveParts(node);
  if (parts.length === 1 && parts[0]!.kind === 'word') return [];
  for (const part of parts) {
    if (part.kind === 'word') words.add(part.word);
    if (part.kind === 'phrase' || part.kind === 'near') for (const word of part.words) words.add(word);
  }
  return [...words];
}

function positiveParts(node: TextNode): TextNode[] {
  if (node.kind === 'not' || node.kind === 'everything' || node.kind === 'nothing') return [];
  return node.kind === 'and' || node.kind === 'or' ? node.nodes.flatMap(positiveParts) : [node];
}

/** Creates a function that counts a substring in one pass over all fields. */
function substringCounter(part: string): ScoredPart['count'] {
  // Adjacent words share a space, so the next match may start at the last character of the previous one.
  const step = Math.max(1, part.length - 1);
  return (packed, breaks, counts) => {
    let at = packed.indexOf(part);
    if (at < 0) return false;
    for (let field = 0; at >= 0; at = packed.indexOf(part, at + step)) {
      while (at > breaks[field]!) field++;
      counts[field]!++;
    }
    return true;
  };
}

/**
 * Creates a function that counts words near each other. A fast pre-check excludes most documents, which do not have the
 * words in this order.
 */
function nearCounter(words: readonly string[], gap: number): ScoredPart['count'] {
  return (packed, _breaks, counts) => {
    if (countNear(words, gap, packed, 1) === 0) return false;
    for (const [field, text] of packed.split(FIELD_BREAK).entries())
      counts[field] = countNear(words, gap, text);
    return true;
  };
}

/**
 * Creates a function that computes the score of a document's words. `counts` has the document counts of the words from
 * `rankedWords`.
 */
export function textScorer(
  node: TextNode,
  totals: TextTotals,
  counts: ReadonlyMap<string, number>,
): (packed: string, lengths: readonly number[]) => number {
  const rarityOf = (word: string): number => {
    const count = counts.get(word);
    if (count === undefined) return 1;
    return Math.log(1 + (totals.documents - count + 0.5) / (count + 0.5));
  };
  const parts = positiveParts(node).map((part): ScoredPart => {
    if (part.kind === 'near') {
      const { words, gap } = part;
      return { rarity: sum(words.map(rarityOf)), isFlat: false, count: nearCounter(words, gap) };
    }
    const words = part.kind === 'word' ? [part.word] : part.kind === 'phrase' ? part.words : [];
    return {
      rarity: sum(words.map(rarityOf)),
      isFlat: part.kind === 'prefix',
      count: substringCounter(substringOf(part)!),
    };
  });
  const averages = totals.withField.map((documents, i) =>
    documents === 0 ? 1 : totals.wordsInField[i]! / documents,
  );
  const breaks = new Int32Array(TEXT_FIELDS.length);
  const found = new Int32Array(TEXT_FIELDS.length);
  return (packed, lengths) => {
    for (let i = 0, at = -1; i < breaks.length - 1; i++) breaks[i] = at = packed.indexOf(FIELD_BREAK, at + 1);
    breaks[breaks.length - 1] = packed.length;
    let score = 0;
    for (const { rarity, isFlat, count } of parts) {
      found.fill(0);
      if (!count(packed, breaks, found)) continue;
      for (let i = 0; i < found.length; i++) {
        if (found[i] === 0) continue;
        const weight = TEXT_FIELDS[i]![1];
        const length = K1 * (1 - B + (B * lengths[i]!) / averages[i]!);
        score += isFlat ? weight : (weight * rarity * found[i]!) / (found[i]! + length);
      }
    }
    return score;
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
