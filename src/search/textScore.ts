/**
 * How well a document answers a text: BM25 of each word in each field, times the field's weight, summed over fields and
 * words. A beginning of words counts as much as its field weighs. How rare a word is, is asked of all fields together.
 * Source: Lucene's BM25Similarity (k1 1.2, b 0.75) as simple_query_string asks it, fields summed (`most_fields`).
 */
import { FIELD_BREAK, TEXT_FIELDS } from './analyze.js';
import { countNear, matchesText, substringOf, type TextNode } from './textQuery.js';

const K1 = 1.2;
const B = 0.75;

/** Of all documents: how many there are, and of each field how many have it and how many words they have in it. */
export interface TextTotals {
  readonly documents: number;
  readonly withField: readonly number[];
  readonly wordsInField: readonly number[];
}

/** One part of a text that adds to the score. */
interface ScoredPart {
  readonly node: TextNode;
  readonly rarity: number;
  readonly find: (field: string) => number;
}

/** Words whose rarity the score of a tree asks for; none when nothing is weighed against one another. */
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

function countSubstring(field: string, part: string): number {
  let count = 0;
  // Two neighbours share the blank between them.
  for (let at = field.indexOf(part); at >= 0; at = field.indexOf(part, at + part.length - 1)) count++;
  return count;
}

/** A function from a document's words to its score. `counts` are documents by word, of the words of `rankedWords`. */
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
      return {
        node: part,
        rarity: sum(words.map(rarityOf)),
        find: (field) => countNear(words, gap, field),
      };
    }
    const text = substringOf(part)!;
    const words = part.kind === 'word' ? [part.word] : part.kind === 'phrase' ? part.words : [];
    return { node: part, rarity: sum(words.map(rarityOf)), find: (field) => countSubstring(field, text) };
  });
  const averages = totals.withField.map((documents, i) =>
    documents === 0 ? 1 : totals.wordsInField[i]! / documents,
  );
  return (packed, lengths) => {
    const fields = packed.split(FIELD_BREAK);
    let score = 0;
    for (const part of parts) {
      // A field in which the part does not occur adds nothing, and most do not.
      if (!matchesText(part.node, packed)) continue;
      for (let i = 0; i < TEXT_FIELDS.length; i++) {
        const found = part.find(fields[i]!);
        if (found === 0) continue;
        const weight = TEXT_FIELDS[i]![1];
        if (part.node.kind === 'prefix') {
          score += weight;
          continue;
        }
        const length = K1 * (1 - B + (B * lengths[i]!) / averages[i]!);
        score += (weight * part.rarity * found) / (found + length);
      }
    }
    return score;
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
