/**
 * Controls the hub's thread from the node's thread: starts it, calls its operations (listening, notifications), and ends it.
 * Calls from the hub's thread are handled by `hubRpcServer.ts`. Also stores which scripts have subscribers.
 */
import { Worker } from 'node:worker_threads';
import type { ChainReader } from '../../chain/chainReader.js';
import type { WaitingFeed } from '../../index/waiting/waitingFeed.js';
import { formatHeader } from '../../primitives/header.js';
import type { Logger } from '../../util/logging.js';
import { projectFile } from '../../util/project.js';
import { isPromise, whenResolved } from '../../util/maybePromise.js';
import type { SharedSearch } from '../../search/sqlite/sharedSearch.js';
import type { AnsweredNote } from '../link/answerNotes.js';
import { Batches } from '../../threads/batches.js';
import { updateSnapshot, type TipSnapshot } from '../link/tipSnapshot.js';
import type { HubCounters } from '../link/hubCounters.js';
import type { HubServices } from '../link/hubServices.js';
import { Caller } from '../../threads/caller.js';
import type { NodeMethod } from '../methods/method.js';
import { HubRpcServer } from '../link/hubRpcServer.js';
import {
  ORDER_ERRORS,
  packKeys,
  unpackKeys,
  type HubOrders,
  type HubThreadStart,
  type SearchNote,
  type ToHub,
  type ToNode,
} from '../link/portMessages.js';
import type { TouchedSessions } from '../history/touchWatch.js';

export interface HubThreadDeps {
  readonly reader: ChainReader;
  readonly hub: HubServices;
  readonly methods: ReadonlyMap<string, NodeMethod>;
  readonly counters: HubCounters;
  readonly log: Logger;
  /** Called for an error that is not caused by a client's request. */
  readonly failed: (error: unknown, method: string) => void;
  /** Called when the thread ended unexpectedly. */
  readonly ended: (error: Error) => void;
  readonly answered: (notes: readonly AnsweredNote[]) => void;
  readonly notified: (method: string, count: number) => void;
  readonly searched: (notes: readonly SearchNote[]) => void;
  /** Called with true when clients can connect, and with false when they cannot connect any more. */
  readonly availability: (isAvailable: boolean) => void;
}

/** Data that the thread reads directly. */
export interface HubThreadSharing {
  readonly snapshot: TipSnapshot;
  /** Whether the claim index is at the tip. */
  readonly isSynced: () => boolean;
  readonly search: SharedSearch | null;
  /** Source of the claims in the mempool; null if the hub does not show them. */
  readonly waiting: WaitingFeed | null;
}

export class HubThread implements TouchedSessions {
  private readonly deps: HubThreadDeps;
  private readonly worker: Worker;
  private readonly batches: Batches<ToHub>;
  private readonly server: HubRpcServer;
  private readonly orders: Caller;
  private readonly exited: Promise<void>;
  private readonly sharing: HubThreadSharing | null;
  private readonly offs: (() => void)[] = [];
  private readonly wanted = new Set<string>();
  private touched = new Set<string>();
  /** Header id of the tip that was sent to the hub's thread last. */
  private knownTip = -1;
  private isClosing = false;
  private isOver = false;
  /** Error that ended the thread; null while it runs. */
  private failure: Error | null = null;

  /** Creates the thread. `sharing` must be given if and only if `start.claims` is. */
  constructor(start: HubThreadStart, deps: HubThreadDeps, sharing: HubThreadSharing | null = null) {
    this.deps = deps;
    this.sharing = sharing;
    this.worker = new Worker(projectFile('dist', 'hub', 'thread', 'hubWorker.js'), { workerData: start });
    this.worker.unref();
    this.batches = new Batches<ToHub>(this.worker, () => this.addTip());
    this.server = new HubRpcServer({
      hub: deps.hub,
      methods: deps.methods,
      batches: this.batches,
      failed: deps.failed,
    });
    this.orders = new Caller({
      post: (item, transfer) => this.batches.add(item, transfer),
      errors: ORDER_ERRORS,
    });
    this.worker.on('message', (items: readonly ToNode[]) => this.receive(items));
    this.worker.on('error', (error) => (this.failure = error));
    this.exited = new Promise((resolve) => this.worker.on('exit', () => resolve(this.ended())));
    if (sharing !== null) this.share(sharing);
  }

  private share({ search, waiting, snapshot }: HubThreadSharing): void {
    if (waiting !== null) {
      const tell = (item: ToHub): void => {
        snapshot.noteWaiting();
        this.batches.add(item);
      };
      for (const transaction of waiting.claims.all()) tell(['waiting', transaction]);
      this.offs.push(
        waiting.follow({
          added: (transaction) => tell(['waiting', transaction]),
          removed: (txid) => tell(['waitingGone', txid]),
        }),
      );
    }
    const { counters, reader } = this.deps;
    const { events } = reader.chain;
    this.updateSnapshot();
    this.offs.push(events.on('blockConnected', () => this.updateSnapshot()));
    this.offs.push(events.on('blockDisconnected', () => this.updateSnapshot()));
    if (search === null) return;
    this.batches.add(['followed', search.follower.status]);
    this.offs.push(search.onStatus((status) => this.batches.add(['followed', status])));
    this.offs.push(search.onRelease(() => this.order('release', []).catch(() => undefined)));
    search.load = () => ({
      running: counters.get('searchesRunning'),
      waiting: counters.get('searchesWaiting'),
    });
  }

  /** Updates the tip snapshot. The hub's thread uses it to check whether its own reads are consistent. */
  private updateSnapshot(): void {
    if (this.sharing === null) return;
    const { snapshot, isSynced } = this.sharing;
    updateSnapshot(snapshot, this.deps.reader, isSynced());
    snapshot.logsSearches = this.deps.log.willLog('search');
  }

  private ended(): void {
    this.isOver = true;
    for (const off of this.offs) off();
    this.deps.counters.clear();
    this.deps.availability(false);
    this.server.close();
    const error = this.failure ?? new Error('the reason is unknown');
    if (!this.isClosing) this.deps.ended(error);
    this.orders.endAll(this.isClosing ? null : error);
  }

  private async order<Name extends keyof HubOrders>(
    name: Name,
    args: Parameters<HubOrders[Name]>,
    transfer: readonly ArrayBuffer[] = [],
  ): Promise<void> {
    await this.orders.call(name, args, transfer, null).value();
  }

  /** Makes the hub's thread listen for clients. Rejects with `HubStartError`. */
  open(): Promise<void> {
    return this.order('open', []);
  }

  /** Announces or removes another hub. Resolves when responses of the hub include the change, or when the thread has ended. */
  async notePeer(name: string, isThere: boolean): Promise<void> {
    if (!this.isOver) await this.order('peer', [name, isThere]).catch(() => undefined);
  }

  /**
   * Adds the tip to a batch if it changed. The responses in the batch are thus sent together with the tip that they belong
   * to.
   */
  private addTip(): Promise<void> | undefined {
    const { reader, failed } = this.deps;
    const { tip } = reader.chain;
    if (tip === this.knownTip) return undefined;
    this.knownTip = tip;
    const height = reader.headers.height(tip);
    const sent = whenResolved(reader.readHeader(tip), (header) =>
      this.batches.addFirst(['tip', height, formatHeader(header)]),
    );
    return isPromise(sent) ? sent.catch((error: unknown) => failed(error, 'tip')) : undefined;
  }

  private receive(items: readonly ToNode[]): void {
    this.server.lap();
    this.updateSnapshot();
    for (const item of items) this.take(item);
  }

  private take(item: ToNode): void {
    const { deps, server } = this;
    switch (item[0]) {
      case 'call':
      case 'more':
      case 'cancel':
        return server.receive(item);
      case 'left':
        return server.left(item[1]);
      case 'unhold':
        return server.unhold();
      case 'wanted':
        for (const key of unpackKeys(item[1])) this.wanted.add(key);
        return;
      case 'unwanted':
        for (const key of unpackKeys(item[1])) this.wanted.delete(key);
        return;
      case 'log':
        if (item[1] === 'debug') deps.log.debug(item[3] ?? 'hub', item[2]);
        else deps.log[item[1]](item[2]);
        return;
      case 'answered':
        return deps.answered(item[1]);
      case 'notified':
        return deps.notified(item[1], item[2]);
      case 'searched':
        return deps.searched(item[1]);
      case 'follower': {
        const follower = this.sharing?.search?.follower;
        return item[1] === 'poke' ? follower?.pokeIfIdle() : follower?.remake();
      }
      case 'available':
        return deps.availability(item[1]);
      case 'failed':
        return deps.failed(errorOf(item[2], item[3]), item[1]);
      default:
        return this.orders.receive(item);
    }
  }

  get subscriptionCount(): number {
    return this.wanted.size;
  }

  isWanted(scriptKey: string): boolean {
    return this.wanted.has(scriptKey);
  }

  wantedKeys(): Iterable<string> {
    return this.wanted;
  }

  touch(scriptKey: string): void {
    if (this.wanted.has(scriptKey)) this.touched.add(scriptKey);
  }

  async tell(): Promise<void> {
    const keys = packKeys([...this.touched]);
    this.touched = new Set();
    // Without clients nothing is sent. A client that connects later requests the state itself.
    if (this.deps.counters.get('sessions') === 0) return;
    await this.order('tell', [keys], [keys.buffer]);
  }

  /** Disconnects all clients and ends the thread. */
  async close(): Promise<void> {
    this.isClosing = true;
    if (this.isOver) return;
    // Keeps the process alive until the thread has ended.
    this.worker.ref();
    await this.order('close', []);
    await this.worker.terminate();
    await this.exited;
  }
}

function errorOf(message: string, stack: string | undefined): Error {
  const error = new Error(message);
  if (stack !== undefined) error.stack = stack;
  return error;
}
