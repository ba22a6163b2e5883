/** Converts rows of an index to hits, and selects the hits of a page. All backends share this code. */
import { toHex } from '../../util/bytes.js';
import { TEXT_FIELDS } from '../document/analyze.js';
import { MAX_HITS, arrangeHits, type SearchHit } from './pages.js';
import type { SearchQuery } from '../query/searchQuery.js';
import { isSimilar, type TextNode } from '../query/textQuery.js';
import { rankedWords, textScorer, type TextTotals } from './textScore.js';

/**
 * Maximum number of documents that are ranked by relevance: twice as many as for other orders. Ranking takes microseconds
 * per document.
 */
export const RANKED_DOCUMENTS = 2000;
/** Maximum number of documents counted for a word. A more frequent word is ranked as if it had this count. */
export const RARITY_LIMIT = 200_000;
/** Maximum number of similar words by which a word with a fuzzy operator is replaced. Source: Lucene's `max_expansions`. */
const MAX_SIMILAR = 50;

/** A search hit with the data that pages need. */
export interface Hit extends SearchHit {
  readonly transaction: string;
}

type Row = Readonly<Record<string, unknown>>;

/** Columns that a search selects for each hit. `c` is the table `claim`. */
export const HIT_COLUMNS =
  'c.claim_id, c.channel_id, c.is_signature_valid, c.reposted_claim_id, c.creation_height, c.tx_key';
const LENGTH_COLUMNS = TEXT_FIELDS.map((_, n) => `length${n}`);
/** Columns that a search selects for ranking by relevance. `w` is the table `words`. */
export const RANKED_COLUMNS = ['w.id', 'w.packed', ...LENGTH_COLUMNS.map((column) => `w.${column}`)].join(
  ', ',
);

const idText = (value: unknown): string | null => (value === null ? null : toHex(value as Uint8Array));

export function hitOf(row: Row): Hit {
  const channelId = idText(row['channel_id']);
  return {
    claimId: idText(row['claim_id'])!,
    channelId,
    signerId: row['is_signature_valid'] === 1 ? channelId : null,
    repostedId: idText(row['reposted_claim_id']),
    creationHeight: row['creation_height'] as number,
    transaction: String(row['tx_key']),
  };
}

/** Hits of a page, and the number of hits on all pages. */
export interface HitsPage {
  readonly page: readonly Hit[];
  readonly total: number;
}

/** Whether all hits are needed: if all pages are requested, or if the selection of a hit depends on other hits. */
export function needsAllHits({ allPages, only, removeDuplicates, perChannel }: SearchQuery): boolean {
  return allPages || only > 0 || removeDuplicates || perChannel > 0;
}

export function cutPage(hits: readonly Hit[], query: SearchQuery): HitsPage {
  const { only, offset, limit, allPages } = query;
  const arranged = only > 0 ? hits.slice(only - 1, only) : arrangeHits(hits, query);
  const page = arranged.slice(offset, allPages ? undefined : offset + limit);
  return { page, total: arranged.length };
}

/**
 * Returns the texts to search for ranking, one after another until there are enough documents. If the words are optional,
 * documents with all words are searched first, because they rank highest whatever their age.
 */
export function rankedTexts(text: TextNode): readonly TextNode[] {
  if (text.kind === 'or') return [{ kind: 'and', nodes: text.nodes }, text];
  const [first, ...others] = text.kind === 'and' ? text.nodes : [];
  if (first?.kind !== 'or') return [text];
  return [{ kind: 'and', nodes: [...first.nodes, ...others] }, text];
}

/**
 * Returns the numbers of the most relevant documents in order. Of equally relevant documents the older is first. `countOf`
 * returns the number of documents with a word; `checkTime` throws after a timeout.
 */
export function rankedDocuments(
  rows: readonly Row[],
  text: TextNode,
  totals: TextTotals,
  countOf: (word: string) => number,
  checkTime: () => void,
): number[] {
  const counts = new Map(rankedWords(text).map((word) => [word, countOf(word)]));
  const score = textScorer(text, totals, counts);
  const scored = rows.map((row) => {
    checkTime();
    const lengths = LENGTH_COLUMNS.map((column) => row[column] as number);
    return { id: row['id'] as number, score: score(row['packed'] as string, lengths) };
  });
  scored.sort((a, b) => b.score - a.score || a.id - b.id);
  return scored.slice(0, MAX_HITS).map(({ id }) => id);
}

/** Returns those words of the index that differ by at most `edits` edits, sorted by number of edits. */
export function nearestWords(word: string, edits: number, terms: readonly string[]): string[] {
  const near = terms.filter((term) => isSimilar(word, term, edits));
  const sorted = near.map((term) => ({ term, isNear: isSimilar(word, term, 1) }));
  sorted.sort((a, b) => Number(b.isNear) - Number(a.isNear) || (a.term < b.term ? -1 : 1));
  return sorted.slice(0, MAX_SIMILAR).map(({ term }) => term);
}
