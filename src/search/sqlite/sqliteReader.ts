/**
 * Reader of the SQLite index: one connection, used by one thread. A search reads one snapshot of the index. At the timeout
 * it fails with a `SearchError`; an SQL function within the statements checks the time.
 */
import { fromHex, toHex } from '../../util/bytes.js';
import { Censor, countBlocked, type CensorLists } from '../hits/censor.js';
import {
  conditionSql,
  wordFilter,
  SqlValues,
  type Dialect,
  type SqlContext,
  type WordFilter,
} from '../query/conditionSql.js';
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
import { hitsRequest, type HitsRequest } from '../hits/hitsRequest.js';
import { ORDER_INDEXES } from './schema.js';
import type { BackendPage } from '../searchBackend.js';
import { SearchError } from '../query/searchError.js';
import { hitsSql, type Driver, type PlanFacts } from './searchPlan.js';
import type { Condition, SearchQuery } from '../query/searchQuery.js';
import type { SqlRow, SqliteDatabase, SqliteProvider } from '../../sqlite/sqliteProvider.js';
import { readTotals } from './sqliteRows.js';
import { countNear, expandFuzzy, type TextNode } from '../query/textQuery.js';
import type { TextTotals } from '../hits/textScore.js';

/** Maximum number of documents that are counted for the plan of a query. Larger numbers are estimated or set to this limit. */
const COUNT_LIMIT = 20_000;
/** Number of words with a prefix above which a search for the prefix reads the documents instead of the full-text index. */
const COMMON_WORDS = 1000;
/** Size of the page cache of each reader in KiB. Arbitrary. */
const CACHE_KIB = 32 << 10;
export const READER_CACHE_BYTES = CACHE_KIB << 10;

/** Maximum number of values in one statement. Source: SQLite's SQLITE_MAX_VARIABLE_NUMBER. */
const MAX_VALUES = 32_766;

const TIME_IS_UP = 'query timed out';

const SETS = ['filteredClaims', 'filteredChannels', 'blockedClaims', 'blockedChannels'] as const;

const SQLITE_DIALECT: Dialect = {
  maxValues: MAX_VALUES,
  parameter: (n) => `?${n}`,
  number: (decimal) => {
    const isWhole = !decimal.includes('.');
    if (isWhole && decimal.length < 19) return BigInt(decimal);
    return Number(decimal);
  },
  contains: (text, value) => `instr(${text}, ${value}) > 0`,
  near: (packed, words, gap, sql) => `near_matches(${packed}, ${sql.bind(words.join(' '))}, ${gap})`,
  head: (column) => `substr(${column}, 1, 8)`,
  // Tests the list of labels in the document's row. A test with the table `labeled` would need a lookup for each number.
  labelsOf: (numbers) =>
    `(SELECT value AS n FROM json_each('[' || c.labels || ']')) l WHERE l.n IN (${numbers})`,
  inCensored: (column, set) => `${column} IN (SELECT id FROM temp.${set})`,
};

/** Returns a word or prefix in the syntax of FTS5. */
function quoteWord(word: string, isPrefix: boolean): string {
  return `"${word.replaceAll('"', '""')}"${isPrefix ? '*' : ''}`;
}

export class SqliteReader {
  private readonly database: SqliteDatabase;
  private readonly lists: CensorLists;
  private deadlineMs = 0;
  private censor: Censor | null = null;
  private censorVersion = -1;

  constructor(provider: SqliteProvider, path: string, lists: CensorLists) {
    this.database = provider.open(path);
    this.lists = lists;
    this.database.exec(
      `PRAGMA busy_timeout = 10000; PRAGMA cache_size = -${CACHE_KIB}; PRAGMA temp_store = MEMORY`,
    );
    for (const set of SETS)
      this.database.exec(`CREATE TEMP TABLE ${set} (id BLOB PRIMARY KEY) WITHOUT ROWID`);
    this.database.function('in_time', () => {
      this.checkTime();
      return 1;
    });
    this.database.function('near_matches', (packed, words, gap) =>
      Math.min(1, countNear((words as string).split(' '), Number(gap), packed as string, 1)),
    );
  }

  /** Returns the page of a query. The search ends at most `timeoutMs` milliseconds after the call. */
  search(query: SearchQuery, timeoutMs: number): BackendPage {
    this.deadlineMs = performance.now() + timeoutMs;
    this.database.exec('BEGIN');
    try {
      const tip = this.database.prepare(`SELECT value FROM state WHERE key = 'tip'`).get();
      if (tip === undefined) throw new SearchError('unavailable', 'The search index is being built');
      const { height } = JSON.parse(tip['value'] as string) as { height: number };
      return { ...this.page(query), height };
    } catch (error) {
      if (error instanceof Error && error.message.includes(TIME_IS_UP))
        throw new SearchError('timeout', TIME_IS_UP);
      throw error;
    } finally {
      this.database.exec('COMMIT');
    }
  }

  close(): void {
    this.database.close();
  }

  private checkTime(): void {
    if (performance.now() > this.deadlineMs) throw new Error(TIME_IS_UP);
  }

  private page(query: SearchQuery): Omit<BackendPage, 'height'> {
    if (query.findsNothing) return { rows: [], total: 0, blocked: [] };
    const censor = this.readCensor();
    const { page, total } = this.found(query, censor);
    const idsOf = (hits: readonly Hit[]): string[] => hits.map((hit) => hit.claimId);
    const blocked = censor.isEmpty ? [] : countBlocked(page, censor);
    if (blocked.length === 0) return { rows: idsOf(page), total, blocked };
    const uncensored: Condition = { kind: 'censored', types: [0] };
    const second = this.found({ ...query, conditions: [...query.conditions, uncensored] }, censor);
    return { rows: idsOf(second.page), total, blocked };
  }

  private found(query: SearchQuery, censor: Censor): HitsPage {
    const context: SqlContext = { labels: this.readLabels(query.conditions), hasCensored: !censor.isEmpty };
    const totals = readTotals(this.database);
    const similar = (word: string, edits: number) => this.similarWords(word, edits);
    const text = query.text && expandFuzzy(query.text, similar);
    const request = hitsRequest(query, text);
    if (text === null || !request.withWords)
      return cutPage(this.rows(request, totals, context).map(hitOf), query);
    const ranked = new Map<unknown, SqlRow>();
    for (const wanted of rankedTexts(query.text!)) {
      if (ranked.size >= request.wanted) break;
      const part = wanted === query.text ? text : expandFuzzy(wanted, similar);
      for (const row of this.rows({ ...request, text: part }, totals, context)) ranked.set(row['id'], row);
    }
    const countOf = (word: string) => this.countText(quoteWord(word, false), RARITY_LIMIT).counted;
    const ids = rankedDocuments([...ranked.values()], text, totals, countOf, () => this.checkTime());
    if (needsAllHits(query)) return cutPage(this.hitsOf(ids), query);
    const page = this.hitsOf(ids.slice(query.offset, query.offset + query.limit));
    return { page, total: ids.length };
  }

  private rows(request: HitsRequest, totals: TextTotals, context: SqlContext): SqlRow[] {
    const isCommon = (prefix: string) => this.isCommon(prefix);
    const filter = request.text && wordFilter(request.text, quoteWord, undefined, isCommon);
    const facts = this.planFacts(request, totals, filter, context);
    const sql = new SqlValues(SQLITE_DIALECT);
    const statement = hitsSql(request, facts, context, sql, filter);
    return this.database.prepare(statement).all(...sql.values);
  }

  private hitsOf(ids: readonly number[]): Hit[] {
    const find = this.database.prepare(`SELECT ${HIT_COLUMNS} FROM claim c WHERE c.id = ?`);
    return ids.map((id) => hitOf(find.get(id)!));
  }

  private planFacts(
    request: HitsRequest,
    totals: TextTotals,
    filter: WordFilter | null,
    context: SqlContext,
  ): PlanFacts {
    const shares = new Map<Condition | TextNode, number>();
    const drivers: Driver[] = [];
    const { documents } = totals;
    const add = (part: Condition | TextNode, driver: Driver) => {
      shares.set(part, Math.min(1, driver.estimate / Math.max(1, documents)));
      drivers.push(driver);
    };
    for (const condition of request.conditions) {
      const driver = this.driverOf(condition, documents, context);
      if (driver !== null) add(condition, driver);
    }
    if (request.text !== null && filter !== null) {
      const { expression } = filter;
      // If only the newest documents with the words are requested, the full-text index is the best driver, so no documents
      // are counted.
      const isAlone = request.withWords && request.conditions.length === 0;
      add(request.text, {
        estimate: isAlone ? 0 : this.countText(expression, COUNT_LIMIT).estimate,
        covers: request.text,
        from: (sql) => ({
          tables: 'text_index CROSS JOIN claim c ON c.id = text_index.rowid',
          bare: 'text_index',
          where: `text_index MATCH ${sql.bind(expression)}`,
          id: 'text_index.rowid',
        }),
      });
    }
    return { documents, shares, drivers };
  }

  /** Returns the driver that uses the database index of a condition; null if there is none. */
  private driverOf(condition: Condition, documents: number, context: SqlContext): Driver | null {
    if (condition.kind === 'labels') return this.labelDriver(condition, context);
    const index = indexOf(condition);
    if (index === null) return null;
    const counting = new SqlValues(SQLITE_DIALECT);
    const test = conditionSql(condition, counting, context);
    const counted = this.database
      .prepare(
        `SELECT count(*) AS n FROM (SELECT 1 FROM claim c INDEXED BY ${index} WHERE ${test} LIMIT ${COUNT_LIMIT})`,
      )
      .get(...counting.values)!['n'] as number;
    return {
      // Above the limit the true number is unknown, so half of all documents is assumed, an arbitrary guess.
      estimate: counted < COUNT_LIMIT ? counted : Math.max(counted, documents / 2),
      covers: condition,
      from: (sql) => ({
        tables: `claim c INDEXED BY ${index}`,
        where: conditionSql(condition, sql, context),
        id: 'c.id',
      }),
    };
  }

  private labelDriver(condition: Condition & { kind: 'labels' }, context: SqlContext): Driver | null {
    if (condition.how === 'none') return null;
    const count = this.database.prepare('SELECT count FROM label WHERE n = ?');
    const numbers = condition.labels
      .map((label) => context.labels.get(label))
      .filter((n) => n !== undefined)
      .map((n) => ({ n, count: count.get(n)!['count'] as number }));
    if (numbers.length === 0) return null;
    const isAll = condition.how === 'all';
    const rarest = numbers.reduce((best, other) => (other.count < best.count ? other : best));
    const taken = isAll ? [rarest] : numbers;
    const list = taken.map(({ n }) => n).join(', ');
    const isCovered = numbers.length === 1 && condition.labels.length === 1;
    return {
      estimate: taken.reduce((sum, { count }) => sum + count, 0),
      covers: isCovered || !isAll ? condition : null,
      from: () =>
        taken.length === 1
          ? { tables: 'labeled x CROSS JOIN claim c ON c.id = x.id', where: `x.n = ${list}`, id: 'x.id' }
          : {
              tables: `(SELECT DISTINCT id FROM labeled WHERE n IN (${list})) x CROSS JOIN claim c ON c.id = x.id`,
              where: '',
              id: 'c.id',
            },
    };
  }

  /** Counts the documents that match a full-text expression, up to a limit, and estimates their total. */
  private countText(
    expression: string,
    limit: number,
  ): { readonly counted: number; readonly estimate: number } {
    this.checkTime();
    const row = this.database
      .prepare(
        `SELECT count(*) AS n, max(id) AS last FROM (SELECT rowid AS id FROM text_index WHERE text_index MATCH ? LIMIT ${limit})`,
      )
      .get(expression)!;
    const counted = row['n'] as number;
    if (counted < limit) return { counted, estimate: counted };
    const { last } = this.database.prepare('SELECT max(id) AS last FROM claim').get() as { last: number };
    // Only the oldest documents were counted. The newer ones are assumed to match with the same frequency.
    return { counted, estimate: counted * Math.max(1, last / Math.max(1, row['last'] as number)) };
  }

  /** Whether many words have the prefix, or many documents have words with the prefix. */
  private isCommon(prefix: string): boolean {
    this.checkTime();
    const { words, documents } = this.database
      .prepare(
        `SELECT count(*) AS words, total(doc) AS documents
         FROM (SELECT doc FROM vocabulary WHERE term >= ? AND term < ? LIMIT ${COMMON_WORDS})`,
      )
      .get(prefix, `${prefix}\u{10ffff}`) as { words: number; documents: number };
    return words >= COMMON_WORDS || documents >= COUNT_LIMIT;
  }

  /**
   * Returns the words of the index that have the same first letter as `word` and are within the edit distance `edits`,
   * nearest first.
   */
  private similarWords(word: string, edits: number): string[] {
    const first = String.fromCodePoint(word.codePointAt(0) ?? 0);
    const length = [...word].length;
    const rows = this.database
      .prepare(
        'SELECT term FROM vocabulary WHERE term >= ? AND term < ? AND length(term) BETWEEN ? AND ? AND in_time()',
      )
      .all(first, `${first}\u{10ffff}`, length - edits, length + edits);
    const terms = rows.map((row) => row['term'] as string);
    return nearestWords(word, edits, terms);
  }

  private readLabels(conditions: readonly Condition[]): Map<string, number> {
    const numbers = new Map<string, number>();
    const find = this.database.prepare('SELECT n FROM label WHERE text = ?');
    for (const condition of conditions) {
      if (condition.kind !== 'labels') continue;
      for (const text of condition.labels) {
        const row = find.get(text);
        if (row !== undefined) numbers.set(text, row['n'] as number);
      }
    }
    return numbers;
  }

  /** Returns the claims that the channel lists censor. They are computed again when the index has changed. */
  private readCensor(): Censor {
    const channels = [...this.lists.blocking, ...this.lists.filtering];
    if (channels.length === 0) return (this.censor ??= new Censor(this.lists, []));
    const version = Number(this.database.prepare('PRAGMA data_version').get()!['data_version']);
    if (this.censor !== null && version === this.censorVersion) return this.censor;
    const reposts = this.database.prepare(
      `SELECT r.reposted_claim_id AS target, t.normalized_name AS name
       FROM claim r INDEXED BY claim_by_channel LEFT JOIN claim t ON t.claim_id = r.reposted_claim_id
       WHERE r.channel_id = ? AND r.is_signature_valid = 1 AND r.reposted_claim_id IS NOT NULL`,
    );
    this.censor = new Censor(
      this.lists,
      [...new Set(channels)].flatMap((channelId) =>
        reposts.all(fromHex(channelId)).map((row) => ({
          channelId,
          targetId: toHex(row['target'] as Uint8Array),
          isTargetChannel: ((row['name'] as string | null) ?? '').startsWith('@'),
        })),
      ),
    );
    for (const set of SETS) {
      this.database.exec(`DELETE FROM temp.${set}`);
      const insert = this.database.prepare(`INSERT INTO temp.${set} VALUES (?)`);
      for (const id of this.censor.sets[set].keys()) insert.run(fromHex(id));
    }
    this.censorVersion = version;
    return this.censor;
  }
}

const ID_INDEXES: Readonly<Record<string, string>> = {
  claim_id: 'claim_by_id',
  channel_id: 'claim_by_channel',
  reposted_claim_id: 'claim_by_reposted',
};

/** Returns the name of the database index that finds the documents of a condition; null if there is none. */
function indexOf(condition: Condition): string | null {
  switch (condition.kind) {
    case 'ids':
      return ID_INDEXES[condition.column] ?? null;
    case 'idPrefix':
      return condition.column === 'claim_id' ? 'claim_by_id' : 'claim_by_sd_hash';
    case 'texts':
      if (condition.column === 'public_key_id') return 'claim_by_key';
      return condition.column === 'normalized_name' ? 'claim_by_name' : null;
    case 'keys':
      return condition.column === 'tx_key' ? 'claim_by_tx' : null;
    case 'range':
      return condition.orMissing === true ? null : (ORDER_INDEXES[condition.column] ?? null);
    case 'numbers':
      return ORDER_INDEXES[condition.column] ?? null;
    default:
      return null;
  }
}
