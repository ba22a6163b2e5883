/**
 * The hub, a server for thin wallets inside the node. This class connects the hub's modules, opens its ports when the node
 * is ready, and reports its status. It uses the node's services for chain, mempool and indexes.
 */
import { isIPv4 } from 'node:net';
import { addressPrefixesOf } from '../script/address.js';
import type { ClaimRules } from '../claimtrie/types.js';
import type { ValuePlace } from '../index/claims/claimValues.js';
import type { HubService, HubStatus } from '../interfaces/hubService.js';
import type { RpcServices } from '../interfaces/services.js';
import type { ClaimSearch } from '../search/claimSearch.js';
import { assert } from '../util/assert.js';
import { hashToHex, type Bytes } from '../util/bytes.js';
import type { Logger } from '../util/logging.js';
import { AddressHistories } from './history/addressHistories.js';
import type { AnsweredNote } from './link/answerNotes.js';
import type { BlockingSource } from './claims/blockedClaims.js';
import { BlockTxids } from './history/blockTxids.js';
import { TipSnapshot } from './link/tipSnapshot.js';
import type { HubSearch } from './claims/claimAnswers.js';
import { HeaderService } from './history/headerService.js';
import { HubPeers } from './protocol/hubPeers.js';
import { HubCounters } from './link/hubCounters.js';
import type { HubFacts, OperatorFacts } from './protocol/hubFacts.js';
import type { HubServices } from './link/hubServices.js';
import { HubStartError } from './thread/hubStartError.js';
import { HubThread, type HubThreadSharing } from './thread/hubThread.js';
import type { SearchNote } from './link/portMessages.js';
import type { HubClaimsStart } from './link/portMessages.js';
import { NODE_METHODS } from './methods/nodeMethodTable.js';
import { StatusPort } from './session/statusPort.js';
import { StatusCache } from './history/statusCache.js';
import { TouchWatch } from './history/touchWatch.js';

/** Milliseconds between checks whether the node is ready. */
const READY_LOOK_MS = 500;
/**
 * Milliseconds before the hub's thread is restarted after a failure. The pause doubles with each failure up to
 * `LONGEST_PAUSE_MS`, and is reset when a thread has run longer than this. Arbitrary.
 */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;

export interface HubOptions {
  readonly host: string;
  readonly port: number;
  /** Port for status requests over UDP; null for no status port. */
  readonly udpPort: number | null;
  /** Country code of the hub, a value of the protobuf enum `Location.Country`. */
  readonly country: number;
  readonly maxSessions: number;
  readonly sessionTimeoutSec: number;
  readonly facts: OperatorFacts;
  /** Other hubs that this hub announces to clients, as `host:port`. */
  readonly peers: readonly string[];
  /** Ids (wire order) of the channels whose reposts block claims. */
  readonly blockingChannels: readonly Bytes[];
  /** Time in ms after which a client that does not read is disconnected. Only tests set it. */
  readonly stallMs?: number;
}

export interface HubClaimsPort {
  readonly index: BlockingSource & {
    valuesAt(places: readonly ValuePlace[]): Promise<(Bytes | null)[]>;
  };
  readonly search: (HubSearch & Pick<ClaimSearch, 'shared' | 'note'>) | null;
  readonly rules: ClaimRules;
}

export interface HubDeps {
  readonly node: RpcServices;
  /** Claim index and search; null without a claim index. */
  readonly claims: HubClaimsPort | null;
  readonly log: Logger;
  /** Whether the node has caught up with the chain. Clients are accepted from then on. */
  readonly isReady: () => boolean;
  /** Called if data is inconsistent or the database is broken, after which the node must stop. */
  readonly onException: (error: unknown, method: string) => void;
}

/** Receives each response and notification, for metrics. */
export interface HubObserver {
  answered(method: string, error: { readonly code: number } | null, durationSec: number): void;
  notified(method: string, count: number): void;
}

/**
 * Indexes that must be at the tip before clients are accepted. The search index is not listed, because it is not one of the
 * node's chain indexes.
 */
const NEEDED_INDEXES: readonly string[] = ['txindex', 'addressindex', 'claimindex'];

export class Hub implements HubService {
  observer: HubObserver | null = null;
  private readonly options: HubOptions;
  private readonly deps: HubDeps;
  private readonly peers: HubPeers;
  private readonly counters = new HubCounters();
  private readonly statusPort: StatusPort | null;
  private readonly answered = new Map<string, { requests: number; errors: number }>();
  private readonly notified = new Map<string, number>();
  /** Thread of the hub, and the watch of changes; null until clients are accepted. */
  private clients: { readonly thread: HubThread; readonly watch: TouchWatch } | null = null;
  private readyTimer: NodeJS.Timeout | null = null;
  private restartTimer: NodeJS.Timeout | null = null;
  private restarts = 0;
  /** Reason why the hub ended and clients were disconnected; null while clients can connect. */
  private failure: string | null = null;
  private pauseMs = FIRST_PAUSE_MS;
  private startedMs = 0;
  private isClosed = false;

  constructor(options: HubOptions, deps: HubDeps) {
    this.options = options;
    this.deps = deps;
    this.peers = new HubPeers(options.peers);
    this.statusPort = this.makeStatusPort();
  }

  /** Creates services with caches. The caches are valid only if they are notified of every disconnected block. */
  private makeServices(): HubServices {
    const { node, claims } = this.deps;
    const reader = node.chain;
    return {
      node,
      headers: new HeaderService(reader),
      blockTxids: new BlockTxids(reader),
      histories: new AddressHistories(node, new StatusCache()),
      search: claims?.search ?? null,
      claimValues: (places) => claims?.index.valuesAt(places) ?? Promise.resolve([]),
      timesOf: (heights) => {
        const { active } = reader.chain.index;
        return heights.map((height) => reader.headers.timeSec(active.at(Math.min(height, active.height))));
      },
    };
  }

  private makeStatusPort(): StatusPort | null {
    const { host, udpPort, country } = this.options;
    const { node, log } = this.deps;
    if (udpPort === null) return null;
    const address = host === 'localhost' ? '127.0.0.1' : host;
    if (!isIPv4(address)) {
      log.info(
        `The hub has no status port: it listens at ${host}, and the status port requires an IPv4 address`,
      );
      return null;
    }
    return new StatusPort(
      { host: address, port: udpPort, country },
      {
        tip: () => ({ height: node.chain.chain.height, hash: node.chain.headers.hash(node.chain.chain.tip) }),
        genesisHash: node.params.genesis.hash,
        log,
      },
    );
  }

  /** Data in shared memory that the hub's thread reads itself; null without a claim index. */
  private sharing(): { readonly start: HubClaimsStart; readonly sharing: HubThreadSharing } | null {
    const { node, claims } = this.deps;
    if (claims === null) return null;
    const { rules, search, index } = claims;
    const rows = node.chain.chain.deps.store.share();
    const snapshot = new TipSnapshot();
    const shared = search?.shared ?? null;
    const { blockingChannels } = this.options;
    return {
      start: {
        rows,
        rules,
        snapshot: snapshot.memory,
        blockingChannels,
        search: shared?.setup ?? null,
        addressPrefixes: addressPrefixesOf(node.params),
      },
      sharing: { snapshot, isSynced: () => index.isSynced, search: shared, waiting: node.waiting.feed },
    };
  }

  private startThread(services: HubServices): HubThread {
    const { options, deps, counters } = this;
    const shared = this.sharing();
    return new HubThread(
      {
        host: options.host,
        // A restarted thread uses the same port, so that clients can reconnect.
        port: counters.get('port') || options.port,
        maxSessions: options.maxSessions,
        timeoutMs: options.sessionTimeoutSec * 1000,
        stallMs: options.stallMs,
        facts: this.facts,
        peers: this.peers.list,
        nodeMethods: [...NODE_METHODS.values()].map(({ run: _run, ...shape }) => shape),
        counters: counters.memory,
        claims: shared?.start ?? null,
      },
      {
        reader: deps.node.chain,
        hub: services,
        methods: NODE_METHODS,
        counters,
        log: deps.log,
        failed: deps.onException,
        ended: (error) => this.restartLater(`its thread has exited: ${error.message}`),
        answered: (notes) => this.noteAnswers(notes),
        notified: (method, count) => this.countNotified(method, count),
        searched: (notes) => this.noteSearches(notes),
        availability: (isAvailable) => {
          if (this.statusPort) this.statusPort.available = isAvailable;
        },
      },
      shared?.sharing,
    );
  }

  private get facts(): HubFacts {
    const { params, network } = this.deps.node;
    return {
      ...this.options.facts,
      genesisHash: hashToHex(params.genesis.hash),
      addressPrefixes: addressPrefixesOf(params),
      nodeVersion: network.version,
      nodeUserAgent: network.userAgent,
    };
  }

  private startWatch(thread: HubThread, { histories }: HubServices): TouchWatch {
    const { node, log, onException } = this.deps;
    const { addresses } = node;
    assert(addresses, 'the hub runs without the address index');
    return new TouchWatch({
      reader: node.chain,
      addresses,
      sessions: thread,
      log,
      disconnected: (height) => histories.noteDisconnected(height),
      failed: (error) => onException(error, 'notifications'),
    });
  }

  private noteAnswers(notes: readonly AnsweredNote[]): void {
    for (const [method, code, durationMs, count] of notes) {
      const counts = this.answered.get(method) ?? { requests: 0, errors: 0 };
      this.answered.set(method, counts);
      counts.requests += count;
      if (code !== null) counts.errors += count;
      const error = code === null ? null : { code };
      for (let n = 0; n < count; n++) this.observer?.answered(method, error, durationMs / 1000);
    }
  }

  private noteSearches(notes: readonly SearchNote[]): void {
    for (const [tookMs, timedOut] of notes) this.deps.claims?.search?.note(tookMs, timedOut);
  }

  private countNotified(method: string, count: number): void {
    this.notified.set(method, (this.notified.get(method) ?? 0) + count);
    this.observer?.notified(method, count);
  }

  async addPeer(peer: string): Promise<boolean> {
    if (!this.peers.add(peer)) return false;
    await this.clients?.thread.notePeer(peer, true);
    return true;
  }

  async removePeer(peer: string): Promise<boolean> {
    if (!this.peers.remove(peer)) return false;
    await this.clients?.thread.notePeer(peer, false);
    return true;
  }

  /** Opens the status port, and the main port when the node is ready. Rejects with `HubStartError`. */
  async open(): Promise<void> {
    try {
      await this.statusPort?.open();
    } catch (error) {
      const { host, udpPort } = this.options;
      throw new HubStartError(
        `The hub cannot open its status port at ${host} port ${udpPort}: ${(error as Error).message}. Choose ` +
          'another port with -hubudpport=<port>, or turn it off with -hubudpport=0.',
      );
    }
    if (this.deps.isReady()) return this.listen();
    this.deps.log.info('The hub will accept clients when the node has caught up with the chain');
    this.readyTimer = setInterval(() => {
      if (!this.deps.isReady()) return;
      this.stopLooking();
      this.listenOrRestart();
    }, READY_LOOK_MS).unref();
  }

  private stopLooking(): void {
    if (this.readyTimer !== null) clearInterval(this.readyTimer);
    this.readyTimer = null;
  }

  private async listen(): Promise<void> {
    if (this.isClosed) return;
    const services = this.makeServices();
    const thread = this.startThread(services);
    this.clients = { thread, watch: this.startWatch(thread, services) };
    this.startedMs = performance.now();
    await thread.open();
    this.failure = null;
    const udp = this.statusPort ? `, status at UDP port ${this.statusPort.port}` : '';
    this.deps.log.info(`The hub listens at ${this.options.host} port ${this.counters.get('port')}${udp}`);
  }

  private listenOrRestart(): void {
    this.listen().catch((error: unknown) => this.restartLater((error as Error).message));
  }

  /** Restarts the thread after a pause, because a failure may be temporary. */
  private restartLater(reason: string): void {
    const { clients } = this;
    this.clients = null;
    clients?.watch.stop().catch(() => undefined);
    clients?.thread.close().catch(() => undefined);
    if (this.isClosed || this.restartTimer !== null) return;
    if (performance.now() - this.startedMs > LONGEST_PAUSE_MS) this.pauseMs = FIRST_PAUSE_MS;
    const { pauseMs } = this;
    this.pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
    this.failure = reason;
    this.deps.log.warn(`The hub is being restarted in ${pauseMs / 1000} s: ${reason}`);
    this.restartTimer = setTimeout(() => {
      this.restartTimer = null;
      this.restarts++;
      this.listenOrRestart();
    }, pauseMs).unref();
  }

  /** Status of the hub, for health checks. */
  get status(): HubStatus {
    const { counters, options, statusPort } = this;
    return {
      listening: counters.get('isListening') === 1,
      host: options.host,
      port: counters.get('port') || options.port,
      udpPort: statusPort?.port ?? null,
      failure: this.failure,
      restarts: this.restarts,
      height: this.servedHeight,
      sessions: counters.get('sessions'),
      maxSessions: options.maxSessions,
      stalled: counters.get('stalled'),
      unsentBytes: counters.get('unsentBytes'),
      subscriptions: counters.get('subscriptions'),
      running: counters.get('running'),
      waiting: counters.get('waiting'),
      peers: this.peers.list,
      answered: this.answered,
      notified: this.notified,
    };
  }

  /**
   * Height up to which clients can see all data: the lowest of the notified tip's height and the heights of the needed
   * indexes.
   */
  private get servedHeight(): number {
    const { node } = this.deps;
    const heights = node
      .indexes()
      .flatMap(({ name, height }) => (NEEDED_INDEXES.includes(name) ? [height] : []));
    if (node.claimSearch) heights.push(node.claimSearch.status().tip?.height ?? -1);
    return Math.min(this.clients?.watch.notifiedHeight ?? node.chain.chain.height, ...heights);
  }

  /** Disconnects all clients and closes the ports. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.stopLooking();
    if (this.restartTimer !== null) clearTimeout(this.restartTimer);
    const { clients } = this;
    await clients?.thread.close();
    await Promise.all([clients?.watch.stop(), this.statusPort?.close()]);
  }
}
