/**
 * Answers queries about claims in the hub's thread. Rows come from memory shared with the node, or from the node's thread
 * (`linkedRows.ts`). Searches run in separate threads, or in the node's thread for an index that this thread cannot read.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ClaimIndexQueries } from '../../index/claims/claimIndexQueries.js';
import type { ValuePlace } from '../../index/claims/claimValues.js';
import { WaitingClaims } from '../../index/waiting/waitingClaims.js';
import { WaitingClaimIndex } from '../../index/waiting/waitingIndex.js';
import type { IndexedTransaction } from '../../index/waiting/waitingOutputs.js';
import type { AddressPrefixes } from '../../script/address.js';
import { BackedClaimSearch, type ClaimSearch } from '../../search/claimSearch.js';
import { WaitingCensor } from '../../search/waiting/waitingCensor.js';
import { WaitingSearch } from '../../search/waiting/waitingSearch.js';
import type { FollowerStatus } from '../../search/follow/followerStatus.js';
import { packPlaces, unpackValues } from '../../search/follow/followerMessages.js';
import { SqliteSearchers, type SearchersSetup } from '../../search/sqlite/sqliteSearchers.js';
import { RemoteStatus } from '../../search/follow/remoteStatus.js';
import { SharedRows, type SharedRowsId } from '../../store/cache/sharedRows.js';
import type { Bytes } from '../../util/bytes.js';
import type { Logger } from '../../util/logging.js';
import { BlockedClaims } from '../claims/blockedClaims.js';
import { TipSnapshot } from './tipSnapshot.js';
import { ClaimAnswers, type HubSearch, type SearchConstraints } from '../claims/claimAnswers.js';
import type { HubOutputs } from '../claims/foundOutputs.js';
import { HUB_ERROR, HubError } from '../protocol/hubError.js';
import type { HubCounters } from './hubCounters.js';
import type { HubClient } from '../protocol/hubClient.js';
import type { Asking, HubRpcClient } from './hubRpcClient.js';
import { LinkedRows } from './linkedRows.js';
import { PacedRows } from './pacedRows.js';
import type { HubClaimsStart, ToNode } from './portMessages.js';
import type { Turn } from '../../scheduler/clientQueue.js';

/** The source of answers about claims. See `ClaimAnswers`. */
export interface HubClaimSource {
  resolve(turn: Turn, urls: readonly string[]): Promise<HubOutputs>;
  /** Finds a claim by its id in printed form. */
  claim(claimId: string): Promise<HubOutputs>;
  search(client: HubClient, turn: Turn, constraints: SearchConstraints): Promise<HubOutputs | null>;
}

const refuse = (): never => {
  throw new HubError(HUB_ERROR.internal, 'The claim index is not enabled on this node', true);
};

/** The source of a hub without a claim index. */
export const NO_CLAIMS: HubClaimSource = { resolve: refuse, claim: refuse, search: refuse };

export interface HubClaimsDeps {
  readonly node: HubRpcClient;
  readonly counters: HubCounters;
  readonly say: (item: ToNode) => void;
  readonly searched: (tookMs: number, timedOut: boolean) => void;
}

/**
 * Milliseconds to wait for the end of a running block commit. If the commit takes longer, the tip is requested from the
 * node's thread.
 */
const COMMIT_MS = 2;
/** Used as the client of calls that this module makes itself. */
const OWN_CLIENT = { number: -1, hasLeft: false };

/** The search, its threads, and the state that it depends on. */
interface Searching {
  readonly search: ClaimSearch;
  readonly searchers: SqliteSearchers;
  readonly follower: RemoteStatus;
  readonly waiting: WaitingSearch;
}

export class HubClaims implements HubClaimSource {
  private readonly deps: HubClaimsDeps;
  private readonly rows: LinkedRows;
  private readonly chain: TipSnapshot;
  private readonly searching: Searching | null;
  private readonly answers: ClaimAnswers;
  private readonly waiting = new WaitingClaims();
  /**
   * `waitingChanges`: number of mempool changes received so far. `listeners`: callers that wait until this number reaches a
   * value.
   */
  private waitingChanges = 0;
  private listeners: { readonly changes: number; readonly wake: () => void }[] = [];

  constructor(start: HubClaimsStart, deps: HubClaimsDeps) {
    this.deps = deps;
    this.chain = new TipSnapshot(start.snapshot);
    this.rows = this.linkedRows(start.rows);
    const index = this.queries(start);
    const channels = start.blockingChannels.map((id) => Buffer.from(id));
    const blocked =
      channels.length > 0 ? new BlockedClaims(index, channels, () => this.snapshotName()) : null;
    const shown = new WaitingClaimIndex(index, this.waiting);
    this.searching = start.search && this.searchingWith(index, shown, start.search, start.addressPrefixes);
    this.answers = new ClaimAnswers(shown, this.searching?.search ?? this.nodeSearch(), blocked);
  }

  async resolve(turn: Turn, urls: readonly string[]): Promise<HubOutputs> {
    await this.tipReceived();
    return this.answers.resolve(urls, turn);
  }

  async claim(claimId: string): Promise<HubOutputs> {
    await this.tipReceived();
    return this.answers.byId(claimId);
  }

  async search(client: HubClient, turn: Turn, constraints: SearchConstraints): Promise<HubOutputs | null> {
    await this.tipReceived();
    return this.answers.search(constraints, turn, client);
  }

  /** Sets the reported status of the thread that keeps the search index at the tip. */
  followed(status: FollowerStatus): void {
    this.searching?.follower.take(status);
  }

  /** Adds a transaction that entered the mempool. */
  waits(transaction: IndexedTransaction): void {
    this.waiting.add(transaction);
    this.noteChange();
  }

  /** Removes a transaction that has left the mempool. */
  waitsNoMore(txid: string): void {
    this.waiting.remove(txid);
    this.noteChange();
  }

  private noteChange(): void {
    this.waitingChanges++;
    this.searching?.waiting.prepareSoon();
    const due = this.listeners.filter(({ changes }) => changes <= this.waitingChanges);
    if (due.length === 0) return;
    this.listeners = this.listeners.filter(({ changes }) => changes > this.waitingChanges);
    for (const { wake } of due) wake();
  }

  /**
   * Resolves when this thread has received all mempool changes that the node's thread had counted at the call. A client may
   * know of these transactions from elsewhere.
   */
  private async tipReceived(): Promise<void> {
    const changes = this.chain.waitingChanges;
    if (this.waitingChanges >= changes) return;
    await new Promise<void>((wake) => this.listeners.push({ changes, wake }));
  }

  /** Closes the index file in all search threads, because the node is about to delete the file. */
  async release(): Promise<void> {
    await this.searching?.searchers.release();
  }

  /** Resolves when the index file is closed in all search threads. */
  async close(): Promise<void> {
    this.searching?.follower.end();
    await this.searching?.searchers.close();
  }

  /** Updates the counters of running and waiting searches. */
  measure(): void {
    const { running, waiting } = this.searching?.searchers.load ?? { running: 0, waiting: 0 };
    this.deps.counters.set('searchesRunning', running);
    this.deps.counters.set('searchesWaiting', waiting);
  }

  private linkedRows(id: SharedRowsId | null): LinkedRows {
    const { chain } = this;
    const { node, say } = this.deps;
    return new LinkedRows({
      shared: id && new SharedRows(id),
      hasStaged: () => chain.hasStaged,
      node: {
        rows: (keys) => node.call(OWN_CLIENT, { weight: 1 }, 'rows', keys),
        rowRange: (range) => node.call(OWN_CLIENT, { weight: 1 }, 'rowRange', range),
      },
      failed: (why) =>
        say([
          'log',
          'debug',
          `claim rows are read through the node's thread, because shared memory failed: ${why}`,
        ]),
    });
  }

  /** Returns an interface to the search that runs in the node's thread. */
  private nodeSearch(): HubSearch {
    const { node } = this.deps;
    return {
      search: (constraints, by, weight) => node.call(by as Asking, { weight }, 'search', constraints),
    };
  }

  private queries({ rules, rows: id }: HubClaimsStart): ClaimIndexQueries {
    const { chain } = this;
    return new ClaimIndexQueries({
      // Rows are read from shared memory, so that reads use only this thread's time.
      rows: id === null ? this.rows : new PacedRows(this.rows),
      rules,
      // The values are read from the snapshot whenever they are used. A newer snapshot makes the running read invalid.
      active: {
        get height() {
          return chain.get().height;
        },
        get tip() {
          return chain.get().tip;
        },
        get disconnects() {
          return chain.get().disconnects;
        },
      },
      snapshot: () => this.begin(),
      status: () => ({ synced: chain.isSynced, height: chain.get().height }),
      values: (places) => this.values(places),
      sizeOnDisk: () =>
        Promise.reject(new Error('the size on disk is not available in the thread of the hub')),
      exclusively: (task) => this.exclusively(task),
    });
  }

  private async values(places: readonly ValuePlace[]): Promise<(Bytes | null)[]> {
    if (places.length === 0) return [];
    return unpackValues(await this.deps.node.call(OWN_CLIENT, { weight: 1 }, 'values', packPlaces(places)));
  }

  private look(): (() => boolean) | null {
    const { rows, chain } = this;
    const { commits } = chain.get();
    if (commits === null || !rows.isAt(commits)) return null;
    return () => rows.isAt(commits) && chain.get().commits === commits;
  }

  private begin(): (() => boolean) | Promise<(() => boolean) | null> {
    return this.look() ?? this.await();
  }

  /**
   * Waits until a commit in progress is finished. Resolves to a function that checks whether the snapshot is still valid;
   * null if no valid snapshot exists.
   */
  private async await(): Promise<(() => boolean) | null> {
    await sleep(COMMIT_MS);
    const found = this.look();
    if (found !== null) return found;
    // The called operation does nothing, but each response of the node's thread updates the snapshot.
    await this.deps.node.call(OWN_CLIENT, { weight: 1 }, 'tip');
    return this.look();
  }

  private async exclusively<T>(task: () => Promise<T>): Promise<T> {
    const { node, say } = this.deps;
    await node.call(OWN_CLIENT, { weight: 1 }, 'hold');
    try {
      return await task();
    } finally {
      say(['unhold']);
    }
  }

  /** A text that identifies the state of the chain and changes with it. */
  private snapshotName(): string {
    const { tip, disconnects } = this.chain.get();
    return `${tip} ${disconnects}`;
  }

  private waitingSearch(
    index: ClaimIndexQueries,
    { lists }: SearchersSetup,
    prefixes: AddressPrefixes,
  ): WaitingSearch {
    const { chain, deps, waiting } = this;
    const censor = new WaitingCensor(index, lists, () => this.snapshotName());
    return new WaitingSearch({
      waiting,
      index,
      tip: () => chain.get(),
      timesOf: (heights) => deps.node.call(OWN_CLIENT, { weight: 1 }, 'times', heights),
      censor: () => censor.get(),
      prefixes,
    });
  }

  private searchingWith(
    index: ClaimIndexQueries,
    shown: WaitingClaimIndex,
    options: SearchersSetup,
    prefixes: AddressPrefixes,
  ): Searching {
    const { say, searched } = this.deps;
    const searchers = new SqliteSearchers(options, { warn: (text) => say(['log', 'warn', text]) });
    const follower = new RemoteStatus({
      isTip: ({ height, hash }) => this.chain.isTip(height, hash),
      poke: () => say(['follower', 'poke']),
      remake: () => say(['follower', 'remake']),
    });
    const backend = {
      description: '',
      get load() {
        return searchers.load;
      },
      search: searchers.search.bind(searchers),
    };
    const waiting = this.waitingSearch(index, options, prefixes);
    const search = new BackedClaimSearch(index, backend, follower, this.logger(), null, {
      search: waiting,
      shown,
    });
    search.observer = (durationSec, timedOut) => searched(durationSec * 1000, timedOut);
    return { search, searchers, follower, waiting };
  }

  private logger(): Logger {
    const { chain, deps } = this;
    return {
      info: (text) => deps.say(['log', 'info', text]),
      warn: (text) => deps.say(['log', 'warn', text]),
      error: (text) => deps.say(['log', 'warn', text]),
      debug: (category, text) => {
        if (chain.logsSearches)
          deps.say(['log', 'debug', typeof text === 'string' ? text : text(), category]);
      },
      willLog: () => chain.logsSearches,
    };
  }
}
