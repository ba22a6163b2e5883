/**
 * Claim search of the node, for any backend: receives constraints and returns a page. Waits for a short time until the index
 * has reached the tip, and caches results until the index changes.
 */
import type { ClaimIndexReader } from '../index/claims/claimReader.js';
import { hashFromHex, hashToHex } from '../util/bytes.js';
import type { Logger } from '../util/logging.js';
import { parseConstraints, type Constraints } from './query/constraints.js';
import type { FollowerStatus } from './follow/followerStatus.js';
import type { BlockId } from './follow/indexChange.js';
import type { SearchBackend, SearchPage } from './searchBackend.js';
import { SearchError, badRequest } from './query/searchError.js';
import type { SearchQuery } from './query/searchQuery.js';
import { SearchWalks, constraintsKey, type WalkPage } from './hits/searchWalks.js';
import type { SharedSearch } from './sqlite/sharedSearch.js';
import type { FollowerView } from './follow/remoteStatus.js';
import { channelOfUrl, findUrls } from './query/urlConditions.js';
import { mergesWaiting, withWaiting } from './waiting/waitingPage.js';
import type { WaitingSearch } from './waiting/waitingSearch.js';
import type { WaitingOutput } from '../index/waiting/waitingOutputs.js';

/** Maximum time in ms for which a search waits until the index has reached the tip. */
const FOLLOW_MS = 250;
/** Interval in ms at which a search that waits for the index searches the mempool again. Arbitrary. */
const LOOK_MS = 25;
/** Maximum number of search results cached for the current tip. Arbitrary: bounds the memory. */
const REMEMBERED_PAGES = 2000;
/** Maximum total length in characters of the queries whose results are cached. Arbitrary: some queries contain long lists. */
const REMEMBERED_CHARACTERS = 8 << 20;
/** Maximum length of one query in characters. Arbitrary: ten lists of 2,048 ids are shorter. */
const MAX_CHARACTERS = 1 << 20;
/** Maximum length in characters of a query in a log line. Arbitrary. */
const LOGGED_CHARACTERS = 500;

export interface SearchStatus extends FollowerStatus {
  readonly backend: string;
  readonly running: number;
  readonly waiting: number;
  /** Number of searches since the start, and number of searches that timed out. */
  readonly searches: number;
  readonly timeouts: number;
  /** Total duration of all searches in milliseconds. */
  readonly searchedMs: number;
}

/** Interface of the claim search for other modules. */
export interface ClaimSearch {
  /**
   * Returns a page of matching claims. Throws `SearchError`. `by` identifies the client for fair scheduling; all calls
   * without `by` count as one client.
   */
  search(constraints: Constraints, by?: object): Promise<SearchPage>;
  /**
   * Returns a page of a search whose pages stay consistent even if blocks arrive. `after` is empty for the first page; for
   * later pages it is `next` of the previous page.
   */
  walk(constraints: Constraints, after: string): Promise<WalkPage>;
  status(): SearchStatus;
  /** Called for each search that the cache did not answer, with its duration and whether it timed out. */
  observer: ((durationSec: number, timedOut: boolean) => void) | null;
  /** Data with which another thread can search the index itself; null if the backend does not support this. */
  readonly shared: SharedSearch | null;
  /** Adds a search that another thread ran to the statistics. */
  note(tookMs: number, timedOut: boolean): void;
}

/** Returns the cache key of a query. */
function queryKey(query: SearchQuery): string {
  const key = JSON.stringify(query);
  if (key.length > MAX_CHARACTERS) throw tooLong();
  return key;
}

const tooLong = (): SearchError => badRequest('The constraints are too long.');

/** Returns the total length of all texts in the constraints, so that a long query can be rejected before it is parsed. */
function charactersOf(constraints: Constraints): number {
  let characters = 0;
  for (const value of Object.values(constraints).flat())
    if (typeof value === 'string') characters += value.length;
  return characters;
}

/** Search in the mempool claims, and URL resolution that includes them. */
export interface WaitingParts {
  readonly search: Pick<WaitingSearch, 'find' | 'version'>;
  readonly shown: Pick<ClaimIndexReader, 'resolve'>;
}

export class BackedClaimSearch implements ClaimSearch {
  private readonly index: ClaimIndexReader;
  private readonly waiting: WaitingParts | null;
  /** Cached results of mempool searches. Cleared when the mempool claims change. */
  private waitingPages = new Map<string, Promise<WaitingOutput[]>>();
  private waitingVersion = -1;
  private waitingTip: BlockId | null = null;
  private readonly backend: Pick<SearchBackend, 'description' | 'load' | 'search'>;
  private readonly follower: FollowerView;
  private readonly logger: Logger;
  private pages = new Map<string, Promise<SearchPage>>();
  private pagesTip: BlockId | null = null;
  private pagesCharacters = 0;
  private readonly walks = new SearchWalks();
  readonly shared: SharedSearch | null;
  observer: ClaimSearch['observer'] = null;
  private searches = 0;
  private timeouts = 0;
  private searchedMs = 0;

  constructor(
    index: ClaimIndexReader,
    backend: Pick<SearchBackend, 'description' | 'load' | 'search'>,
    follower: FollowerView,
    logger: Logger,
    shared: SharedSearch | null = null,
    waiting: WaitingParts | null = null,
  ) {
    this.waiting = waiting;
    this.logger = logger;
    this.shared = shared;
    this.index = index;
    this.backend = backend;
    this.follower = follower;
  }

  async search(constraints: Constraints, by: object = this): Promise<SearchPage> {
    const query = await this.queryOf(constraints);
    if (query === null) return this.nothing();
    const key = queryKey(query);
    return (await this.searchAtTip(query, key, by)) ?? this.searchWhenReady(query, key, by);
  }

  private async searchWhenReady(query: SearchQuery, key: string, by: object): Promise<SearchPage> {
    const { waiting } = await this.ready(query, key);
    return merged(query, this.page(query, key, by), waiting);
  }

  /**
   * Lets the backend search while this thread searches the mempool. Null if the index is not at the tip, or if a claim may have
   * left the mempool for a block that the page does not include.
   */
  private async searchAtTip(query: SearchQuery, key: string, by: object): Promise<SearchPage | null> {
    const { waiting, follower } = this;
    if (waiting === null || !mergesWaiting(query) || !follower.isAtTip) return null;
    const page = this.page(query, key, by);
    const { version } = waiting.search;
    const found = this.findWaiting(query, key);
    const outputs = found && (await found);
    return version === waiting.search.version ? merged(query, page, outputs) : null;
  }

  /** Returns the page of the index for a query, from the cache if possible. */
  private page(query: SearchQuery, key: string, by: object): Promise<SearchPage> {
    const tip = this.indexTip();
    const isFull = this.pages.size >= REMEMBERED_PAGES || this.pagesCharacters >= REMEMBERED_CHARACTERS;
    // Compares the tip by object identity: a rebuilt index has a new tip object, even for the same block.
    if (this.pagesTip !== tip || isFull) {
      this.pages = new Map();
      this.pagesTip = tip;
      this.pagesCharacters = 0;
    }
    const { pages } = this;
    let page = pages.get(key);
    if (page === undefined) {
      page = this.find(query, key, by);
      pages.set(key, page);
      this.pagesCharacters += key.length;
      page.catch(() => pages.delete(key));
    }
    return page;
  }

  /** Returns the matching mempool claims; null if the query does not include the mempool. */
  private findWaiting(query: SearchQuery, key: string): Promise<WaitingOutput[]> | null {
    const { waiting } = this;
    if (waiting === null || !mergesWaiting(query)) return null;
    const { version } = waiting.search;
    const { tip } = this.follower.status;
    const isFull = this.waitingPages.size >= REMEMBERED_PAGES;
    if (this.waitingVersion !== version || this.waitingTip !== tip || isFull) {
      this.waitingPages = new Map();
      this.waitingVersion = version;
      this.waitingTip = tip;
    }
    const { waitingPages } = this;
    let found = waitingPages.get(key);
    if (found === undefined) {
      found = waiting.search.find(query);
      waitingPages.set(key, found);
      found.catch(() => waitingPages.delete(key));
    }
    return found;
  }

  async walk(constraints: Constraints, after: string): Promise<WalkPage> {
    if (charactersOf(constraints) > MAX_CHARACTERS) throw tooLong();
    const asked = constraintsKey(constraints);
    if (after !== '') return this.walks.goOn(after, asked);
    const query = await this.queryOf(constraints);
    if (query === null) return { ...this.nothing(), next: null };
    const { offset, limit } = query;
    if (limit === 0) throw badRequest('limit: with "after", pages must have at least one claim.');
    const all = { ...query, allPages: true };
    const key = queryKey(all);
    const waiting = await this.ready(all, key);
    this.indexTip();
    const found = await merged(all, this.find(all, key, this), waiting.waiting);
    // The total of all pages counts only results whose rows are stored.
    const total = Math.min(found.total, offset + found.rows.length);
    return this.walks.begin(asked, limit, { ...found, total });
  }

  /**
   * Converts constraints to a query. Throws for invalid constraints, even if the index is not available. Null if the
   * constraints cannot match any claim.
   */
  private async queryOf(constraints: Constraints): Promise<SearchQuery | null> {
    if (charactersOf(constraints) > MAX_CHARACTERS) throw tooLong();
    const resolved = await this.resolveChannel(constraints);
    return resolved && findUrls(parseConstraints(resolved), this.index);
  }

  private nothing(): SearchPage {
    return { rows: [], total: 0, blocked: [], height: this.follower.status.tip?.height ?? -1 };
  }

  /**
   * Waits until the index is at the tip, at most `FOLLOW_MS`. The wait ends as soon as the search finds mempool claims.
   * Resolves to an object with the promise of the mempool claims, because a bare promise would be awaited.
   */
  private async ready(
    query: SearchQuery,
    key: string,
  ): Promise<{ waiting: Promise<WaitingOutput[]> | null }> {
    let isFollowed = false;
    const followed = this.follower.waitForTip(FOLLOW_MS).then(() => void (isFollowed = true));
    for (;;) {
      const waiting = this.findWaiting(query, key);
      if (waiting === null) {
        await followed;
        return { waiting };
      }
      let timer: NodeJS.Timeout | undefined;
      const again = new Promise<void>((resolve) => (timer = setTimeout(resolve, LOOK_MS)));
      const isFound = await Promise.race([followed, untilFound(waiting), again]);
      clearTimeout(timer);
      if (isFollowed || isFound === true) return { waiting };
    }
  }

  /** Returns the block that the index has reached. Throws if the index cannot be searched. */
  private indexTip(): BlockId {
    const { tip, failure, isStuck } = this.follower.status;
    if (tip === null) {
      const reason = failure === null ? 'is being built' : `cannot be built: ${failure}`;
      throw new SearchError('unavailable', `The search index ${reason}`);
    }
    if (isStuck) throw new SearchError('unavailable', `The search index cannot follow the chain: ${failure}`);
    return tip;
  }

  private async find(query: SearchQuery, key: string, by: object): Promise<SearchPage> {
    try {
      return await this.timed(key, async () => {
        const { rows, total, blocked, height } = await this.backend.search(query, by);
        return {
          rows: rows.map((id) => hashFromHex(id)),
          total,
          blocked: blocked.map(({ channelId, count }) => ({ channelId: hashFromHex(channelId), count })),
          height,
        };
      });
    } catch (error) {
      if (error instanceof SearchError && error.kind === 'corrupt') this.follower.remake();
      throw error;
    }
  }

  status(): SearchStatus {
    const { load, description } = this.backend;
    const other = this.shared?.load?.() ?? { running: 0, waiting: 0 };
    return {
      ...this.follower.status,
      backend: description,
      running: load.running + other.running,
      waiting: load.waiting + other.waiting,
      searches: this.searches,
      timeouts: this.timeouts,
      searchedMs: this.searchedMs,
    };
  }

  /** Returns the constraints with `channel` replaced by its claim id; null if the channel does not exist. */
  private async resolveChannel(constraints: Constraints): Promise<Constraints | null> {
    const { channel, ...others } = constraints;
    if (channel === undefined || channel === null) return constraints;
    if (typeof channel !== 'string') throw badRequest('channel: the value is not a URL.');
    const isConfirmed = constraints['confirmed_only'] === true;
    const [answer] = await (isConfirmed ? this.index : (this.waiting?.shown ?? this.index)).resolve([
      channel,
    ]);
    const found = answer === undefined ? null : channelOfUrl(answer);
    return found === null ? null : { ...others, channel_id: hashToHex(found.claimId) };
  }

  private async timed(query: string, search: () => Promise<SearchPage>): Promise<SearchPage> {
    const since = performance.now();
    let timedOut = false;
    let outcome = 'failed';
    try {
      const page = await search();
      outcome = `${page.rows.length} of ${page.total} claims`;
      return page;
    } catch (error) {
      timedOut = error instanceof SearchError && error.kind === 'timeout';
      throw error;
    } finally {
      const tookMs = performance.now() - since;
      this.note(tookMs, timedOut);
      const text = query.slice(0, LOGGED_CHARACTERS);
      this.logger.debug('search', () => `Search: ${outcome} in ${tookMs.toFixed(1)} ms, ${text}`);
    }
  }

  note(tookMs: number, timedOut: boolean): void {
    this.searches++;
    this.searchedMs += tookMs;
    if (timedOut) this.timeouts++;
    this.observer?.(tookMs / 1000, timedOut);
  }
}

/** Returns the page merged with the matching mempool claims. */
async function merged(
  query: SearchQuery,
  page: Promise<SearchPage>,
  waiting: Promise<WaitingOutput[]> | readonly WaitingOutput[] | null,
): Promise<SearchPage> {
  if (waiting === null) return page;
  const [confirmed, outputs] = await Promise.all([page, waiting]);
  return withWaiting(query, confirmed, outputs);
}

/** Resolves to true when mempool claims were found. Never resolves if there are none. */
function untilFound(waiting: Promise<WaitingOutput[]>): Promise<true> {
  return new Promise((resolve) => {
    waiting.then(
      (outputs) => outputs.length > 0 && resolve(true),
      () => undefined,
    );
  });
}
