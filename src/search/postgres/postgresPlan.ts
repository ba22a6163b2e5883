/**
 * How a search is carried out in PostgreSQL. Its planner knows how common a value is and chooses between indexes by itself;
 * what it cannot know is how common words are, and what it costs to take a text apart. So that is decided here: the documents
 * of a rare text come from the index of words, a common one is searched in the documents as the order's index brings them.
 */
import {
  conditionSql,
  orderSql,
  textSql,
  type SqlContext,
  type SqlValues,
  type WordFilter,
} from '../query/conditionSql.js';
import { WORDS_VECTOR } from './postgresSchema.js';
import type { HitsRequest } from '../hits/hitsRequest.js';
import type { TextNode } from '../query/textQuery.js';

/** A word or beginning in the language of `tsquery`. */
export function quoteLexeme(word: string, isPrefix: boolean): string {
  return `'${word.replaceAll('\\', '\\\\').replaceAll("'", "''")}'${isPrefix ? ':*' : ''}`;
}

/** What `tsquery` has for "and" and "or". */
export const LEXEME_OPERATORS = [' & ', ' | '] as const;

/** About how many documents satisfy a text, from how many have its words; null if the words say nothing. */
export function estimateText(node: TextNode, countOf: (node: TextNode) => number): number | null {
  switch (node.kind) {
    case 'word':
    case 'prefix':
      return countOf(node);
    case 'phrase':
    case 'near':
      return Math.min(...node.words.map((word) => countOf({ kind: 'word', word })));
    case 'nothing':
      return 0;
    case 'and': {
      const known = node.nodes.map((inner) => estimateText(inner, countOf)).filter((count) => count !== null);
      return known.length === 0 ? null : Math.min(...known);
    }
    case 'or': {
      const counts = node.nodes.map((inner) => estimateText(inner, countOf));
      return counts.some((count) => count === null)
        ? null
        : counts.reduce<number>((sum, count) => sum + count!, 0);
    }
    default:
      return null;
  }
}

/** Whether the index of words is the shorter way: as many documents as there are, or as many as a walk would look at. */
function isRare(estimate: number | null, documents: number, wanted: number): estimate is number {
  return estimate !== null && estimate * estimate <= wanted * Math.max(documents, wanted);
}

/** The statement that finds the hits of a request in their order. */
export function postgresHitsSql(
  request: HitsRequest,
  facts: { readonly documents: number; readonly textEstimate: number | null },
  context: SqlContext,
  sql: SqlValues,
  filter: WordFilter | null,
): string {
  const { text } = request;
  const tests = request.conditions.map((condition) => conditionSql(condition, sql, context));
  const isRareText =
    text !== null && filter !== null && isRare(facts.textEstimate, facts.documents, request.wanted);
  const testsText = text !== null && !(isRareText && filter.isExact);
  const needsWords = testsText || request.withWords;
  // What is ranked alone is looked into by its words alone.
  const needsClaim = !request.withWords || tests.length > 0;
  if (testsText) tests.push(textSql(text, sql));
  const tables = [
    ...(isRareText ? ['x'] : []),
    ...(needsClaim ? ['claim c'] : []),
    ...(needsWords ? ['words w'] : []),
  ];
  const idOf = (table: string) => `${table.split(' ').at(-1)!}.id`;
  const from = tables.reduce(
    (joined, table) => `${joined} JOIN ${table} ON ${idOf(table)} = ${idOf(tables[0]!)}`,
  );
  // Apart from the rest, or else the planner might take texts apart while it walks.
  const rare = isRareText
    ? `WITH x AS MATERIALIZED (SELECT id FROM words WHERE ${WORDS_VECTOR} @@ ${sql.bind(filter.expression)}::tsquery) `
    : '';
  const where = tests.length === 0 ? '' : ` WHERE ${tests.join(' AND ')}`;
  const order = needsClaim ? orderSql(request.order) : `ORDER BY ${idOf(tables[0]!)} DESC`;
  return `${rare}SELECT ${request.columns} FROM ${from}${where} ${order} LIMIT ${request.wanted}`;
}
