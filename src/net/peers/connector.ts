/**
 * Opens connections: only to the nodes of `-connect`, or to eight addresses of the address book in different network groups,
 * with occasional feelers, and to the nodes of `-addnode`. It also requests addresses from seeds. It does not handle
 * messages. Source: Core net.cpp `ThreadOpenConnections`, `ThreadOpenAddedConnections`, `OpenNetworkConnection`,
 * `ProcessOneShot`.
 */
import type { Socket } from 'node:net';
import { setTimeout as systemSleep } from 'node:timers/promises';
import type { Logger } from '../../util/logging.js';
import type { PeerAddressBook } from '../addressBook/peerAddressBook.js';
import { DialError, type Dialer } from '../dial.js';
import {
  addressKey,
  formatNetAddress,
  groupOf,
  NO_ADDRESS,
  parseNetAddress,
  type NetAddress,
} from '../netAddress.js';
import type { ConnectionKind, RandomSource } from '../messageHandler.js';
import { hasDesirableServices, mayKnowAddresses } from '../services.js';
import { endOf } from './listener.js';
import type { PeerManager } from './peerManager.js';
import type { PeerSession } from './peerSession.js';

export interface ConnectorOptions {
  /** Nodes of `-connect`; null for automatic connections. An empty list disables all. */
  connect: readonly string[] | null;
  addNodes: readonly string[];
  seedNodes: readonly string[];
  maxConnections: number;
  /** Maximum number of automatic connections. */
  maxOutbound: number;
  defaultPort: number;
}

export interface ConnectorDeps {
  peers: PeerManager;
  book: PeerAddressBook;
  log: Logger;
  random: RandomSource;
  nowMs(): number;
  adjustedTimeSec(): number;
  isBanned(address: NetAddress): boolean;
  /** Whether the address is one of our own. */
  isOwn(address: NetAddress): boolean;
  /** Whether options exclude its network (`-onlynet`). */
  isLimited(address: NetAddress): boolean;
  /** Whether our tip is stale, so that one more outbound peer is wanted. */
  wantsExtraOutbound(): boolean;
  /** Adds the addresses built into the program, when no others are available. */
  addFixedSeeds(): void;
  dialer: Dialer;
  /** Resolves after this many milliseconds, or rejects as soon as the signal aborts; by default the system's timers. */
  sleep?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

const MAX_ADDED = 8;
/** Additional connections: for a feeler, or for one more peer while the tip is stale. */
const EXTRA_PLACES = 1;
const ROUND_MS = 500;
const FEELER_INTERVAL_MS = 120_000;
const FEELER_NOISE_MS = 1000;
const FIXED_SEEDS_AFTER_MS = 60_000;
const MAX_DRAWS = 100;
/** An address tried within this time is skipped in the first draws. */
const RETRY_SEC = 600;
const ADDED_INTERVAL_MS = 60_000;

export interface AddedNode {
  name: string;
  /** Resolved address while connected. */
  connected: { address: string; inbound: boolean } | null;
}

export class Connector {
  private readonly options: ConnectorOptions;
  private readonly deps: ConnectorDeps;
  private readonly added: string[];
  private readonly oneShots: string[];
  private readonly stopping = new AbortController();
  private readonly loops: Promise<void>[] = [];
  private wakeAdded: AbortController = new AbortController();
  /** Connections that use a slot of `-addnode`. Those of `-connect` and `addnode onetry` do not. Source: `semAddnode`. */
  private readonly inAddedPlaces = new Set<PeerSession>();
  /** Connections being opened, by name or address. */
  private readonly opening = new Set<string>();

  constructor(options: ConnectorOptions, deps: ConnectorDeps) {
    this.options = options;
    this.deps = deps;
    this.added = [...new Set(options.addNodes)];
    this.oneShots = [...options.seedNodes];
  }

  start(onBug: (error: unknown) => void): void {
    const { connect } = this.options;
    const main = connect === null ? this.openAutomatically() : this.openNamed(connect);
    for (const loop of [main, this.openAdded()]) {
      this.loops.push(
        loop.catch((error: unknown) => {
          if (!this.stopping.signal.aborted) onBug(error);
        }),
      );
    }
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    this.wakeAdded.abort();
    await Promise.all(this.loops);
  }

  /** Connects to a node once to request addresses. */
  addOneShot(name: string): void {
    this.oneShots.push(name);
  }

  /** The nodes of `-addnode` and of the addnode method. */
  addedNodes(): AddedNode[] {
    return this.added.map((name) => {
      const numeric = parseNetAddress(name, this.options.defaultPort);
      for (const peer of this.deps.peers.peers()) {
        const isIt = numeric ? addressKey(peer.remote) === addressKey(numeric) : peer.name === name;
        if (isIt)
          return { name, connected: { address: formatNetAddress(peer.remote), inbound: peer.isInbound } };
      }
      return { name, connected: null };
    });
  }

  /** False if it was already added. */
  addNode(name: string): boolean {
    if (this.added.includes(name)) return false;
    this.added.push(name);
    this.wakeAdded.abort();
    return true;
  }

  /** False if it was not in the list. */
  removeNode(name: string): boolean {
    const at = this.added.indexOf(name);
    if (at < 0) return false;
    this.added.splice(at, 1);
    return true;
  }

  /** Tries to connect to a node once (`addnode onetry`). */
  async tryOnce(name: string): Promise<void> {
    await this.open(name, 'manual', false);
  }

  private async sleep(ms: number, signal: AbortSignal): Promise<void> {
    const { sleep } = this.deps;
    await (sleep ? sleep(ms, signal) : systemSleep(ms, undefined, { signal }));
  }

  private pause(ms: number): Promise<void> {
    return this.sleep(ms, this.stopping.signal);
  }

  private async processOneShot(): Promise<void> {
    const name = this.oneShots.shift();
    if (name !== undefined) await this.open(name, 'oneShot', false);
  }

  /** `-connect`: tries the same nodes repeatedly, with a growing pause after each round. */
  private async openNamed(names: readonly string[]): Promise<void> {
    for (let round = 0; names.length > 0 || this.oneShots.length > 0; round++) {
      await this.processOneShot();
      for (const name of names) {
        await this.open(name, 'manual', false);
        await this.pause(ROUND_MS * Math.min(10, round));
      }
      await this.pause(ROUND_MS);
    }
  }

  private async openAdded(): Promise<void> {
    for (;;) {
      let tried = false;
      for (const { name, connected } of this.addedNodes()) {
        if (connected) continue;
        for (const peer of this.inAddedPlaces) if (peer.isGone) this.inAddedPlaces.delete(peer);
        if (this.inAddedPlaces.size >= MAX_ADDED) break;
        tried = true;
        const peer = await this.open(name, 'manual', false);
        if (peer) this.inAddedPlaces.add(peer);
        await this.pause(ROUND_MS);
      }
      if (this.stopping.signal.aborted) return;
      // It is aborted when the node stops. A combined signal is not used, because the long-lived signal would retain each
      // of them.
      this.wakeAdded = new AbortController();
      const pauseMs = tried ? ADDED_INTERVAL_MS : ADDED_INTERVAL_MS / 30;
      await this.sleep(pauseMs, this.wakeAdded.signal).catch(() => undefined);
    }
  }

  private async openAutomatically(): Promise<void> {
    const { deps, options } = this;
    const startedMs = deps.nowMs();
    let nextFeelerMs = startedMs + this.poisson(FEELER_INTERVAL_MS);
    let hasFixedSeeds = false;
    const places = Math.min(options.maxOutbound + EXTRA_PLACES, options.maxConnections);
    for (;;) {
      await this.processOneShot();
      await this.pause(ROUND_MS);
      if (!deps.peers.isActive) continue;
      if (deps.book.size === 0 && !hasFixedSeeds && deps.nowMs() - startedMs > FIXED_SEEDS_AFTER_MS) {
        deps.addFixedSeeds();
        hasFixedSeeds = true;
      }
      const outbound = deps.peers.countOf('outbound', 'feeler', 'oneShot');
      if (outbound >= places) continue;
      const isFull = outbound >= options.maxOutbound && !deps.wantsExtraOutbound();
      if (isFull && deps.nowMs() <= nextFeelerMs) continue;
      if (isFull) nextFeelerMs = deps.nowMs() + this.poisson(FEELER_INTERVAL_MS);
      const groups = this.connectedGroups();
      const address = this.draw(isFull, groups);
      if (address === null) continue;
      if (isFull) {
        // A random delay, so that feelers of many nodes do not arrive at the same time.
        await this.pause(deps.random.int(FEELER_NOISE_MS));
        deps.log.debug('net', `Making feeler connection to ${formatNetAddress(address)}`);
      }
      const countsFailure = groups.size >= Math.min(options.maxConnections - 1, 2);
      await this.open(address, isFull ? 'feeler' : 'outbound', countsFailure);
    }
  }

  private poisson(meanMs: number): number {
    return -Math.log(1 - this.deps.random.int(2 ** 30) / 2 ** 30) * meanMs;
  }

  /** Network groups of the automatic connections: one connection for each group. */
  private connectedGroups(): Set<string> {
    const groups = new Set<string>();
    for (const peer of this.deps.peers.peers()) {
      if (peer.kind === 'outbound' || peer.kind === 'feeler' || peer.kind === 'oneShot')
        groups.add(groupOf(peer.remote).toString('latin1'));
    }
    return groups;
  }

  private draw(isFeeler: boolean, groups: ReadonlySet<string>): NetAddress | null {
    const { book, adjustedTimeSec, isOwn, isLimited } = this.deps;
    book.resolveCollisions();
    for (let draws = 1; draws <= MAX_DRAWS; draws++) {
      const chosen = (isFeeler ? book.selectTriedCollision() : null) ?? book.select(isFeeler);
      if (chosen === null) return null;
      const { address } = chosen;
      if (groups.has(groupOf(address).toString('latin1')) || isOwn(address)) return null;
      if (isLimited(address)) continue;
      if (adjustedTimeSec() - chosen.lastTrySec < RETRY_SEC && draws < 30) continue;
      if (isFeeler ? !mayKnowAddresses(chosen.services) : !hasDesirableServices(chosen.services)) continue;
      if (address.port !== this.options.defaultPort && draws < 50) continue;
      return address;
    }
    return null;
  }

  /** Opens a connection, unless one already exists or is not allowed; null if none was opened. */
  private async open(
    target: NetAddress | string,
    kind: ConnectionKind,
    countsFailure: boolean,
  ): Promise<PeerSession | null> {
    const { deps } = this;
    if (!deps.peers.isActive) return null;
    const name = typeof target === 'string' ? target : undefined;
    const numeric = typeof target === 'string' ? parseNetAddress(target, this.options.defaultPort) : target;
    if (this.isConnected(name, numeric)) return null;
    // A peer named by the operator is connected even if it is banned, or has the address of another peer.
    if (name === undefined && this.isUnfit(numeric!)) return null;
    const key = name ?? addressKey(numeric!);
    if (this.opening.has(key)) return null;
    this.opening.add(key);
    const shown = name ?? formatNetAddress(numeric!);
    try {
      deps.log.debug('net', `trying connection ${shown}`);
      return await this.dial(target, kind, countsFailure);
    } catch (error) {
      if (!(error instanceof DialError)) throw error;
      deps.log.debug('net', `connecting to ${shown} failed: ${error.message}`);
      return null;
    } finally {
      this.opening.delete(key);
    }
  }

  private async dial(
    target: NetAddress | string,
    kind: ConnectionKind,
    countsFailure: boolean,
  ): Promise<PeerSession | null> {
    const { deps } = this;
    const context = { signal: this.stopping.signal, isManual: kind === 'manual' };
    const name = typeof target === 'string' ? target : undefined;
    const located =
      typeof target === 'string' ? await deps.dialer.locate(target, context) : { address: target };
    const { address } = located;
    if (address && this.isConnected(undefined, address)) return null;
    let socket: Socket;
    try {
      socket = await deps.dialer.connect(located, context);
    } catch (error) {
      const isKnown = !(error instanceof DialError && error.isProxyFailure);
      if (address && isKnown && !context.signal.aborted) deps.book.attempt(address, countsFailure);
      throw error;
    }
    if (address) deps.book.attempt(address, countsFailure);
    if (this.stopping.signal.aborted || !deps.peers.isActive) {
      socket.destroy();
      return null;
    }
    return deps.peers.add(socket, {
      kind,
      remote: address ?? NO_ADDRESS,
      local: endOf(socket.localAddress, socket.localPort),
      // `-whitelist` applies to inbound peers only.
      isWhitelisted: false,
      ...(name !== undefined ? { name } : {}),
    });
  }

  /** Whether an address of the book must not be used: a second connection to a host has no benefit. */
  private isUnfit(address: NetAddress): boolean {
    const { peers, isOwn, isBanned } = this.deps;
    if (isOwn(address) || isBanned(address)) return true;
    for (const { remote } of peers.peers()) if (remote.ip.equals(address.ip)) return true;
    return false;
  }

  private isConnected(name: string | undefined, address: NetAddress | null): boolean {
    for (const peer of this.deps.peers.peers()) {
      if (name !== undefined && peer.name === name) return true;
      if (address && addressKey(peer.remote) === addressKey(address)) return true;
    }
    return false;
  }
}
