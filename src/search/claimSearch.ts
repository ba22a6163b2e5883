/**
 * Search as the node offers it: constraints in, a page out, over whatever backend keeps the documents. Waits a little for
 * the index to reach the tip that others were notified of, and remembers answers until the index moves.
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

/** Longest wait of a search for the index. */
const FOLLOW_MS = 250;
/** How often a search that waits for the index searches the mempool again. Arbitrary. */
const LOOK_MS = 25;
/** Answers that are remembered, of the present tip. Arbitrary. */
const REMEMBERED_PAGES = 2000;
/** The remembered characters of the searches whose answers are remembered, together. Arbitrary: some have long lists. */
const REMEMBERED_CHARACTERS = 8 << 20;
/** The max characters of one search. Arbitrary: ten lists of 2,048 ids have fewer. */
const MAX_CHARACTERS = 1 << 20;
/** Characters of a search that a line of the log shows. Arbitrary. */
const LOGGED_CHARACTERS = 500;

export interface SearchStatus extends FollowerStatus {
  readonly backend: string;
  readonly running: number;
  readonly waiting: number;
  /** Searches answered, and those that timed out, since the start. */
  readonly searches: number;
  readonly timeouts: number;
  /** Time that all of them took together. */
  readonly searchedMs: number;
}

/** What the rest of the node searches by. */
export interface ClaimSearch {
  /** Throws `SearchError`. `by` is the client that asks; without it all that ask so count as one. */
  search(constraints: Constraints, by?: object): Promise<SearchPage>;
  /**
   * The same for pages that fit together whatever blocks come: the first with an empty `after`, each other with `next` of
   * the one before it.
   */
  walk(constraints: Constraints, after: string): Promise<WalkPage>;
  status(): SearchStatus;
  /** Notified of each search that was not answered from memory: how long it took, and whether it was abandoned. */
  observer: ((durationSec: number, timedOut: boolean) => void) | null;
  /** How another thread searches by itself; null if it cannot. */
  readonly shared: SharedSearch | null;
  /** Counts a search, wherever it was carried out. */
  note(tookMs: number, timedOut: boolean): void;
}

/** The key of a query. */
function queryKey(query: SearchQuery): string {
  const key = JSON.stringify(query);
  if (key.length > MAX_CHARACTERS) throw tooLong();
  return key;
}

const tooLong = (): SearchError => badRequest('The constraints are too long.');

/** Total length of all texts, to refuse long ones early. */
function charactersOf(constraints: Constraints): number {
  let characters = 0;
  for (const value of Object.values(constraints).flat())
    if (typeof value === 'string') characters += value.length;
  return characters;
}

/** The mempool claims, and URL resolution with them. */
export interface WaitingParts {
  readonly search: Pick<WaitingSearch, 'find' | 'version'>;
  readonly shown: Pick<ClaimIndexReader, 'resolve'>;
}

export class BackedClaimSearch implements ClaimSearch {
  private readonly index: ClaimIndexReader;
  private readonly waiting: WaitingParts | null;
  /** Cached results of mempool searches. A change of the mempool claims clears it. */
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
    const found = await this.ready(query, key);
    const tip = this.indexTip();
    const isFull = this.pages.size >= REMEMBERED_PAGES || this.pagesCharacters >= REMEMBERED_CHARACTERS;
    // An index that was rebuilt has a tip of its own, though it may be the same block.
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
    return merged(query, page, found.waiting);
  }

  /** What waits in the mempool; null if it is not looked for. */
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
    if (limit === 0) throw badRequest('limit: pages that follow one another have a claim at least.');
    const all = { ...query, allPages: true };
    const key = queryKey(all);
    const waiting = await this.ready(all, key);
    this.indexTip();
    const found = await merged(all, this.find(all, key, this), waiting.waiting);
    // Those that are kept out count for one page alone, of all of them.
    const total = Math.min(found.total, offset + found.rows.length);
    return this.walks.begin(asked, limit, { ...found, total });
  }

  /** Throws for bad constraints, whether or not the index can answer; null if they lead to nothing. */
  private async queryOf(constraints: Constraints): Promise<SearchQuery | null> {
    if (charactersOf(constraints) > MAX_CHARACTERS) throw tooLong();
    const resolved = await this.resolveChannel(constraints);
    return resolved && findUrls(parseConstraints(resolved), this.index);
  }

  private nothing(): SearchPage {
    return { rows: [], total: 0, blocked: [], height: this.follower.status.tip?.height ?? -1 };
  }

  /**
   * Waits until the index is at the tip, or for a limited time. A search that finds mempool claims, or such that arrive meanwhile,
   * does not wait. Resolves to what waits in the mempool, within an object since it is a promise itself.
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

  /** The block that the index has reached. Throws if the index cannot answer. */
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
      if (error instanceof SearchError && error.kind === 'damaged') this.follower.remake();
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

  /** The constraints with the id of `channel` in its place; null when that leads nowhere. */
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

/** The page with what waits in the mempool. */
async function merged(
  query: SearchQuery,
  page: Promise<SearchPage>,
  waiting: Promise<WaitingOutput[]> | null,
): Promise<SearchPage> {
  if (waiting === null) return page;
  const [confirmed, outputs] = await Promise.all([page, waiting]);
  return withWaiting(query, confirmed, outputs);
}

/** Resolves to true. Never resolves where nothing is found. */
function untilFound(waiting: Promise<WaitingOutput[]>): Promise<true> {
  return new Promise((resolve) => {
    waiting.then(
      (outputs) => outputs.length > 0 && resolve(true),
      () => undefined,
    );
  });
}
