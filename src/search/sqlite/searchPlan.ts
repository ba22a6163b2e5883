/**
 * Query plans for SQLite, chosen by counts: if few documents match, they are read from the index of a condition and sorted;
 * if many match, the index of the order is walked until there are enough hits. Pure.
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

/** Source of candidate documents, with an estimated count. */
export interface Driver {
  readonly estimate: number;
  /** The `FROM` clause, which provides `c`, and its conditions. `bare` provides only the document number. */
  from(sql: SqlValues): {
    readonly tables: string;
    readonly bare?: string;
    readonly where: string;
    readonly id: string;
  };
  /** The condition or text that is fully covered by the driver. */
  readonly covers: Condition | TextNode | null;
}

/** Number of documents in the index, and counts of matches. */
export interface PlanFacts {
  readonly documents: number;
  /** Fraction of documents that match a condition or text, if it was counted. */
  readonly shares: ReadonlyMap<Condition | TextNode, number>;
  readonly drivers: readonly Driver[];
}

/** Assumed fractions for conditions that were not counted. Arbitrary, from typical queries of apps. */
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
 * Cost of a step of a walk if all conditions can be checked with the index and the document numbers, relative to reading a
 * document, which is a random page of the file. Measured with a million claims, roughly.
 */
const INDEX_STEP_COST = 0.25;
/** The time is checked for documents whose number has none of these bits: one in 32, by transaction. */
const CLOCK_MASK = 31 * OUTPUTS_OF_TRANSACTION;

function shareOf(part: Condition | TextNode, facts: PlanFacts): number {
  const known = facts.shares.get(part);
  if (known !== undefined) return known;
  return ASSUMED_SHARE[part.kind as Condition['kind']] ?? OTHER_SHARE;
}

/** Whether a condition needs only the indexed column and the document's number. */
function isOfIndex(part: Condition | TextNode, column: string): boolean {
  if (part.kind === 'labels') return part.labels.length <= FEW_LABELS;
  return part.kind === 'range' && part.column === column && part.orMissing !== true;
}

/** The walk along the index of an order, or over all documents if there is none. */
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

/** The SQL statement that finds the hits of a query in their order. */
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
  // The text's driver may find more documents than match.
  const testsText = text !== null && !(driver.covers === text && filter?.isExact === true);
  // A text check may search thousands of words in each document, so the time is checked for each.
  const tests = [where, testsText ? 'in_time()' : `((${id} & ${CLOCK_MASK}) <> 0 OR in_time())`];
  const open = request.conditions.filter((condition) => condition !== driver.covers);
  for (const condition of open) tests.push(conditionSql(condition, sql, context));
  // For documents that are only ranked, the table of words is sufficient.
  const source = bare !== undefined && request.withWords && open.length === 0 ? bare : tables;
  if (testsText) tests.push(textSql(text, sql));
  const words = testsText || request.withWords ? ` CROSS JOIN words w ON w.id = ${id}` : '';
  const order = request.order === NEWEST_ORDER ? `ORDER BY ${id} DESC` : orderSql(request.order);
  return (
    `SELECT ${request.columns} FROM ${source}${words} ` +
    `WHERE ${tests.filter((test) => test !== '').join(' AND ')} ${order} LIMIT ${request.wanted}`
  );
}
