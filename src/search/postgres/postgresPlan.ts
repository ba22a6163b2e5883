/**
 * Query plans for PostgreSQL. Its planner knows how frequent values are and selects indexes itself, but does not know how
 * frequent words are, nor the cost of splitting a text. This module therefore decides: the documents of a rare text come
 * from the index of words; for a common text, documents are read in the order of the sort index and their text is tested.
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

/** Returns a word or prefix in the syntax of `tsquery`. */
export function quoteLexeme(word: string, isPrefix: boolean): string {
  return `'${word.replaceAll('\\', '\\\\').replaceAll("'", "''")}'${isPrefix ? ':*' : ''}`;
}

/** Operators of `tsquery` for "and" and "or". */
export const LEXEME_OPERATORS = [' & ', ' | '] as const;

/**
 * Estimates the number of documents that match a text, from the document counts of its words. Null if these counts are
 * unknown.
 */
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

/** Whether a search by the index of words reads fewer documents than reading all documents in sort order. */
function isRare(estimate: number | null, documents: number, wanted: number): estimate is number {
  return estimate !== null && estimate * estimate <= wanted * Math.max(documents, wanted);
}

/** Returns the SQL statement that finds the hits of a query in their order. */
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
  // For ranking by relevance the table of words is sufficient.
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
  // The documents are selected in a separate query, because the planner might otherwise split texts while it reads
  // documents.
  const rare = isRareText
    ? `WITH x AS MATERIALIZED (SELECT id FROM words WHERE ${WORDS_VECTOR} @@ ${sql.bind(filter.expression)}::tsquery) `
    : '';
  const where = tests.length === 0 ? '' : ` WHERE ${tests.join(' AND ')}`;
  const order = needsClaim ? orderSql(request.order) : `ORDER BY ${idOf(tables[0]!)} DESC`;
  return `${rare}SELECT ${request.columns} FROM ${from}${where} ${order} LIMIT ${request.wanted}`;
}
