/**
 * Query plans for SQLite, chosen by counts. If few documents match a condition, they are read from the database index of
 * this condition and sorted. If many match, the documents are read in the order of the database index for the sort order
 * until there are enough hits.
 */
import {
  conditionSql,
  FEW_LABELS,
  orderSql,
  textSql,
  type SqlContext,
  type SqlValues,
  type WordFilter,
} from '../query/conditionSql.js';
import { OUTPUTS_OF_TRANSACTION } from '../document/document.js';
import type { HitsRequest } from '../hits/hitsRequest.js';
import { NEWEST_ORDER } from '../query/order.js';
import { ORDER_INDEXES } from './schema.js';
import type { Condition } from '../query/searchQuery.js';
import type { TextNode } from '../query/textQuery.js';

/** Source of candidate documents of a query, with the estimated number of candidates. */
export interface Driver {
  readonly estimate: number;
  /**
   * Returns the tables of the `FROM` clause, which provides the table `c`, and the conditions that belong to them. With
   * `bare` the tables provide only document numbers.
   */
  from(sql: SqlValues): {
    readonly tables: string;
    readonly bare?: string;
    readonly where: string;
    readonly id: string;
  };
  /**
   * The condition or text that every document found by this driver satisfies, so that it need not be tested again; null if
   * there is none.
   */
  readonly covers: Condition | TextNode | null;
}

/** Number of documents in the index, and number of documents that match each part of a query. */
export interface PlanFacts {
  readonly documents: number;
  /** Share of documents that match a condition or text, as far as it was counted. */
  readonly shares: ReadonlyMap<Condition | TextNode, number>;
  readonly drivers: readonly Driver[];
}

/** Assumed share of the documents that match a condition which was not counted. Arbitrary, from typical queries of apps. */
const ASSUMED_SHARE: Readonly<Partial<Record<Condition['kind'], number>>> = {
  notClaims: 1,
  notChannels: 0.95,
  hasSource: 0.8,
  notShorts: 0.9,
  unsignedOrValid: 0.9,
  censored: 1,
};
const OTHER_SHARE = 0.5;
/**
 * Cost of one step of a walk if all conditions can be tested with the index and the document number, relative to reading a
 * document, which is a random page of the file. Measured roughly with a million claims.
 */
const INDEX_STEP_COST = 0.25;
/**
 * Mask of document numbers. The time limit is checked at documents whose number has none of these bits, i.e. those of one
 * transaction in 32.
 */
const CLOCK_MASK = 31 * OUTPUTS_OF_TRANSACTION;

function shareOf(part: Condition | TextNode, facts: PlanFacts): number {
  const known = facts.shares.get(part);
  if (known !== undefined) return known;
  return ASSUMED_SHARE[part.kind as Condition['kind']] ?? OTHER_SHARE;
}

/** Whether a condition can be tested with only the column of the index and the document's number. */
function isOfIndex(part: Condition | TextNode, column: string): boolean {
  if (part.kind === 'labels') return part.labels.length <= FEW_LABELS;
  return part.kind === 'range' && part.column === column && part.orMissing !== true;
}

/** Creates the driver that reads documents in the order of a database index, or all documents if no index exists. */
function walk(request: HitsRequest, facts: PlanFacts): Driver {
  const parts = [...request.conditions, ...(request.text === null ? [] : [request.text])];
  const share = parts.reduce((product, part) => product * shareOf(part, facts), 1);
  const first = request.order[0]!.column;
  const index = ORDER_INDEXES[first];
  const isOrdered = first === 'id' || index !== undefined;
  const steps = Math.min(facts.documents, isOrdered ? request.wanted / Math.max(share, 1e-9) : Infinity);
  const needsDocument = !isOrdered || parts.some((part) => !isOfIndex(part, first));
  return {
    estimate: needsDocument ? steps : steps * INDEX_STEP_COST + Math.min(request.wanted, steps * share),
    covers: null,
    from: () => ({
      tables: `claim c ${index === undefined ? 'NOT INDEXED' : `INDEXED BY ${index}`}`,
      where: '',
      id: 'c.id',
    }),
  };
}

/** Returns the SQL statement that finds the hits of a query in their order. */
export function hitsSql(
  request: HitsRequest,
  facts: PlanFacts,
  context: SqlContext,
  sql: SqlValues,
  filter: WordFilter | null,
): string {
  const driver = facts.drivers.reduce(
    (best, other) => (other.estimate < best.estimate ? other : best),
    walk(request, facts),
  );
  return driverSql(driver, request, context, sql, filter);
}

function driverSql(
  driver: Driver,
  request: HitsRequest,
  context: SqlContext,
  sql: SqlValues,
  filter: WordFilter | null,
): string {
  const { tables, bare, where, id } = driver.from(sql);
  const { text } = request;
  // The text must be tested again unless the driver finds only documents that match it.
  const testsText = text !== null && !(driver.covers === text && filter?.isExact === true);
  // If the text is tested, the time limit is checked for each document, because a test may search thousands of words.
  const tests = [where, testsText ? 'in_time()' : `((${id} & ${CLOCK_MASK}) <> 0 OR in_time())`];
  const open = request.conditions.filter((condition) => condition !== driver.covers);
  for (const condition of open) tests.push(conditionSql(condition, sql, context));
  // For ranking by relevance the table of words is sufficient.
  const source = bare !== undefined && request.withWords && open.length === 0 ? bare : tables;
  if (testsText) tests.push(textSql(text, sql));
  const words = testsText || request.withWords ? ` CROSS JOIN words w ON w.id = ${id}` : '';
  const order = request.order === NEWEST_ORDER ? `ORDER BY ${id} DESC` : orderSql(request.order);
  return (
    `SELECT ${request.columns} FROM ${source}${words} ` +
    `WHERE ${tests.filter((test) => test !== '').join(' AND ')} ${order} LIMIT ${request.wanted}`
  );
}
