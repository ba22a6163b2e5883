/** Hits as the rows of an index give them, and what is done with them before a page is cut, the same for all backends. */
import { toHex } from '../../util/bytes.js';
import { TEXT_FIELDS } from '../document/analyze.js';
import { MAX_HITS, arrangeHits, type SearchHit } from './pages.js';
import type { SearchQuery } from '../query/searchQuery.js';
import { isSimilar, type TextNode } from '../query/textQuery.js';
import { rankedWords, textScorer, type TextTotals } from './textScore.js';

/** Documents that are ranked: twice as many as are looked at of any order. Each takes microseconds, however short the page. */
export const RANKED_DOCUMENTS = 2000;
/** Documents counted for how rare a word is; a word in more counts as one in this many. */
export const RARITY_LIMIT = 200_000;
/** Words that stand for a word with wrong letters. Source: Lucene's `max_expansions`. */
const MAX_SIMILAR = 50;

/** A hit as the page needs it. */
export interface Hit extends SearchHit {
  readonly transaction: string;
}

type Row = Readonly<Record<string, unknown>>;

/** Columns of a hit, with `c` a row of `claim`. */
export const HIT_COLUMNS =
  'c.claim_id, c.channel_id, c.is_signature_valid, c.reposted_claim_id, c.creation_height, c.tx_key';
const LENGTH_COLUMNS = TEXT_FIELDS.map((_, n) => `length${n}`);
/** Columns by which documents are ranked, with `w` a row of `words`. */
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

/** A page with the number of hits of all pages. */
export interface HitsPage {
  readonly page: readonly Hit[];
  readonly total: number;
}

/** Whether all hits must be known: where all are wanted, or where they decide about one another. */
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
 * What is searched so that documents can be ranked, one after the other until there are enough: of words that
 * will do, first those that have all of them, which would rank before the others however old they are.
 */
export function rankedTexts(text: TextNode): readonly TextNode[] {
  if (text.kind === 'or') return [{ kind: 'and', nodes: text.nodes }, text];
  const [first, ...others] = text.kind === 'and' ? text.nodes : [];
  if (first?.kind !== 'or') return [text];
  return [{ kind: 'and', nodes: [...first.nodes, ...others] }, text];
}

/**
 * Numbers of the first documents by relevance; of equally good ones the older comes first. `countOf` is asked of words of the
 * text; `checkTime` throws when the time is up.
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

/** Words of the index with few different letters, the nearest first. */
export function nearestWords(word: string, edits: number, terms: readonly string[]): string[] {
  const near = terms.filter((term) => isSimilar(word, term, edits));
  const sorted = near.map((term) => ({ term, isNear: isSimilar(word, term, 1) }));
  sorted.sort((a, b) => Number(b.isNear) - Number(a.isNear) || (a.term < b.term ? -1 : 1));
  return sorted.slice(0, MAX_SIMILAR).map(({ term }) => term);
}
