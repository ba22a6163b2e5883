/**
 * Reader of the PostgreSQL index: several connections, each used for one search at a time. A search reads one snapshot of
 * the index. The server ends its statements at the timeout; if it does not respond even then, the connection is closed.
 * Analysis, ranking and pages are the same as for the SQLite index, so orders, totals and counts are equal.
 */
import { fromHex, toHex } from '../../util/bytes.js';
import { FIELD_BREAK, VALUE_BREAK } from '../document/analyze.js';
import { Censor, countBlocked, type CensorLists } from '../hits/censor.js';
import { wordFilter, SqlValues, type Dialect, type SqlContext } from '../query/conditionSql.js';
import {
  HIT_COLUMNS,
  RARITY_LIMIT,
  cutPage,
  hitOf,
  nearestWords,
  needsAllHits,
  rankedDocuments,
  rankedTexts,
  type Hit,
  type HitsPage,
} from '../hits/hits.js';
import { LEXEME_OPERATORS, estimateText, postgresHitsSql, quoteLexeme } from './postgresPlan.js';
import {
  PostgresAwayError,
  PostgresConnection,
  sqlState,
  type PostgresRow,
  type PostgresTarget,
  type PostgresValue,
} from './postgresProvider.js';
import { NO_TOTALS, labelText, wellFormed } from './postgresRows.js';
import { POSTGRES_SCHEMA_VERSION } from './postgresSchema.js';
import type { BackendPage } from '../searchBackend.js';
import { SearchError, badRequest } from '../query/searchError.js';
import { hitsRequest } from '../hits/hitsRequest.js';
import type { Condition, SearchQuery } from '../query/searchQuery.js';
import type { SqlValue } from '../../sqlite/sqliteProvider.js';
import { expandFuzzy, type TextNode } from '../query/textQuery.js';
import type { TextTotals } from '../hits/textScore.js';

/** Milliseconds that a search waits for the server's response after the timeout. Arbitrary. */
const GRACE_MS = 1000;
/** The server's statement timeout is updated when it exceeds the remaining time by this number of ms. */
const STALE_MS = 250;
/** Maximum number of values in one statement. Source: the protocol counts values in 16 bits. */
const MAX_VALUES = 65_535;

const TIME_IS_UP = 'query timed out';
const CODES = {
  canceled: '57014',
  noTable: '42P01',
  noSchema: '3F000',
  badPattern: '2201B',
} as const;

function typeOf(value: SqlValue): string {
  if (typeof value === 'string') return 'text';
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 'bigint' : 'double precision';
  return typeof value === 'bigint' ? 'bigint' : 'bytea';
}

/**
 * Returns a regular expression for words in their order with up to `gap` other words between two. The server's regular
 * expressions do not become slower with the number of possible matches.
 */
function nearPattern(words: readonly string[], gap: number): string {
  const escaped = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return ` ${escaped.join(` ([^ ${VALUE_BREAK}${FIELD_BREAK}]+ ){0,${gap}}`)} `;
}

/** Creates the SQL dialect of PostgreSQL. The sets of censored claims are computed from the reposts of the listed channels. */
function postgresDialect({ blocking, filtering }: CensorLists): Dialect {
  const reposted = (channels: readonly string[], isChannel: boolean): string => {
    const ids = channels.map((id) => `'\\x${toHex(fromHex(id))}'::bytea`).join(', ');
    if (ids === '') return 'SELECT NULL::bytea WHERE false';
    const join = isChannel
      ? ` JOIN claim t ON t.claim_id = r.reposted_claim_id AND left(t.normalized_name, 1) = '@'`
      : '';
    return (
      `SELECT r.reposted_claim_id FROM claim r${join} WHERE r.channel_id IN (${ids}) ` +
      'AND r.is_signature_valid = 1 AND r.reposted_claim_id IS NOT NULL'
    );
  };
  const sets = {
    blockedClaims: reposted(blocking, false),
    blockedChannels: reposted(blocking, true),
    filteredClaims: reposted(filtering, false),
    filteredChannels: reposted(filtering, true),
  };
  return {
    maxValues: MAX_VALUES,
    parameter: (n, value) => `$${n}::${typeOf(value)}`,
    number: (decimal) => (!decimal.includes('.') && decimal.length < 19 ? BigInt(decimal) : Number(decimal)),
    contains: (text, value) => `strpos(${text}, ${value}) > 0`,
    near: (packed, words, gap, sql) => `${packed} ~ ${sql.bind(nearPattern(words, gap))}`,
    head: (column) => `substr(${column}, 1, 8)`,
    labelsOf: (numbers) => `labeled l WHERE l.n IN (${numbers}) AND l.id = c.id`,
    inCensored: (column, set) => `${column} IN (${sets[set]})`,
  };
}

/** One search: runs statements on one connection until the timeout. */
class Search {
  private readonly connection: PostgresConnection;
  private readonly deadlineMs: number;
  private loggedMs = 0;

  constructor(connection: PostgresConnection, deadlineMs: number) {
    this.connection = connection;
    this.deadlineMs = deadlineMs;
  }

  get leftMs(): number {
    return Math.ceil(this.deadlineMs - performance.now());
  }

  /**
   * Starts the snapshot of the database, in which all reads of a search see one state. Returns the entries of the table
   * `state`.
   */
  async begin(): Promise<ReadonlyMap<string, string>> {
    const left = this.checked();
    this.loggedMs = left;
    const results = await this.connection.script(
      `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = ${left}; SELECT key, value FROM state`,
    );
    return new Map(results.at(-1)!.map(({ key, value }) => [key as string, value as string]));
  }

  async rows(sql: string, values: readonly PostgresValue[] = []): Promise<PostgresRow[]> {
    const left = this.checked();
    if (this.loggedMs - left > STALE_MS) {
      this.loggedMs = left;
      await this.connection.script(`SET LOCAL statement_timeout = ${left}`);
    }
    return this.connection.query(sql, values);
  }

  /** Returns the remaining time in milliseconds. Throws `SearchError` if no time remains. */
  checked(): number {
    const { leftMs } = this;
    if (leftMs <= 0) throw new SearchError('timeout', TIME_IS_UP);
    return leftMs;
  }
}

export interface PostgresReaderOptions extends PostgresTarget {
  readonly chain: string;
  readonly lists: CensorLists;
}

export class PostgresReader {
  private readonly options: PostgresReaderOptions;
  private readonly dialect: Dialect;
  private readonly channels: readonly string[];
  private readonly idle: PostgresConnection[] = [];
  private readonly busy = new Set<PostgresConnection>();
  private isClosed = false;

  constructor(options: PostgresReaderOptions) {
    this.options = options;
    this.dialect = postgresDialect(options.lists);
    this.channels = [...new Set([...options.lists.blocking, ...options.lists.filtering])];
  }

  /**
   * Returns the page of a query. The search ends at most `timeoutMs` milliseconds after the call. Searches may run
   * concurrently.
   */
  async search(query: SearchQuery, timeoutMs: number): Promise<BackendPage> {
    const deadlineMs = performance.now() + timeoutMs;
    let connection: PostgresConnection | null = null;
    let giveUp: NodeJS.Timeout | undefined;
    try {
      connection = await this.take();
      const search = new Search(connection, deadlineMs);
      const taken = connection;
      giveUp = setTimeout(() => taken.destroy(), Math.max(0, timeoutMs) + GRACE_MS);
      const page = await this.answer(search, query);
      await connection.query('COMMIT');
      return page;
    } catch (error) {
      await connection?.query('ROLLBACK').catch(() => connection?.destroy());
      throw searchErrorOf(error, performance.now() >= deadlineMs);
    } finally {
      clearTimeout(giveUp);
      if (connection !== null) this.release(connection);
    }
  }

  /** Closes the reader. Searches in progress are aborted. */
  async close(): Promise<void> {
    this.isClosed = true;
    for (const connection of this.busy) connection.destroy();
    await Promise.all(this.idle.splice(0).map((connection) => connection.close()));
  }

  private async take(): Promise<PostgresConnection> {
    if (this.isClosed) throw new SearchError('unavailable', 'The search index is closed');
    let connection = this.idle.pop();
    while (connection?.isOpen === false) connection = this.idle.pop();
    connection ??= await PostgresConnection.open(this.options, 'reader');
    this.busy.add(connection);
    return connection;
  }

  private release(connection: PostgresConnection): void {
    this.busy.delete(connection);
    if (!connection.isOpen) return;
    if (this.isClosed) connection.destroy();
    else this.idle.push(connection);
  }

  private async answer(search: Search, query: SearchQuery): Promise<BackendPage> {
    const state = await search.begin();
    const tip = state.get('tip');
    const isOurs =
      state.get('version') === String(POSTGRES_SCHEMA_VERSION) && state.get('chain') === this.options.chain;
    if (tip === undefined || !isOurs) throw new SearchError('unavailable', 'The search index is being built');
    const { height } = JSON.parse(tip) as { height: number };
    const totals = state.get('totals');
    const page = await this.page(
      search,
      query,
      totals === undefined ? NO_TOTALS : (JSON.parse(totals) as TextTotals),
    );
    return { ...page, height };
  }

  private async page(
    search: Search,
    query: SearchQuery,
    totals: TextTotals,
  ): Promise<Omit<BackendPage, 'height'>> {
    if (query.findsNothing) return { rows: [], total: 0, blocked: [] };
    const { page, total } = await this.found(search, query, totals);
    const idsOf = (hits: readonly Hit[]): string[] => hits.map((hit) => hit.claimId);
    const blocked = await this.blocked(search, page);
    if (blocked.length === 0) return { rows: idsOf(page), total, blocked };
    const uncensored: Condition = { kind: 'censored', types: [0] };
    const conditions = [...query.conditions, uncensored];
    const second = await this.found(search, { ...query, conditions }, totals);
    return { rows: idsOf(second.page), total, blocked };
  }

  private async found(search: Search, query: SearchQuery, totals: TextTotals): Promise<HitsPage> {
    const context: SqlContext = {
      labels: await readLabels(search, query.conditions),
      hasCensored: this.channels.length > 0,
    };
    const text = query.text && (await this.expand(search, query.text));
    const request = hitsRequest(query, text);
    const countOf = text === null ? () => 0 : await readCounts(search, text);
    const rowsOf = async (part: TextNode | null): Promise<PostgresRow[]> => {
      const filter = part && wordFilter(part, quoteLexeme, LEXEME_OPERATORS);
      const facts = { documents: totals.documents, textEstimate: part && estimateText(part, countOf) };
      const sql = new SqlValues(this.dialect);
      const statement = postgresHitsSql({ ...request, text: part }, facts, context, sql, filter);
      return search.rows(statement, sql.values.map(wellFormedValue));
    };
    if (text === null || !request.withWords) return cutPage((await rowsOf(text)).map(hitOf), query);
    const ranked = new Map<unknown, PostgresRow>();
    for (const wanted of rankedTexts(query.text!)) {
      if (ranked.size >= request.wanted) break;
      const part = wanted === query.text ? text : await this.expand(search, wanted);
      for (const row of await rowsOf(part)) ranked.set(row['id'], row);
    }
    const rarity = (word: string) => Math.min(RARITY_LIMIT, countOf({ kind: 'word', word }));
    const ids = rankedDocuments([...ranked.values()], text, totals, rarity, () => search.checked());
    if (needsAllHits(query)) return cutPage(await this.hitsOf(search, ids), query);
    const page = await this.hitsOf(search, ids.slice(query.offset, query.offset + query.limit));
    return { page, total: ids.length };
  }

  private async hitsOf(search: Search, ids: readonly number[]): Promise<Hit[]> {
    const found = await search.rows(
      `SELECT c.id, ${HIT_COLUMNS} FROM claim c WHERE c.id = ANY($1::bigint[])`,
      [ids],
    );
    const byId = new Map(found.map((row) => [row['id'], row]));
    return ids.map((id) => hitOf(byId.get(id)!));
  }

  /** Returns the text with each fuzzy word replaced by similar words of the index. */
  private async expand(search: Search, text: TextNode): Promise<TextNode> {
    const similar = new Map<string, readonly string[]>();
    for (const { word, edits } of fuzzyWords(text)) {
      const first = String.fromCodePoint(word.codePointAt(0) ?? 0);
      const length = [...word].length;
      const rows = await search.rows(
        'SELECT word FROM word WHERE word >= $1 AND word < $2 AND length(word) BETWEEN $3 AND $4 AND count > 0',
        [first, `${first}\u{10ffff}`, length - edits, length + edits],
      );
      const terms = rows.map((row) => row['word'] as string);
      similar.set(`${edits}${word}`, nearestWords(word, edits, terms));
    }
    return expandFuzzy(text, (word, edits) => similar.get(`${edits}${word}`)!);
  }

  /** Returns the number of hits on a page that each listed channel censors. */
  private async blocked(search: Search, page: readonly Hit[]): Promise<BackendPage['blocked']> {
    if (this.channels.length === 0 || page.length === 0) return [];
    const targets = new Set(page.flatMap((hit) => [hit.claimId, hit.repostedId, hit.channelId]));
    targets.delete(null);
    const rows = await search.rows(
      `SELECT r.channel_id, r.reposted_claim_id AS target, left(t.normalized_name, 1) = '@' AS is_channel
       FROM claim r LEFT JOIN claim t ON t.claim_id = r.reposted_claim_id
       WHERE r.channel_id = ANY($1::bytea[]) AND r.is_signature_valid = 1 AND r.reposted_claim_id = ANY($2::bytea[])`,
      [this.channels.map((id) => fromHex(id)), [...targets].map((id) => fromHex(id!))],
    );
    const censor = new Censor(
      this.options.lists,
      rows.map((row) => ({
        channelId: toHex(row['channel_id'] as Buffer),
        targetId: toHex(row['target'] as Buffer),
        isTargetChannel: row['is_channel'] === true,
      })),
    );
    return countBlocked(page, censor);
  }
}

const wellFormedValue = (value: SqlValue): SqlValue =>
  typeof value === 'string' ? wellFormed(value.replaceAll('\0', '\ufffd')) : value;

function searchErrorOf(error: unknown, isLate: boolean): unknown {
  if (error instanceof SearchError) return error;
  const state = sqlState(error);
  if (state === CODES.canceled || (isLate && error instanceof PostgresAwayError))
    return new SearchError('timeout', TIME_IS_UP);
  if (state === CODES.noTable || state === CODES.noSchema)
    return new SearchError('unavailable', 'The search index is being built');
  if (state === CODES.badPattern)
    return badRequest('text: a phrase with other phrases between its words is too long.');
  if (error instanceof PostgresAwayError)
    return new SearchError('unavailable', `The search index cannot be queried: ${error.message}`);
  return error;
}

function* fuzzyWords(node: TextNode): Generator<{ readonly word: string; readonly edits: number }> {
  if (node.kind === 'fuzzy') yield node;
  else if (node.kind === 'and' || node.kind === 'or')
    for (const inner of node.nodes) yield* fuzzyWords(inner);
  else if (node.kind === 'not') yield* fuzzyWords(node.node);
}

/** Collects the words and prefixes of a text, including those of excluded parts. */
function collectWords(node: TextNode, words: Set<string>, prefixes: Set<string>): void {
  if (node.kind === 'word') words.add(node.word);
  else if (node.kind === 'prefix') prefixes.add(node.prefix);
  else if (node.kind === 'phrase' || node.kind === 'near') for (const word of node.words) words.add(word);
  else if (node.kind === 'and' || node.kind === 'or')
    for (const inner of node.nodes) collectWords(inner, words, prefixes);
}

/**
 * Reads the number of documents with each word of a text. The number for a prefix is the sum over all words that start with
 * the prefix.
 */
async function readCounts(search: Search, text: TextNode): Promise<(node: TextNode) => number> {
  const words = new Set<string>();
  const prefixes = new Set<string>();
  collectWords(text, words, prefixes);
  const counts = new Map<string, number>();
  if (words.size > 0) {
    const rows = await search.rows('SELECT word, count FROM word WHERE word = ANY($1::text[])', [[...words]]);
    for (const { word, count } of rows) counts.set(` ${word as string}`, count as number);
  }
  for (const prefix of prefixes) {
    const [row] = await search.rows(
      'SELECT coalesce(sum(count), 0)::float8 AS count FROM word WHERE word >= $1 AND word < $2',
      [prefix, `${prefix}\u{10ffff}`],
    );
    counts.set(`*${prefix}`, row!['count'] as number);
  }
  return (node) => {
    if (node.kind === 'word') return counts.get(` ${node.word}`) ?? 0;
    return node.kind === 'prefix' ? (counts.get(`*${node.prefix}`) ?? 0) : 0;
  };
}

async function readLabels(
  search: Search,
  conditions: readonly Condition[],
): Promise<ReadonlyMap<string, number>> {
  const labels = conditions.flatMap((condition) => (condition.kind === 'labels' ? condition.labels : []));
  const numbers = new Map<string, number>();
  if (labels.length === 0) return numbers;
  const clean = (label: string) => labelText(wellFormed(label.replaceAll('\0', '\ufffd')));
  const rows = await search.rows('SELECT n, text FROM label WHERE text = ANY($1::text[])', [
    labels.map(clean),
  ]);
  const known = new Map(rows.map(({ n, text }) => [text as string, n as number]));
  for (const label of labels) {
    const n = known.get(clean(label));
    if (n !== undefined) numbers.set(label, n);
  }
  return numbers;
}
