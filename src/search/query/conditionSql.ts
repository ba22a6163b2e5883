/**
 * Creates SQL for conditions, texts and orders over the tables `claim` (as `c`) and `words` (as `w`), for all backends. The
 * differences between backends are in a dialect.
 */
import { fromHex } from '../../util/bytes.js';
import { textKey } from '../document/document.js';
import type { OrderTerm } from './order.js';
import { badRequest } from './searchError.js';
import type { Condition } from './searchQuery.js';
import type { SqlValue } from '../../sqlite/sqliteProvider.js';
import { substringOf, type TextNode } from './textQuery.js';

/** SQL dialect of a backend. */
export interface Dialect {
  /** Maximum number of bound values in one statement. */
  readonly maxValues: number;
  /** Returns the placeholder of value number `n`, starting at 1. */
  parameter(n: number, value: SqlValue): string;
  /** Converts a decimal text to a value that compares exactly with integers and fractions. */
  number(decimal: string): SqlValue;
  /** Returns an SQL test whether `text` contains the value as substring. */
  contains(text: string, value: string): string;
  /** Returns an SQL test whether packed words contain the given words in order, with up to `gap` other words between two. */
  near(packed: string, words: readonly string[], gap: number, sql: SqlValues): string;
  /** Returns an SQL expression for the first eight bytes of a column, over which a database index exists. */
  head(column: string): string;
  /** Returns a query for a `FROM` clause: the distinct labels of a document among many given ones, as `l.n`. */
  labelsOf(numbers: string): string;
  /** Returns an SQL test whether the id in a column is in a set of censored ids. Each set has ids of one type (`censor.ts`). */
  inCensored(column: string, set: CensorSet): string;
}

/**
 * Sets of censored ids: claims (whose reposts are censored too) and channels (whose claims are censored too), each filtered
 * or blocked.
 */
export type CensorSet = 'filteredClaims' | 'filteredChannels' | 'blockedClaims' | 'blockedChannels';

/** Collects the values of an SQL statement and returns the placeholders for them. */
export class SqlValues {
  readonly values: SqlValue[] = [];
  readonly dialect: Dialect;
  private readonly said = new Map<object, string>();

  constructor(dialect: Dialect) {
    this.dialect = dialect;
  }

  /** Adds a value and returns its placeholder. Throws `SearchError` if there are more values than a statement may have. */
  bind(value: SqlValue): string {
    if (this.values.length >= this.dialect.maxValues)
      throw badRequest('The constraints have too many values.');
    this.values.push(value);
    return this.dialect.parameter(this.values.length, value);
  }

  list(values: readonly SqlValue[]): string {
    return `(${values.map((value) => this.bind(value)).join(', ')})`;
  }

  /**
   * Returns the SQL that `say` creates for a part of a search. If the same part occurs again, the same SQL and values are
   * reused.
   */
  once(part: object, say: () => string): string {
    let said = this.said.get(part);
    if (said === undefined) this.said.set(part, (said = say()));
    return said;
  }
}

/** State of the index on which the SQL depends. */
export interface SqlContext {
  /** Numbers of labels by text. A label that no document has is missing. */
  readonly labels: ReadonlyMap<string, number>;
  /** Whether at least one claim is censored by a listed channel. */
  readonly hasCensored: boolean;
}

const NEVER = '1 = 0';
const ALWAYS = '1 = 1';
const CLAIM_ID = /^[0-9a-f]{40}$/;
const STREAM = 1;
const REPOST = 3;
/**
 * Maximum number of labels that are tested one by one, so that a rare label can select the documents. Further labels are
 * tested together by counting how many of them the document has, because each single test adds a table to the plan, and
 * databases limit their number. Arbitrary.
 */
const SINGLE_LABELS = 8;
/**
 * Maximum number of labels that are looked up in the table `labeled` for each document. For more labels, the query of
 * `Dialect.labelsOf` is used. Arbitrary: at this number both methods cost about the same.
 */
export const FEW_LABELS = 16;
/** Maximum nesting depth of a text in a query of the full-text index. Source: FTS5's parser keeps 100 tokens open. */
const MAX_FILTER_DEPTH = 24;

/** Returns a condition as SQL. */
export function conditionSql(condition: Condition, sql: SqlValues, context: SqlContext): string {
  return sql.once(condition, () => sayCondition(condition, sql, context));
}

function sayCondition(condition: Condition, sql: SqlValues, context: SqlContext): string {
  switch (condition.kind) {
    case 'range': {
      const column = `c.${condition.column}`;
      const bounds = condition.bounds.map(
        ({ op, value }) => `${column} ${op} ${sql.bind(sql.dialect.number(value))}`,
      );
      if (bounds.length === 0) return ALWAYS;
      const within = bounds.join(' AND ');
      return condition.orMissing === true ? `(${column} IS NULL OR (${within}))` : within;
    }
    case 'numbers':
      return `c.${condition.column} IN ${sql.list(condition.values.map((value) => sql.dialect.number(value)))}`;
    case 'texts':
      return `c.${condition.column} IN ${sql.list(condition.values)}`;
    case 'keys':
      return `c.${condition.column} IN ${sql.list(condition.values.map(textKey))}`;
    case 'ids':
      return `c.${condition.column} IN ${sql.list(condition.values.map((id) => fromHex(id)))}`;
    case 'idPrefix':
      return idPrefixSql(condition.column, condition.digits, sql);
    case 'bool':
      return `c.${condition.column} = ${condition.value ? 1 : 0}`;
    case 'notClaims': {
      const ids = condition.ids.filter((id) => CLAIM_ID.test(id)).map((id) => fromHex(id));
      return ids.length === 0 ? ALWAYS : `c.claim_id NOT IN ${sql.list(ids)}`;
    }
    case 'notChannels': {
      const ids = condition.ids.filter((id) => CLAIM_ID.test(id)).map((id) => fromHex(id));
      if (ids.length === 0) return ALWAYS;
      const list = sql.list(ids);
      return `c.claim_id NOT IN ${list} AND (c.channel_id IS NULL OR c.channel_id NOT IN ${list})`;
    }
    case 'labels':
      return labelsSql(condition.how, condition.labels, sql, context);
    case 'signed':
      return 'c.signature_key IS NOT NULL';
    case 'unsignedOrValid':
      return `(c.signature_key IS NULL OR c.is_signature_valid = ${condition.valid ? 1 : 0})`;
    case 'hasSource':
      return (
        `(c.claim_type NOT IN (${STREAM}, ${REPOST}) OR c.has_source = ${condition.value ? 1 : 0} ` +
        `OR (c.claim_type = ${REPOST} AND (c.reposted_claim_type IS NULL OR c.reposted_claim_type <> ${STREAM})))`
      );
    case 'notShorts': {
      const [ratio, duration] = [condition.aspectRatio, condition.durationSec].map((decimal) =>
        sql.bind(sql.dialect.number(decimal)),
      );
      return (
        `NOT (c.content_aspect_ratio IS NOT NULL AND c.duration IS NOT NULL ` +
        `AND c.content_aspect_ratio <= ${ratio} AND c.duration <= ${duration})`
      );
    }
    case 'censored':
      return censoredSql(condition.types, sql, context);
  }
}

function idPrefixSql(column: 'claim_id' | 'sd_hash', digits: string, sql: SqlValues): string {
  const length = column === 'claim_id' ? 40 : 192;
  const low = fromHex(digits.length % 2 === 0 ? digits : `${digits}0`);
  const high = fromHex(digits.padEnd(length, 'f'));
  const whole = `c.${column} BETWEEN ${sql.bind(low)} AND ${sql.bind(high)}`;
  if (column === 'claim_id') return whole;
  const head = sql.dialect.head(`c.${column}`);
  return `${head} BETWEEN ${sql.bind(low.subarray(0, 8))} AND ${sql.bind(high.subarray(0, 8))} AND ${whole}`;
}

function labelsSql(
  how: 'any' | 'all' | 'none',
  texts: readonly string[],
  sql: SqlValues,
  context: SqlContext,
): string {
  const numbers = texts.map((text) => context.labels.get(text)).filter((n) => n !== undefined);
  const found = (list: readonly number[]) =>
    list.length > FEW_LABELS
      ? sql.dialect.labelsOf(list.join(', '))
      : `labeled l WHERE l.n IN (${list.join(', ')}) AND l.id = c.id`;
  const has = (list: readonly number[]) => `EXISTS (SELECT 1 FROM ${found(list)})`;
  if (how === 'none') return numbers.length === 0 ? ALWAYS : `NOT ${has(numbers)}`;
  if (how === 'any') return numbers.length === 0 ? NEVER : has(numbers);
  if (numbers.length < texts.length) return NEVER;
  if (numbers.length === 0) return ALWAYS;
  const counted = [...new Set(numbers.slice(SINGLE_LABELS))];
  const tests = numbers.slice(0, SINGLE_LABELS).map((n) => has([n]));
  if (counted.length > 0) {
    tests.push(`(SELECT count(DISTINCT l.n) FROM ${found(counted)}) = ${counted.length}`);
  }
  return tests.join(' AND ');
}

function censoredSql(types: readonly number[], sql: SqlValues, context: SqlContext): string {
  if (types.length === 3) return ALWAYS;
  if (!context.hasCensored) return types.includes(0) ? ALWAYS : NEVER;
  const within = (column: string, set: CensorSet) =>
    `COALESCE(${sql.dialect.inCensored(`c.${column}`, set)}, ${NEVER})`;
  const by = (claims: CensorSet, channels: CensorSet) =>
    `(${within('claim_id', claims)} OR ${within('reposted_claim_id', claims)} OR ${within('channel_id', channels)})`;
  const blocked = by('blockedClaims', 'blockedChannels');
  const filtered = by('filteredClaims', 'filteredChannels');
  const of: readonly string[] = [
    `(NOT ${blocked} AND NOT ${filtered})`,
    `(${filtered} AND NOT ${blocked})`,
    blocked,
  ];
  return `(${types.map((type) => of[type]!).join(' OR ')})`;
}

/** Returns an SQL test whether packed words match a text without fuzzy words. */
export function textSql(node: TextNode, sql: SqlValues): string {
  return sql.once(node, () => sayText(node, sql));
}

function sayText(node: TextNode, sql: SqlValues): string {
  switch (node.kind) {
    case 'everything':
      return ALWAYS;
    case 'nothing':
    case 'fuzzy':
      return NEVER;
    case 'near':
      return sql.dialect.near('w.packed', node.words, node.gap, sql);
    case 'and':
    case 'or':
      return `(${node.nodes.map((inner) => textSql(inner, sql)).join(node.kind === 'and' ? ' AND ' : ' OR ')})`;
    case 'not':
      return `NOT ${textSql(node.node, sql)}`;
    default:
      return sql.dialect.contains('w.packed', sql.bind(substringOf(node)!));
  }
}

/** Returns the `ORDER BY` clause for order terms. Missing values come last. */
export function orderSql(terms: readonly OrderTerm[]): string {
  const parts = terms.map(({ column, ascending, nullable }) => {
    return `c.${column} ${ascending ? 'ASC' : 'DESC'}${nullable ? ' NULLS LAST' : ''}`;
  });
  return `ORDER BY ${parts.join(', ')}`;
}

/** Query of the full-text index for a text. It finds documents that may match; `isExact` says whether all of them do. */
export interface WordFilter {
  readonly expression: string;
  readonly isExact: boolean;
}

/**
 * Converts a text to an expression of words and prefixes for a full-text index without word positions. Null if documents
 * with none of its words may match. Prefixes for which `isCommon` returns true are omitted, because the full-text index
 * would first have to read all words with the prefix. Parts that are nested too deeply are omitted too.
 */
export function wordFilter(
  node: TextNode,
  quote: (word: string, isPrefix: boolean) => string,
  [and, or]: readonly [and: string, or: string] = [' AND ', ' OR '],
  isCommon: (prefix: string) => boolean = () => false,
  depth = 0,
): WordFilter | null {
  if (depth > MAX_FILTER_DEPTH) return null;
  const inner = (part: TextNode) => wordFilter(part, quote, [and, or], isCommon, depth + 1);
  switch (node.kind) {
    case 'word':
      return { expression: quote(node.word, false), isExact: true };
    case 'prefix':
      return node.prefix === '' || isCommon(node.prefix)
        ? null
        : { expression: quote(node.prefix, true), isExact: true };
    case 'phrase':
    case 'near':
      return {
        expression: `(${node.words.map((word) => quote(word, false)).join(and)})`,
        isExact: false,
      };
    case 'or': {
      const parts = node.nodes.map(inner);
      if (parts.some((part) => part === null)) return null;
      const known = parts as WordFilter[];
      return {
        expression: `(${known.map((part) => part.expression).join(or)})`,
        isExact: known.every((part) => part.isExact),
      };
    }
    case 'and': {
      const parts = node.nodes.map(inner).filter((part) => part !== null);
      if (parts.length === 0) return null;
      return {
        expression: `(${parts.map((part) => part.expression).join(and)})`,
        isExact: parts.length === node.nodes.length && parts.every((part) => part.isExact),
      };
    }
    default:
      return null;
  }
}
