/**
 * Searches that run at the same time, as many as there are slots (threads, connections), and those that wait for one in a
 * bounded queue. Waiting counts as time. Of those that wait the one comes next whose client had least time of late. Most
 * searches take milliseconds: one that takes longer gives its slot back and begins anew where it cannot hold up all others,
 * since there is one slot more than such searches may have.
 */
import type { BackendPage } from './searchBackend.js';
import { SearchError } from './searchError.js';
import type { SearchQuery } from './searchQuery.js';

/** Searches that wait; beyond it one of the client with most of them is refused. Arbitrary. */
const MAX_WAITING = 1000;
/** What takes longer is a long search. Arbitrary: many times what the slowest of common searches take. */
const SHORT_MS = 500;
/** After so long what a client had counts half. */
const HALF_LIFE_MS = 10_000;

interface Client {
  usedMs: number;
  asOfMs: number;
  waiting: number;
}

interface Waiting {
  readonly query: SearchQuery;
  readonly client: Client;
  readonly untilMs: number;
  readonly resolve: (page: BackendPage) => void;
  readonly reject: (error: Error) => void;
  readonly isLong: boolean;
}

/** Searches that run, and those that wait. */
export interface SearchLoad {
  readonly running: number;
  readonly waiting: number;
}

export interface SearchSlotsOptions {
  readonly timeoutMs: number;
  readonly shortMs?: number;
  readonly maxWaiting?: number;
  /** A clock that only goes forward. */
  readonly nowMs?: () => number;
}

export class SearchSlots<Slot> {
  private readonly slots: number;
  private readonly idle: Slot[];
  /** With what ends waiting, in the order in which they came. */
  private readonly waiting = new Map<Waiting, NodeJS.Timeout>();
  private readonly clients = new WeakMap<object, Client>();
  private readonly timeoutMs: number;
  private readonly shortMs: number;
  private readonly maxWaiting: number;
  private readonly nowMs: () => number;
  private readonly run: (slot: Slot, query: SearchQuery, leftMs: number) => Promise<BackendPage>;
  private longRunning = 0;
  private isClosed = false;

  /** `run` carries a search out in the time that is left. */
  constructor(
    slots: readonly Slot[],
    { timeoutMs, shortMs = SHORT_MS, maxWaiting = MAX_WAITING, nowMs }: SearchSlotsOptions,
    run: (slot: Slot, query: SearchQuery, leftMs: number) => Promise<BackendPage>,
  ) {
    this.slots = slots.length;
    this.idle = [...slots];
    this.timeoutMs = timeoutMs;
    this.shortMs = shortMs;
    this.maxWaiting = maxWaiting;
    this.nowMs = nowMs ?? (() => performance.now());
    this.run = run;
  }

  get load(): SearchLoad {
    return { running: this.slots - this.idle.length, waiting: this.waiting.size };
  }

  /** `by` is who asks: what is of one client waits for what is of others. */
  search(query: SearchQuery, by: object): Promise<BackendPage> {
    if (this.isClosed) return Promise.reject(new SearchError('unavailable', 'The search index is closed'));
    return new Promise((resolve, reject) => {
      const untilMs = this.nowMs() + this.timeoutMs;
      const entry = {
        query,
        client: this.clientOf(by),
        untilMs,
        resolve,
        reject,
        isLong: this.slots === 1,
      };
      if (this.waiting.size === 0 && this.idle.length > 0) return this.start(this.idle.pop()!, entry);
      this.put(entry);
      this.next();
      if (this.waiting.size > this.maxWaiting) this.refuseOne();
    });
  }

  /** Those that wait are told so; those that run go on. */
  close(): void {
    this.isClosed = true;
    for (const entry of [...this.waiting.keys()]) {
      this.take(entry);
      entry.reject(new SearchError('unavailable', 'The search index is closed'));
    }
  }

  private clientOf(by: object): Client {
    let client = this.clients.get(by);
    if (client === undefined)
      this.clients.set(by, (client = { usedMs: 0, asOfMs: this.nowMs(), waiting: 0 }));
    return client;
  }

  /** What a client had, as of now. */
  private used(client: Client): number {
    const now = this.nowMs();
    client.usedMs *= 0.5 ** ((now - client.asOfMs) / HALF_LIFE_MS);
    client.asOfMs = now;
    return client.usedMs;
  }

  private put(entry: Waiting): void {
    const giveUp = setTimeout(() => {
      this.take(entry);
      entry.reject(timeIsUp());
    }, entry.untilMs - this.nowMs());
    this.waiting.set(entry, giveUp.unref());
    entry.client.waiting++;
  }

  private take(entry: Waiting): void {
    clearTimeout(this.waiting.get(entry));
    this.waiting.delete(entry);
    entry.client.waiting--;
  }

  /** The last of those that the client with most of them asked for. */
  private refuseOne(): void {
    let last: Waiting | null = null;
    for (const entry of this.waiting.keys())
      if (last === null || entry.client.waiting >= last.client.waiting) last = entry;
    if (last === null) return;
    this.take(last);
    last.reject(new SearchError('unavailable', 'Too many searches are waiting'));
  }

  private next(): void {
    while (this.idle.length > 0) {
      const entry = this.choose();
      if (entry === null) return;
      this.take(entry);
      this.start(this.idle.pop()!, entry);
    }
  }

  /** Of those that may run the one whose client had least; the first of equals. */
  private choose(): Waiting | null {
    const mayBeLong = this.slots === 1 || this.longRunning < this.slots - 1;
    let best: Waiting | null = null;
    let least = Infinity;
    for (const entry of this.waiting.keys()) {
      if (entry.isLong && !mayBeLong) continue;
      const used = this.used(entry.client);
      if (used >= least) continue;
      best = entry;
      least = used;
    }
    return best;
  }

  private start(slot: Slot, entry: Waiting): void {
    const beganMs = this.nowMs();
    const leftMs = entry.untilMs - beganMs;
    if (leftMs <= 0) {
      this.idle.push(slot);
      entry.reject(timeIsUp());
      return;
    }
    const { isLong } = entry;
    if (isLong) this.longRunning++;
    this.run(slot, entry.query, isLong ? leftMs : Math.min(leftMs, this.shortMs))
      .then(entry.resolve, (error: Error) => {
        const isTooLong = error instanceof SearchError && error.kind === 'timeout';
        if (isLong || !isTooLong || this.isClosed || entry.untilMs <= this.nowMs()) entry.reject(error);
        else this.put({ ...entry, isLong: true });
      })
      .finally(() => {
        if (isLong) this.longRunning--;
        this.used(entry.client);
        entry.client.usedMs += this.nowMs() - beganMs;
        this.idle.push(slot);
        this.next();
      });
  }
}

const timeIsUp = (): SearchError => new SearchError('timeout', 'query timed out');
