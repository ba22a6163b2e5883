/**
 * Interfaces between message handlers and the peer layer. Each message handler handles some message types and keeps its own
 * state per peer. The peer layer manages sockets, handshakes, connection slots and misbehaviour scores.
 */
import type { Command, Payload } from './messages/table.js';
import type { NetAddress } from './netAddress.js';

/**
 * Direction and purpose of the connection: `manual` by -addnode, -connect or the addnode method, `feeler` to test whether an
 * address is reachable, `oneShot` to request addresses.
 */
export type ConnectionKind = 'inbound' | 'outbound' | 'manual' | 'feeler' | 'oneShot';

/** Data of a peer, from its version message. */
export interface PeerVersion {
  readonly protocolVersion: number;
  readonly services: bigint;
  readonly timeSec: number;
  /** User agent as received; use `cleanUserAgent` for logs and responses. */
  readonly userAgent: string;
  readonly cleanUserAgent: string;
  /** Block height that the peer announced; −1 if absent. */
  readonly startHeight: number;
  /** Whether the peer wants transactions even before it sets a filter (BIP37). */
  readonly relay: boolean;
}

export interface Peer {
  readonly id: number;
  readonly kind: ConnectionKind;
  readonly remote: NetAddress;
  /** Name for logs and responses: `host:port`, or the text by which the operator added the peer. */
  readonly name: string;
  readonly isWhitelisted: boolean;
  readonly connectedAtSec: number;
  /** Version data of the peer; null until the peer's version message is received. */
  readonly version: PeerVersion | null;
  /** Whether the handshake is complete: each side has acknowledged the version message of the other side. */
  readonly isReady: boolean;
  /** Whether the connection has ended or is closing. */
  readonly isGone: boolean;
  /** Whether the send buffer exceeds its limit (`-maxsendbuffer`). Handlers should then send only responses. */
  readonly isSendFull: boolean;
  /** Resolves when `isSendFull` is false or the connection has ended. */
  sendRoom(): Promise<void>;
  send<C extends Command>(command: C, payload: Payload<C>): void;
  /** Sends a payload that is already serialized. */
  sendRaw(command: Command, payload: Buffer): void;
  /**
   * Adds points to the peer's misbehaviour score. A peer that reaches `-banscore` is disconnected. It is also banned, unless
   * it is whitelisted or was added manually.
   */
  punish(points: number, reason: string): void;
  /** Sends a reject message (BIP61), unless reject messages are disabled. */
  reject(command: string, code: number, reason: string, hash?: Buffer): void;
  disconnect(reason: string): void;
  /** Records that the peer sent a new block or transaction. This protects the peer from eviction. */
  noteUseful(what: 'block' | 'tx'): void;
}

/** Data that a message handler has about a peer, for `getpeerinfo`. */
export interface PeerStateInfo {
  relaysTransactions: boolean;
  syncedHeaders: number;
  syncedBlocks: number;
  inFlightHeights: number[];
  minFeeFilterRatePerKb: bigint;
}

export type Handlers = {
  readonly [C in Command]?: (peer: Peer, payload: Payload<C>) => void | Promise<void>;
};

/**
 * Handles some types of messages for all peers. The messages of one peer are handled in order: the next message waits for
 * the handler's promise and pending effects. Messages of different peers interleave. An exception other than `ReadError` is
 * treated as a bug.
 */
export interface MessageHandler {
  readonly handlers: Handlers;
  /** Called when the peer's version message is accepted. Only handshake messages may be sent at this time. */
  onVersion?(peer: Peer): void;
  /** Called when the handshake with a peer is complete. */
  onReady?(peer: Peer): void;
  /** Called once when a peer disconnects for which `onVersion` was called. */
  onGone?(peer: Peer): void;
  /** Whether `onTick` is also called while the send buffer is full. Needed by handlers that check time limits in `onTick`. */
  readonly ticksWhenFull?: boolean;
  /**
   * Returns a promise that resolves when all effects of the peer's earlier messages are complete, or null if none are
   * pending. The peer's next message is handled after that promise, unless it is a block. A response to a later message
   * therefore always reflects the earlier messages.
   */
  pendingEffect?(peer: Peer): Promise<void> | null;
  /** Called about every 100 ms for each ready peer whose send buffer is not full. Source: `SendMessages`. */
  onTick?(peer: Peer, nowMs: number): void;
  /**
   * Called after the node read no messages for `ms` milliseconds because the process or the machine was busy. Messages that
   * peers sent in this period may still be unread, so time limits of peers must not include it.
   */
  onHeldUp?(ms: number): void;
  describe?(peer: Peer): Partial<PeerStateInfo>;
}

/** Source of randomness, injected so that tests are reproducible. */
export interface RandomSource {
  /** Returns a random integer from 0 to `below` − 1. */
  int(below: number): number;
  u64(): bigint;
  bytes(count: number): Buffer;
}
