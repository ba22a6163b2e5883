/**
 * The order of hits: the fields that a client names, and behind them what decides between equal ones, so that pages never
 * overlap. Missing values come last in both directions.
 */
import { fieldName, searchField } from '../document/fields.js';
import { badRequest } from './searchError.js';

export interface OrderTerm {
  /** A column of the index. */
  readonly column: string;
  readonly ascending: boolean;
  readonly nullable: boolean;
}

/** What follows each order: the best known first. Source: the sorting of the hub's index, made exact. */
export const COMMON_ORDER: readonly OrderTerm[] = [
  { column: 'trending_score', ascending: false, nullable: true },
  { column: 'release_time', ascending: false, nullable: false },
  { column: 'tx_num', ascending: true, nullable: false },
  { column: 'tx_nout', ascending: true, nullable: false },
];

/** From the newest claim to the oldest: the order in which a common word's documents are taken for ranking. */
export const NEWEST_ORDER: readonly OrderTerm[] = [{ column: 'id', ascending: false, nullable: false }];

/**
 * The terms of `order_by`: fields, descending, with `^` in front ascending. `trending_group` says nothing of its own where
 * another name is given beside it, as the reference has it. Throws `SearchError` for what is not a field or has no order.
 */
export function parseOrder(given: unknown): OrderTerm[] {
  if (given === null || given === undefined || given === '') return [];
  const entries: unknown[] = Array.isArray(given) ? given : [given];
  const terms: OrderTerm[] = [];
  for (const entry of entries) {
    if (typeof entry !== 'string') throw badRequest('order_by takes names of fields.');
    if (entry === '') continue;
    if (entry.includes('trending_group') && entries.length > 1) continue;
    const ascending = entry.startsWith('^');
    const name = fieldName(ascending ? entry.slice(1) : entry);
    const field = searchField(name);
    if (field === null) throw badRequest(`order_by: there is no field "${name}".`);
    if (field.type === 'key') {
      throw badRequest(`order_by: claims cannot be ordered by "${name}".`);
    }
    if (terms.some((term) => term.column === field.column)) continue;
    terms.push({ column: field.column, ascending, nullable: field.nullable === true });
  }
  return terms;
}

/** The whole order of hits that no relevance orders. */
export function completeOrder(terms: readonly OrderTerm[]): OrderTerm[] {
  const named = new Set(terms.map((term) => term.column));
  return [...terms, ...COMMON_ORDER.filter((term) => !named.has(term.column))];
}
