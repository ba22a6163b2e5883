/**
 * Answers queries about claims in the hub's thread: rows are read from the memory shared with the node, and searches run in
 * threads of their own. If that fails, because the chain changes too fast or rows cannot be read, the node's thread is
 * asked.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClaimRules } from '../../claimtrie/types.js';
import { ClaimIndexQueries } from '../../index/claims/claimIndexQueries.js';
import type { ValuePlace } from '../../index/claims/claimValues.js';
import { WaitingClaims } from '../../index/waiting/waitingClaims.js';
import { WaitingClaimIndex } from '../../index/waiting/waitingIndex.js';
import type { WaitingTransaction } from '../../index/waiting/waitingOutputs.js';
import type { AddressPrefixes } from '../../script/address.js';
import { BackedClaimSearch, type ClaimSearch } from '../../search/claimSearch.js';
import { WaitingCensor } from '../../search/waiting/waitingCensor.js';
import { WaitingSearch } from '../../search/waiting/waitingSearch.js';
import type { FollowerStatus } from '../../search/follow/followerStatus.js';
import { packPlaces, unpackValues } from '../../search/follow/followerMessages.js';
import { SqliteSearchers, type SearchersSetup } from '../../search/sqlite/sqliteSearchers.js';
import { RemoteStatus } from '../../search/follow/remoteStatus.js';
import { SharedRows } from '../../store/cache/sharedRows.js';
import type { Bytes } from '../../util/bytes.js';
import type { Logger } from '../../util/logging.js';
import { BlockedClaims } from '../claims/blockedClaims.js';
import { TipSnapshot } from './tipSnapshot.js';
import { ClaimAnswers, type SearchConstraints } from '../claims/claimAnswers.js';
import type { ClaimSource } from './claimSource.js';
import type { FoundOutputs } from '../claims/foundOutputs.js';
import { HubError } from '../protocol/hubError.js';
import type { HubCounters } from './hubCounters.js';
import type { HubClient } from '../protocol/hubClient.js';
import { ClientLeft, type HubRpcStub } from './hubRpcStub.js';
import { PacedRows } from './pacedRows.js';
import type { SharedClaimsStart, ToNode } from './portMessages.js';
import type { Turn } from '../../scheduler/clientQueue.js';

export interface SharedClaimsDeps {
  readonly node: HubRpcStub;
  readonly counters: HubCounters;
  readonly say: (item: ToNode) => void;
  readonly searched: (tookMs: number, timedOut: boolean) => void;
}

/** Usual maximum time of a block commit. After it the node is asked for the tip. */
const COMMIT_MS = 2;
/** Client number of calls without a client. */
const NOBODY = { number: -1, hasLeft: false };

/** The search and its threads. */
interface Searching {
  readonly search: ClaimSearch;
  readonly searchers: SqliteSearchers;
  readonly follower: RemoteStatus;
  readonly waiting: WaitingSearch;
}

export class SharedClaims implements ClaimSource {
  private readonly deps: SharedClaimsDeps;
  private readonly elsewhere: ClaimSource;
  private readonly rows: SharedRows;
  private readonly chain: TipSnapshot;
  private readonly searching: Searching | null;
  private readonly answers: ClaimAnswers;
  private readonly waiting = new WaitingClaims();
  /** The number of received changes, and the waiters for the next one. */
  private waitingChanges = 0;
  private listeners: { readonly changes: number; readonly wake: () => void }[] = [];

  /** `elsewhere` sends the query to the node's thread. */
  constructor(start: SharedClaimsStart, elsewhere: ClaimSource, deps: SharedClaimsDeps) {
    this.deps = deps;
    this.elsewhere = elsewhere;
    this.rows = new SharedRows(start.rows);
    this.chain = new TipSnapshot(start.snapshot);
    const index = this.queries(start.rules);
    const channels = start.blockingChannels.map((id) => Buffer.from(id));
    const blocked =
      channels.length > 0 ? new BlockedClaims(index, channels, () => this.snapshotName()) : null;
    const shown = new WaitingClaimIndex(index, this.waiting);
    this.searching = start.search && this.searchingWith(index, shown, start.search, start.addressPrefixes);
    this.answers = new ClaimAnswers(shown, this.searching?.search ?? null, blocked);
  }

  resolve(client: HubClient, turn: Turn, urls: readonly string[]): Promise<FoundOutputs> {
    return this.here(
      () => this.answers.resolve(urls, turn),
      () => this.elsewhere.resolve(client, turn, urls),
    );
  }

  claim(client: HubClient, turn: Turn, claimId: string): Promise<FoundOutputs> {
    return this.here(
      () => this.answers.byId(claimId),
      () => this.elsewhere.claim(client, turn, claimId),
    );
  }

  search(client: HubClient, turn: Turn, constraints: SearchConstraints): Promise<FoundOutputs | null> {
    const ask = (): Promise<FoundOutputs | null> => this.elsewhere.search(client, turn, constraints);
    return this.searching === null
      ? ask()
      : this.here(() => this.answers.search(constraints, turn, client), ask);
  }

  /** Sets the status of the claim index's follower. */
  followed(status: FollowerStatus): void {
    this.searching?.follower.take(status);
  }

  /** Adds a transaction that entered the mempool. */
  waits(transaction: WaitingTransaction): void {
    this.waiting.add(transaction);
    this.noteChange();
  }

  /** Removes a transaction that left the mempool. */
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

  /** Resolves when this thread has received all present mempool transactions. A client may have seen them elsewhere already. */
  private async heard(): Promise<void> {
    const changes = this.chain.waitingChanges;
    if (this.waitingChanges >= changes) return;
    await new Promise<void>((wake) => this.listeners.push({ changes, wake }));
  }

  /** Closes the index file in all searching threads, because it is about to be deleted. */
  async release(): Promise<void> {
    await this.searching?.searchers.release();
  }

  /** Resolves when no thread has the index file open. */
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

  /** Runs a query here. On an internal failure it asks the node's thread, which reports the failure if it occurs there too. */
  private async here<T>(answer: () => Promise<T>, ask: () => Promise<T>): Promise<T> {
    try {
      await this.heard();
      return await answer();
    } catch (error) {
      if (error instanceof HubError || error instanceof ClientLeft) throw error;
      this.deps.say(['log', 'debug', `claims are asked of the node: ${(error as Error).message}`]);
      return ask();
    }
  }

  private queries(rules: ClaimRules): ClaimIndexQueries {
    const { chain } = this;
    return new ClaimIndexQueries({
      rows: new PacedRows(this.rows),
      rules,
      // A newer state ends the snapshot.
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
      status: () => ({ synced: true, height: chain.get().height }),
      values: (places) => this.values(places),
      sizeOnDisk: () => Promise.reject(new Error('the hub asks for no sizes')),
      exclusively: () => Promise.reject(new Error('the chain moves too fast')),
    });
  }

  private async values(places: readonly ValuePlace[]): Promise<(Bytes | null)[]> {
    if (places.length === 0) return [];
    return unpackValues(await this.deps.node.call(NOBODY, { weight: 1 }, 'values', packPlaces(places)));
  }

  private look(): (() => boolean) | null {
    const { rows } = this;
    const { commits } = this.chain.get();
    if (commits === null || rows.commits !== commits) return null;
    return () => rows.commits === commits;
  }

  private begin(): (() => boolean) | Promise<(() => boolean) | null> {
    return this.look() ?? this.await();
  }

  /** Waits until the running commit is reported. */
  private async await(): Promise<(() => boolean) | null> {
    await sleep(COMMIT_MS);
    const found = this.look();
    if (found !== null) return found;
    // Every response of the node includes the tip.
    await this.deps.node.call(NOBODY, { weight: 1 }, 'tip');
    return this.look();
  }

  /** A string that changes with the chain. */
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
      timesOf: (heights) => deps.node.call(NOBODY, { weight: 1 }, 'times', heights),
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
