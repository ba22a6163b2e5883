/**
 * Manages all peers: creates peers for sockets, counts slots, decides which peer is handled next, updates misbehaviour
 * scores, bans and disconnects. `connector.ts` decides about outbound connections, `listener.ts` about inbound connections,
 * and the message handlers about messages. Source: Core net.cpp `CConnman`, net_processing.cpp `Misbehaving`,
 * `SendRejectsAndCheckIfBanned`.
 */
import type { Socket } from 'node:net';
import { sha256 } from '../../crypto/hash.js';
import type { Logger } from '../../util/logging.js';
import { peerQueue, type PeerQueue } from '../../scheduler/peerQueue.js';
import { SerialQueue } from '../../scheduler/serialQueue.js';
import { MESSAGES } from '../messages/table.js';
import type { VersionMessage } from '../messages/version.js';
import {
  formatNetAddress,
  groupOf,
  isLocal,
  isRoutable,
  isValid,
  NO_ADDRESS,
  type NetAddress,
} from '../netAddress.js';
import type { ConnectionKind, MessageHandler, Peer, RandomSource } from '../messageHandler.js';
import { DESIRABLE_SERVICES, hasDesirableServices } from '../services.js';
import { Connection } from './connection.js';
import { ReceiveBudget } from './receiveBudget.js';
import { PeerSession, PROTOCOL_VERSION, REJECT_CODE, type SessionHost } from './peerSession.js';

export interface PeerManagerOptions {
  magic: Buffer;
  /** `-banscore`. */
  banScore: number;
  /** Limits of the receive buffer and the send buffer of a peer, in bytes (`-maxreceivebuffer`, `-maxsendbuffer`). */
  maxReceiveBytes: number;
  maxSendBytes: number;
  /** `-enablebip61`. */
  sendsRejects: boolean;
  /** `-dropmessagestest`. */
  dropsOneIn: number;
  /** `-logips`. */
  logsAddresses: boolean;
  userAgent: string;
  /** Whether this node wants transactions from peers (false with `-blocksonly`). */
  relaysTransactions: boolean;
}

/** Events of the peer layer that update the address book. */
export interface AddressNotes {
  good(address: NetAddress): void;
  connected(address: NetAddress): void;
  setServices(address: NetAddress, services: bigint): void;
}

export interface PeerManagerDeps {
  log: Logger;
  random: RandomSource;
  addresses: AddressNotes;
  /** Bans an address for the duration of `-bantime`. */
  ban(address: NetAddress): void;
  nowMs(): number;
  nowSec(): number;
  /** Returns the network-adjusted time in seconds, for the version message of this node. */
  adjustedTimeSec(): number;
  /** Returns the height of the active chain. */
  height(): number;
  localServices(): bigint;
  /** Called with the number of bytes of each message sent to any peer. */
  onSent(bytes: number): void;
  /**
   * Called with the version message of each peer. The message contains the peer's clock and, from an inbound peer, the
   * address at which the peer sees this node.
   */
  onVersion(peer: Peer, message: VersionMessage): void;
  /** Fair queue that schedules the turns of all peers. Default: the queue of the process. */
  turns?: PeerQueue;
}

/** Milliseconds between ticks, in which message handlers send messages that are due. */
const TICK_MS = 100;
/** Maximum time in ms that one tick spends on peers without a yield. The remaining peers are served later, in their own turns. */
const TICK_LIMIT_MS = 2;

export class PeerManager implements SessionHost {
  readonly parts: MessageHandler[] = [];
  readonly log: Logger;
  readonly random: RandomSource;
  readonly heavyMessages = new SerialQueue();
  readonly turns: PeerQueue;
  private readonly budget = new ReceiveBudget();
  private readonly options: PeerManagerOptions;
  private readonly deps: PeerManagerDeps;
  private readonly sessions = new Map<number, PeerSession>();
  private readonly goneListeners = new Set<(peer: PeerSession) => void>();
  private readonly commands: ReadonlySet<string> = new Set(Object.keys(MESSAGES));
  /** Secret key for hashes of network groups. It prevents peers from predicting which peers are protected from eviction. */
  private readonly groupKey: Buffer;
  private nextId = 0;
  private timer: NodeJS.Timeout | null = null;
  private tickDueMs = 0;
  private bytesSentBefore = 0;
  private bytesReceivedBefore = 0;
  private active = true;
  private onBug: (error: unknown) => void = () => undefined;

  constructor(options: PeerManagerOptions, deps: PeerManagerDeps) {
    this.options = options;
    this.deps = deps;
    this.log = deps.log;
    this.random = deps.random;
    this.turns = deps.turns ?? peerQueue;
    this.groupKey = deps.random.bytes(16);
  }

  get sendsRejects(): boolean {
    return this.options.sendsRejects;
  }
  get dropsOneIn(): number {
    return this.options.dropsOneIn;
  }
  get logsAddresses(): boolean {
    return this.options.logsAddresses;
  }
  /** Whether the node may have connections (`setnetworkactive`). */
  get isActive(): boolean {
    return this.active;
  }
  nowMs(): number {
    return this.deps.nowMs();
  }
  nowSec(): number {
    return this.deps.nowSec();
  }

  /** Connected peers, in the order in which they connected. */
  peers(): IterableIterator<PeerSession> {
    return this.sessions.values();
  }

  get count(): number {
    return this.sessions.size;
  }

  countOf(...kinds: ConnectionKind[]): number {
    let count = 0;
    for (const { kind } of this.sessions.values()) if (kinds.includes(kind)) count++;
    return count;
  }

  peer(id: number): PeerSession | undefined {
    return this.sessions.get(id);
  }

  /** Bytes sent and received on all connections since the start. */
  totals(): { bytesSent: number; bytesReceived: number } {
    let [bytesSent, bytesReceived] = [this.bytesSentBefore, this.bytesReceivedBefore];
    for (const { connection } of this.sessions.values()) {
      bytesSent += connection.bytesSent;
      bytesReceived += connection.bytesReceived;
    }
    return { bytesSent, bytesReceived };
  }

  onPeerGone(listener: (peer: PeerSession) => void): void {
    this.goneListeners.add(listener);
  }

  /** Starts the periodic ticks. `onBug` is called for internal errors. No message of a peer may cause one. */
  start(onBug: (error: unknown) => void): void {
    this.onBug = onBug;
    this.tickDueMs = this.deps.nowMs() + TICK_MS;
    this.timer = setInterval(() => this.tick(), TICK_MS);
    this.timer.unref();
  }

  stop(): void {
    if (this.timer) clearInterval(this.timer);
    this.timer = null;
    for (const session of [...this.sessions.values()]) session.disconnect('the node is stopping');
  }

  setActive(active: boolean): void {
    if (this.active === active) return;
    this.active = active;
    this.log.debug('net', `SetNetworkActive: ${active}`);
    if (!active) for (const session of [...this.sessions.values()]) session.disconnect('network not active');
  }

  private tick(): void {
    const nowMs = this.deps.nowMs();
    const lateMs = nowMs - this.tickDueMs;
    this.tickDueMs = nowMs + TICK_MS;
    try {
      if (lateMs > TICK_MS) for (const part of this.parts) part.onHeldUp?.(lateMs);
      // The tick starts with a random peer, so that no peer is always served first.
      const order = [...this.sessions.values()];
      const first = order.length === 0 ? 0 : this.random.int(order.length);
      const since = this.turns.nowMs();
      for (let i = 0; i < order.length; i++) {
        const session = order[(first + i) % order.length]!;
        if (this.turns.nowMs() - since < TICK_LIMIT_MS) session.tick(nowMs);
        else session.tickInTurn().catch(this.onBug);
      }
    } catch (error) {
      this.onBug(error);
    }
  }

  /** Creates a peer for a connected socket. `name` is the text by which the operator added the peer, if any. */
  add(
    socket: Socket,
    what: {
      kind: ConnectionKind;
      remote: NetAddress;
      local: NetAddress | null;
      name?: string;
      isWhitelisted: boolean;
    },
  ): PeerSession {
    const { magic, maxReceiveBytes, maxSendBytes } = this.options;
    const connection = new Connection(
      socket,
      {
        magic,
        maxReceiveBytes,
        maxSendBytes,
        budget: this.budget,
        nowMs: this.deps.nowMs,
        onSent: this.deps.onSent,
      },
      this.commands,
    );
    const session = new PeerSession(
      {
        id: this.nextId++,
        kind: what.kind,
        remote: what.remote,
        local: what.local,
        name: what.name ?? formatNetAddress(what.remote),
        isWhitelisted: what.isWhitelisted,
        nonce: this.random.u64(),
        keyedGroup: sha256(Buffer.concat([this.groupKey, groupOf(what.remote)])).readBigUInt64LE(),
      },
      connection,
      this,
    );
    this.sessions.set(session.id, session);
    const to = this.logsAddresses ? `to ${session.name} ` : '';
    this.log.debug('net', `Added connection ${to}peer=${session.id}`);
    session.run().catch(this.onBug);
    return session;
  }

  ownVersion(peer: PeerSession): VersionMessage {
    const { deps, options } = this;
    const services = deps.localServices();
    const { remote } = peer;
    return {
      version: PROTOCOL_VERSION,
      services,
      timeSec: BigInt(deps.adjustedTimeSec()),
      receiver: isRoutable(remote) ? remote : NO_ADDRESS,
      receiverServices: 0n,
      sender: NO_ADDRESS,
      senderServices: services,
      nonce: peer.info.nonce,
      userAgent: options.userAgent,
      startHeight: deps.height(),
      relay: options.relaysTransactions,
    };
  }

  refuseVersion(peer: PeerSession, message: VersionMessage): string | null {
    if (!peer.isInbound) this.deps.addresses.setServices(peer.remote, message.services);
    const lacks = !hasDesirableServices(message.services);
    if (lacks && (peer.kind === 'outbound' || peer.kind === 'oneShot')) {
      const wanted = DESIRABLE_SERVICES.toString(16).padStart(8, '0');
      peer.reject('version', REJECT_CODE.nonstandard, `Expected to offer services ${wanted}`);
      return `does not offer the expected services (${message.services.toString(16).padStart(8, '0')} offered, ${wanted} expected)`;
    }
    if (peer.isInbound && this.isOwnNonce(message.nonce)) {
      this.log.info(`connected to self at ${peer.name}, disconnecting`);
      return 'connected to self';
    }
    return null;
  }

  /**
   * Whether the nonce belongs to an outbound connection of this node whose handshake is not complete. If so, the node has
   * connected to itself.
   */
  private isOwnNonce(nonce: bigint): boolean {
    for (const session of this.sessions.values()) {
      if (!session.isInbound && !session.isReady && session.info.nonce === nonce) return true;
    }
    return false;
  }

  versionAccepted(peer: PeerSession, message: VersionMessage): void {
    this.deps.onVersion(peer, message);
    if (!peer.isInbound) this.deps.addresses.good(peer.remote);
    if (peer.kind === 'feeler') peer.disconnect('feeler connection completed');
  }

  misbehaved(peer: PeerSession, before: number, reason: string): void {
    const { banScore } = this.options;
    const score = peer.misbehaviorScore;
    const what = `Misbehaving: peer=${peer.id} (${before} -> ${score}) ${reason}`;
    if (score < banScore || before >= banScore) {
      this.log.debug('net', what);
      return;
    }
    if (peer.isWhitelisted) this.log.info(`Warning: not punishing whitelisted peer ${peer.name}: ${what}`);
    else if (peer.kind === 'manual')
      this.log.info(`Warning: not punishing manually-connected peer ${peer.name}: ${what}`);
    else {
      this.log.debug('net', `${what} BAN THRESHOLD EXCEEDED`);
      peer.disconnect(`misbehaving: ${reason}`);
      if (isLocal(peer.remote)) this.log.info(`Warning: not banning local peer ${peer.name}!`);
      else this.banAddressOf(peer);
    }
  }

  /** Bans the address of a peer and disconnects all peers with that address. */
  private banAddressOf({ remote }: PeerSession): void {
    this.deps.ban(remote);
    if (isValid(remote)) this.disconnectWhere(({ ip }) => ip.equals(remote.ip), 'banned');
  }

  gone(peer: PeerSession): void {
    this.sessions.delete(peer.id);
    this.bytesSentBefore += peer.connection.bytesSent;
    this.bytesReceivedBefore += peer.connection.bytesReceived;
    if (peer.version) {
      if (peer.isReady && peer.misbehaviorScore === 0) this.deps.addresses.connected(peer.remote);
      for (const part of this.parts) part.onGone?.(peer);
    }
    for (const listener of this.goneListeners) listener(peer);
  }

  /** Disconnects all peers whose address matches, for example after a ban. */
  disconnectWhere(matches: (address: NetAddress) => boolean, reason: string): void {
    for (const session of [...this.sessions.values()])
      if (matches(session.remote)) session.disconnect(reason);
  }
}
