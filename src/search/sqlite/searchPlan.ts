/**
 * How a search is carried out, chosen by counts: what few documents satisfy is taken from its index and sorted; what many
 * satisfy is found by walking the order's index until there are enough hits. Pure, in SQLite's terms.
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
  /** `FROM`, which leads to `c`, and conditions that belong to it; `bare` leads to the document's number alone. */
  from(sql: SqlValues): {
    readonly tables: string;
    readonly bare?: string;
    readonly where: string;
    readonly id: string;
  };
  /** The condition or text that it satisfies by itself. */
  readonly covers: Condition | TextNode | null;
}

/** Documents in the index, and how many satisfy what was counted. */
export interface PlanFacts {
  readonly documents: number;
  /** Share of documents by condition or text, where it was counted. */
  readonly shares: ReadonlyMap<Condition | TextNode, number>;
  readonly drivers: readonly Driver[];
}

/** Shares of documents that are taken for granted where nothing was counted. Arbitrary, from what apps ask for. */
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
 * What a step of a walk costs beside fetching a document, where all conditions are answered by the index and the numbers of
 * documents: a document is a page somewhere in the file. Measured with a million claims, roughly.
 */
const INDEX_STEP_COST = 0.25;
/** The clock is looked at for documents whose number has none of these bits: one in 32, by their transactions. */
const CLOCK_MASK = 31 * OUTPUTS_OF_TRANSACTION;

function shareOf(part: Condition | TextNode, facts: PlanFacts): number {
  const known = facts.shares.get(part);
  if (known !== undefined) return known;
  return ASSUMED_SHARE[part.kind as Condition['kind']] ?? OTHER_SHARE;
}

/** Whether a condition asks for only the column that an index is made of and the document's number. */
function isOfIndex(part: Condition | TextNode, column: string): boolean {
  if (part.kind === 'labels') return part.labels.length <= FEW_LABELS;
  return part.kind === 'range' && part.column === column && part.orMissing !== true;
}

/** The walk along the index of an order, or along all documents where there is none. */
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

/** The statement that finds the hits of a request in their order. */
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
  // The driver of a text may find more documents than satisfy it.
  const testsText = text !== null && !(driver.covers === text && filter?.isExact === true);
  // Words may be thousands that are searched in each document, one by one.
  const tests = [where, testsText ? 'in_time()' : `((${id} & ${CLOCK_MASK}) <> 0 OR in_time())`];
  const open = request.conditions.filter((condition) => condition !== driver.covers);
  for (const condition of open) tests.push(conditionSql(condition, sql, context));
  // Documents that are ranked are looked into by their words alone.
  const source = bare !== undefined && request.withWords && open.length === 0 ? bare : tables;
  if (testsText) tests.push(textSql(text, sql));
  const words = testsText || request.withWords ? ` CROSS JOIN words w ON w.id = ${id}` : '';
  const order = request.order === NEWEST_ORDER ? `ORDER BY ${id} DESC` : orderSql(request.order);
  return (
    `SELECT ${request.columns} FROM ${source}${words} ` +
    `WHERE ${tests.filter((test) => test !== '').join(' AND ')} ${order} LIMIT ${request.wanted}`
  );
}
