/**
 * A node of the DHT: joins the network, announces blobs, finds peers that have blobs, and answers requests.
 * Source: lbry-sdk lbry/dht/node.py `Node`.
 */
import { sleep, type Clock, type DaemonRandom } from '../base/clock.js';
import type { Logger } from '../../util/logging.js';
import { Announcements } from './announcements.js';
import { Answers } from './answers.js';
import {
  contactAt,
  endpointFault,
  toContact,
  type Contact,
  type UdpEndpoint,
  type Target,
} from './contact.js';
import { FIRST_REFRESH_MS, K, PING_DELAY_MS, REFRESH_MS, TOKEN_MS } from './kademlia.js';
import { lookUpNode, lookUpNodes, lookUpPeers } from './lookup.js';
import { PeerBook } from './peerBook.js';
import { RoutingTable, type Bucket } from './routingTable.js';
import { RequestFailure, Rpc, type BlobPeer, type FoundValue } from './rpc.js';
import { TableKeeper } from './tableKeeper.js';
import { Tokens } from './tokens.js';
import type { UdpPort } from './udpPort.js';

/** First and longest pause between attempts to join the network. */
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [1000, 30_000];
/** Maximum number of stored peers that are queried first when the node joins the network. */
const MAX_SEEDS = 200;
/**
 * Number of nodes that a lookup returns (`LOOKUP_NODES`), also while joining (`JOIN_NODES`). Source: `peer_search`,
 * `join_network`.
 */
const [LOOKUP_NODES, JOIN_NODES] = [2 * K, 4 * K];
/** Maximum number of peers that are stored for the next start. */
const MAX_STORED = 2000;

/** Maximum number of reported endpoints of one node id that are pinged. Dishonest nodes may report any number. */
const MAX_LOCATED = 8;

/** A peer, as stored for the next start. */
export interface StoredPeer {
  /** 48 bytes. */
  readonly nodeId: Uint8Array;
  readonly address: string;
  readonly udpPort: number;
  readonly tcpPort: number | null;
}

export interface DhtNodeOptions {
  readonly clock: Clock;
  readonly random: DaemonRandom;
  readonly log: Logger;
  readonly port: UdpPort;
  /** 48 bytes. */
  readonly nodeId: Buffer;
  readonly splitBucketsUnderIndex: number;
  readonly isBootstrapNode: boolean;
  readonly rpcTimeoutMs: () => number;
  /** Addresses of the configured bootstrap nodes whose names could be resolved. Used in addition to stored peers. */
  readonly knownNodes: () => Promise<readonly UdpEndpoint[]>;
  readonly peerStore: {
    load(): Promise<readonly StoredPeer[]>;
    /** Replaces all stored peers by these peers. */
    save(peers: readonly StoredPeer[]): Promise<void>;
  };
  /** External address of this node (null while unknown) and the ports that a gateway forwards to it. */
  readonly external: () => {
    readonly address: string | null;
    readonly udpPort: number;
    readonly tcpPort: number;
  };
  /** Whether this node has the whole blob (hash in hexadecimal digits) on disk. */
  readonly hasBlob: (hash: string) => boolean;
  /** Whether peers on the loopback network are accepted: for tests and for networks on one machine. */
  readonly allowLocalhost?: boolean;
}

/** Number of nodes near a hash that were asked to store an announcement, and number of nodes that stored it. */
export interface Announced {
  readonly found: number;
  readonly accepted: number;
}

export class DhtNode {
  readonly nodeId: Buffer;
  readonly book: PeerBook;
  readonly table: RoutingTable;
  readonly announcements: Announcements;
  readonly tokens: Tokens;
  readonly rpc: Rpc;
  readonly #options: DhtNodeOptions;
  readonly #keeper: TableKeeper;
  readonly #stopping = new AbortController();
  #isJoined = false;
  #onJoined: (() => void)[] = [];
  #emptied: () => void = () => undefined;
  #hasStarted = false;

  constructor(options: DhtNodeOptions) {
    const { clock, random, nodeId, port, allowLocalhost = false } = options;
    this.#options = options;
    this.nodeId = nodeId;
    this.book = new PeerBook(clock);
    this.table = new RoutingTable({
      ownId: nodeId,
      clock,
      book: this.book,
      splitUnder: options.splitBucketsUnderIndex,
      isBootstrap: options.isBootstrapNode,
    });
    this.announcements = new Announcements(clock, this.book);
    this.tokens = new Tokens(random);
    const answers = new Answers({
      ownId: nodeId,
      table: this.table,
      book: this.book,
      announcements: this.announcements,
      tokens: this.tokens,
      ownPlace: () => {
        const { address, tcpPort } = options.external();
        return address === null ? null : { address, tcpPort };
      },
      hasBlob: options.hasBlob,
    });
    this.rpc = new Rpc({
      clock,
      random,
      port,
      ownId: nodeId,
      book: this.book,
      timeoutMs: options.rpcTimeoutMs,
      allowLocalhost,
      answer: (asker, request) => answers.answer(asker, request),
      onReply: (contact) => this.#keeper.add(contact),
      onRequest: (contact) => this.#noteRequest(contact),
      onBad: (contact) => this.#remove(contact),
    });
    this.#keeper = new TableKeeper({
      clock,
      table: this.table,
      book: this.book,
      ownId: nodeId,
      ping: (target) => this.#answers(target),
      stopping: this.#stopping.signal,
    });
  }

  /** Starts to join the network, and retries until `stop` is called. */
  start(): void {
    if (this.#hasStarted) throw new Error('a DHT node is started once');
    this.#hasStarted = true;
    void this.#stayJoined();
    void this.#rotateTokens();
  }

  /** Leaves the network: stores the known peers and closes the port. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.rpc.close();
    this.#emptied();
    await this.#options.port.close();
    if (this.#hasStarted) await this.#savePeers();
  }

  get isJoined(): boolean {
    return this.#isJoined && this.table.size > 0;
  }

  /** Resolves as soon as the node knows other nodes. */
  joined(): Promise<void> {
    if (this.isJoined) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onJoined.push(resolve);
    });
  }

  get buckets(): readonly Bucket[] {
    return this.table.buckets;
  }

  /** Pings a node. Rejects with `RequestFailure`, or with `RangeError` for an address that a peer cannot have. */
  async ping(nodeId: Buffer, address: string, udpPort: number): Promise<void> {
    const fault = endpointFault(address, udpPort, this.#options.allowLocalhost ?? false);
    if (fault !== null) throw new RangeError(fault);
    await this.rpc.ping(contactAt(nodeId, address, udpPort));
  }

  /**
   * Locates the node with this id, in the routing table or else by asking other nodes, and pings it. Resolves to whether it
   * was found. Rejects with `RequestFailure` if it was found and does not answer.
   */
  async locateAndPing(nodeId: Buffer): Promise<boolean> {
    const known = this.table.get(nodeId);
    const [first, ...others] =
      known === null
        ? await lookUpNode(this.#nodeLookupDeps(), nodeId, {
            seeds: this.table.closest(nodeId),
            signal: this.#stopping.signal,
          })
        : [known];
    if (first === undefined) return false;
    for (const contact of [first, ...others.slice(0, MAX_LOCATED - 1)])
      if (await this.#answers(contact)) return true;
    throw new RequestFailure('timeout', 'the node does not answer');
  }

  /** Finds the nodes nearest to the key that answer. */
  async findNodes(
    key: Buffer,
    seeds: readonly Target[] = this.table.closest(key),
    count = LOOKUP_NODES,
  ): Promise<Contact[]> {
    return lookUpNodes(this.#nodeLookupDeps(), key, { seeds, count, signal: this.#stopping.signal });
  }

  /** Yields the peers that announced the hash, in groups as they are found. Peers that announced it to this node come first. */
  async *findPeers(key: Buffer, signal: AbortSignal): AsyncGenerator<readonly BlobPeer[]> {
    const known = this.announcements
      .peersOf(key)
      .map(({ contact: { nodeId, address }, tcpPort }) => ({ nodeId, address, tcpPort }));
    const ending = new AbortController();
    const end = (): void => ending.abort();
    const signals = [signal, this.#stopping.signal];
    if (signals.some(({ aborted }) => aborted)) return;
    for (const other of signals) other.addEventListener('abort', end);
    const findValue = (target: Target, wanted: Buffer, page: number): Promise<FoundValue> =>
      this.rpc.findValue(target, wanted, page);
    try {
      yield* lookUpPeers({ ...this.#lookupDeps(), findValue }, key, {
        known,
        seeds: this.table.closest(key),
        signal: ending.signal,
      });
    } finally {
      for (const other of signals) other.removeEventListener('abort', end);
      end();
    }
  }

  /** Announces that this node has the blob, to the nodes nearest to its hash. */
  async announce(hash: Buffer): Promise<Announced> {
    const nodes = (await this.findNodes(hash)).slice(0, K);
    const accepted = await Promise.all(nodes.map((node) => this.#storeAt(node, hash)));
    return { found: nodes.length, accepted: accepted.filter(Boolean).length };
  }

  /** Looks up ids of all parts of the table, pings contacts in an unknown state, removes old announcements, stores the peers. */
  async refresh(): Promise<void> {
    const { random } = this.#options;
    this.announcements.expire();
    const seen = new Map<string, Contact>();
    const see = (contacts: readonly Contact[]): void => {
      for (const contact of contacts) seen.set(contact.key, contact);
    };
    see(this.table.contacts());
    see(this.announcements.contacts());
    for (const id of this.table.refreshIds(random)) {
      if (this.#stopping.signal.aborted) return;
      see(await this.findNodes(id));
    }
    const doubtful = [...seen.values()].filter((contact) => this.book.goodness(contact) !== 'good');
    if (this.#stopping.signal.aborted) return;
    this.#keeper.pingLater(doubtful, 0);
    await this.#savePeers();
  }

  /** Queues the contact for insertion in the routing table. */
  add(contact: Contact): void {
    this.#keeper.add(contact);
  }

  #lookupDeps() {
    const isSelf = (address: string, udpPort: number): boolean => {
      const own = this.#options.external();
      return own.address === address && own.udpPort === udpPort;
    };
    return { ownId: this.nodeId, book: this.book, isSelf };
  }

  #nodeLookupDeps() {
    const findNode = (target: Target, wanted: Buffer): Promise<Contact[]> =>
      this.rpc.findNode(target, wanted);
    return { ...this.#lookupDeps(), findNode };
  }

  async #answers(target: Target): Promise<boolean> {
    try {
      await this.rpc.ping(target);
      return true;
    } catch (error) {
      if (error instanceof RequestFailure) return false;
      throw error;
    }
  }

  /** Stores the announcement at one node. If the node refuses the token, requests a new token and tries again. */
  async #storeAt(node: Contact, hash: Buffer): Promise<boolean> {
    const { tcpPort } = this.#options.external();
    const hadToken = this.book.tokenOf(node.nodeId) !== null;
    for (const isLast of hadToken ? [false, true] : [true])
      try {
        await this.rpc.store(node, hash, tcpPort);
        return true;
      } catch (error) {
        if (!(error instanceof RequestFailure)) throw error;
        if (isLast || error.reason !== 'error') return false;
      }
    return false;
  }

  /**
   * Adds the sender of a request to the routing table only if the sender has replied before. Otherwise pings it later.
   * lbry-sdk delays each ping by five minutes; this node pings sooner, so that the first nodes of a network know each other
   * within seconds.
   */
  #noteRequest(contact: Contact): void {
    const goodness = this.book.goodness(contact);
    if (goodness === 'good') this.#keeper.add(contact);
    else if (goodness === 'unknown')
      this.#keeper.pingLater(
        [contact],
        PING_DELAY_MS[this.table.hasRoomFor(contact.nodeId) ? 'room' : 'full'],
      );
  }

  #remove(contact: Contact): void {
    this.#keeper.remove(contact);
    if (this.table.size === 0) this.#emptied();
  }

  async #stayJoined(): Promise<void> {
    const { clock, log } = this.#options;
    const { signal } = this.#stopping;
    let pauseMs = FIRST_PAUSE_MS;
    while (!signal.aborted) {
      await this.#join();
      if (signal.aborted) return;
      if (this.table.size === 0) {
        this.announcements.expire();
        await sleep(clock, pauseMs, signal);
        pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
        continue;
      }
      pauseMs = FIRST_PAUSE_MS;
      this.#isJoined = true;
      for (const resolve of this.#onJoined.splice(0)) resolve();
      log.info(`The DHT was joined. Known peers: ${this.table.size}.`);
      await this.#refreshWhileJoined();
      this.#isJoined = false;
    }
  }

  /**
   * Refreshes the routing table immediately, after a minute, and then with pauses that double up to an hour, until the table
   * is empty.
   */
  async #refreshWhileJoined(): Promise<void> {
    const ending = new AbortController();
    const end = (): void => ending.abort();
    this.#emptied = end;
    let pauseMs = FIRST_REFRESH_MS;
    await this.#savePeers();
    do {
      await this.refresh();
      if (this.table.size === 0 || this.#stopping.signal.aborted) return;
      const hasPassed = await sleep(this.#options.clock, pauseMs, ending.signal);
      if (!hasPassed) return;
      pauseMs = Math.min(2 * pauseMs, REFRESH_MS);
    } while (this.table.size > 0);
  }

  /** Queries stored peers and known nodes concurrently for the nodes near this node. */
  async #join(): Promise<void> {
    const { peerStore, knownNodes, log, allowLocalhost = false } = this.#options;
    const [stored, known] = await Promise.all([
      peerStore.load().catch((error: unknown) => {
        log.warn(`The stored peers of the DHT could not be read: ${(error as Error).message}`);
        return [];
      }),
      knownNodes(),
    ]);
    const seeds: Target[] = stored
      .slice(0, MAX_SEEDS)
      .flatMap(
        ({ nodeId, address, udpPort }) =>
          toContact(Buffer.from(nodeId), address, udpPort, allowLocalhost) ?? [],
      );
    const { isSelf } = this.#lookupDeps();
    for (const { address, udpPort } of known)
      if (endpointFault(address, udpPort, allowLocalhost) === null && !isSelf(address, udpPort))
        seeds.push({ nodeId: null, address, udpPort });
    if (this.#stopping.signal.aborted || seeds.length === 0) return;
    this.book.reset();
    this.#keeper.pingLater(seeds, 0);
    await this.findNodes(this.nodeId, seeds, JOIN_NODES);
  }

  async #rotateTokens(): Promise<void> {
    while (await sleep(this.#options.clock, TOKEN_MS, this.#stopping.signal)) this.tokens.rotate();
  }

  /**
   * Stores the known peers. If the routing table is empty, nothing is stored, so that a start without a network does not
   * delete the peers of earlier runs.
   */
  async #savePeers(): Promise<void> {
    const { peerStore, log } = this.#options;
    const contacts = this.table.contacts().slice(0, MAX_STORED);
    if (contacts.length === 0) return;
    const peers = contacts.map((contact) => ({
      nodeId: contact.nodeId,
      address: contact.address,
      udpPort: contact.udpPort,
      tcpPort: this.book.tcpPortOf(contact),
    }));
    try {
      await peerStore.save(peers);
    } catch (error) {
      log.warn(`The peers of the DHT could not be stored: ${(error as Error).message}`);
    }
  }
}
