/**
 * Order of hits: the client's fields, followed by tie-breakers, so that pages never overlap. Missing values come last in
 * both directions.
 */
import { fieldName, searchField } from '../document/fields.js';
import { badRequest } from './searchError.js';

export interface OrderTerm {
  /** Name of a column of the index. */
  readonly column: string;
  readonly ascending: boolean;
  readonly nullable: boolean;
}

/**
 * Tie-breakers of all orders: highest trending score first, then latest release first. Source: the sort order of the hub's
 * index, made unambiguous.
 */
export const COMMON_ORDER: readonly OrderTerm[] = [
  { column: 'trending_score', ascending: false, nullable: true },
  { column: 'release_time', ascending: false, nullable: false },
  { column: 'tx_num', ascending: true, nullable: false },
  { column: 'tx_nout', ascending: true, nullable: false },
];

/** Order of creation, from the newest claim. If a word is very common, the documents to be ranked are selected in this order. */
export const NEWEST_ORDER: readonly OrderTerm[] = [{ column: 'id', ascending: false, nullable: false }];

/**
 * Parses `order_by`: a list of fields in descending order, or ascending with the prefix `^`. `trending_group` is ignored if
 * another name is given, as in the reference. Throws `SearchError` for a name that is not a sortable field.
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

/** Returns the complete order of hits that are not ranked by relevance, with further columns that decide between equal hits. */
export function completeOrder(terms: readonly OrderTerm[]): OrderTerm[] {
  const named = new Set(terms.map((term) => term.column));
  return [...terms, ...COMMON_ORDER.filter((term) => !named.has(term.column))];
}
