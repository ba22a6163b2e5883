/**
 * How a search is carried out, chosen by counts: what few documents satisfy is taken from its index and sorted; what many
 * satisfy is found by walking the order's index until there are enough hits. Pure, in SQLite's terms.
 */
import {
  conditionSql,
  orderSql,
  textSql,
  type SqlContext,
  type SqlValues,
  type WordFilter,
} from './conditionSql.js';
import { NEWEST_ORDER, type OrderTerm } from './order.js';
import { ORDER_INDEXES } from './schema.js';
import type { Condition } from './searchQuery.js';
import type { TextNode } from './textQuery.js';

/** Where documents are taken from, with an estimate of how many. */
export interface Driver {
  readonly estimate: number;
  /** `FROM`, which leads to `c`, and conditions that belong to it. */
  from(sql: SqlValues): { readonly tables: string; readonly where: string; readonly id: string };
  /** The condition or text that it satisfies by itself. */
  readonly covers: Condition | TextNode | null;
}

export interface HitsRequest {
  readonly conditions: readonly Condition[];
  readonly text: TextNode | null;
  readonly order: readonly OrderTerm[];
  readonly wanted: number;
  readonly columns: string;
  /** Whether the columns ask for the packed words. */
  readonly withWords: boolean;
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
  unsignedOrValid: 0.9,
  censored: 1,
};
const OTHER_SHARE = 0.5;
/** Every so many documents (by their transactions) the clock is looked at; a power of two. */
const CLOCK_STEP = 32;

function shareOf(part: Condition | TextNode, facts: PlanFacts): number {
  const known = facts.shares.get(part);
  if (known !== undefined) return known;
  return ASSUMED_SHARE[part.kind as Condition['kind']] ?? OTHER_SHARE;
}

/** The walk along the index of an order, or along all documents where there is none. */
function walk(request: HitsRequest, facts: PlanFacts): Driver {
  const parts = [...request.conditions, ...(request.text === null ? [] : [request.text])];
  const share = parts.reduce((product, part) => product * shareOf(part, facts), 1);
  const first = request.order[0]!.column;
  const index = ORDER_INDEXES[first];
  const isOrdered = first === 'id' || index !== undefined;
  const steps = isOrdered ? request.wanted / Math.max(share, 1e-9) : Infinity;
  return {
    estimate: Math.min(facts.documents, steps),
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
  const drivers = [walk(request, facts), ...facts.drivers];
  const driver = drivers.reduce((best, other) => (other.estimate < best.estimate ? other : best));
  const { tables, where, id } = driver.from(sql);
  const tests = [where, `((c.tx_num & ${CLOCK_STEP - 1}) <> 0 OR in_time())`];
  for (const condition of request.conditions) {
    if (condition !== driver.covers) tests.push(conditionSql(condition, sql, context));
  }
  const { text } = request;
  // The driver of a text may find more documents than satisfy it.
  const testsText = text !== null && !(driver.covers === text && filter?.isExact === true);
  if (testsText) tests.push(textSql(text, sql));
  const words = testsText || request.withWords ? ' CROSS JOIN words w ON w.id = c.id' : '';
  const order = request.order === NEWEST_ORDER ? `ORDER BY ${id} DESC` : orderSql(request.order);
  return (
    `SELECT ${request.columns} FROM ${tables}${words} ` +
    `WHERE ${tests.filter((test) => test !== '').join(' AND ')} ${order} LIMIT ${request.wanted}`
  );
}
