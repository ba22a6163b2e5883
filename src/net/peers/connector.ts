/**
 * Opens outbound connections. With `-connect` it connects only to the nodes that this option names. Otherwise it selects
 * eight addresses in different network groups from the address book, opens occasional feelers, and connects to the nodes of
 * `-addnode`. It also requests addresses from seeds. It does not handle messages. Source: Core net.cpp
 * `ThreadOpenConnections`, `ThreadOpenAddedConnections`, `OpenNetworkConnection`, `ProcessOneShot`.
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
  /**
   * Nodes set by `-connect`; null if the node selects peers automatically. With an empty list the node opens no outbound
   * connections of its own.
   */
  connect: readonly string[] | null;
  addNodes: readonly string[];
  seedNodes: readonly string[];
  maxConnections: number;
  /** Maximum number of outbound connections that the node opens on its own. */
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
  /** Whether the address is an address of this node. */
  isOwn(address: NetAddress): boolean;
  /** Whether the network of the address is excluded by the options (`-onlynet`). */
  isLimited(address: NetAddress): boolean;
  /** Whether one outbound peer above the maximum is wanted, because the tip of this node is stale. */
  wantsExtraOutbound(): boolean;
  /** Adds the addresses that are compiled into the program to the address book. Called when no other addresses are available. */
  addFixedSeeds(): void;
  dialer: Dialer;
  /** Resolves after `ms` milliseconds, or rejects as soon as the signal aborts. Default: system timers. */
  sleep?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

const MAX_ADDED = 8;
/** Number of automatic connections in addition to `maxOutbound`: a feeler, or an extra peer while the tip is stale. */
const EXTRA_PLACES = 1;
const ROUND_MS = 500;
const FEELER_INTERVAL_MS = 120_000;
const FEELER_NOISE_MS = 1000;
const FIXED_SEEDS_AFTER_MS = 60_000;
const MAX_DRAWS = 100;
/** Seconds after an attempt during which an address is skipped in the first random draws from the address book. */
const RETRY_SEC = 600;
const ADDED_INTERVAL_MS = 60_000;

export interface AddedNode {
  name: string;
  /** Current connection to the node, with the resolved address; null if not connected. */
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
  /** Peers that use a connection slot of `-addnode`. Peers of `-connect` and `addnode onetry` use none. Source: `semAddnode`. */
  private readonly inAddedPlaces = new Set<PeerSession>();
  /** Names or address keys of connections that are being opened. */
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

  /** Queues a short connection to a node that only requests addresses. */
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

  /** Adds a node to the list of added nodes. Returns false if the list already contains it. */
  addNode(name: string): boolean {
    if (this.added.includes(name)) return false;
    this.added.push(name);
    this.wakeAdded.abort();
    return true;
  }

  /** Removes a node from the list of added nodes. Returns false if the list does not contain it. */
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

  /** Tries the nodes of `-connect` repeatedly, with a growing pause after each round. */
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
      // `stop` aborts this controller directly. With `AbortSignal.any` the signal of the stop, which exists as long as the
      // node, would retain every combined signal.
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
        // A random delay prevents the feelers of many nodes from reaching an address at the same time.
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

  /** Network groups of the connected automatic peers. Each group may have only one such peer. */
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

  /**
   * Opens a connection. Returns null if no connection was opened, for example because the target is already connected or not
   * allowed.
   */
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
    // A peer named by the operator is connected even if its address is banned or already connected.
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
      // Outbound peers are never whitelisted, because `-whitelist` applies to inbound peers only.
      isWhitelisted: false,
      ...(name !== undefined ? { name } : {}),
    });
  }

  /**
   * Whether an address of the address book must not be used: it is an address of this node, banned, or already connected. A
   * second connection to the same host has no benefit.
   */
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
