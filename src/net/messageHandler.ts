/**
 * Interfaces between the message handlers and the peer layer. A message handler handles some messages and has its own state
 * for each peer. The peer layer owns sockets, handshake, slots and punishment.
 */
import type { Command, Payload } from './messages/table.js';
import type { NetAddress } from './netAddress.js';

/**
 * Direction and purpose of the connection: `manual` by -addnode, -connect or the addnode method, `feeler` to test whether an
 * address is reachable, `oneShot` to request addresses.
 */
export type ConnectionKind = 'inbound' | 'outbound' | 'manual' | 'feeler' | 'oneShot';

/** Data from a peer's version message. */
export interface PeerVersion {
  readonly protocolVersion: number;
  readonly services: bigint;
  readonly timeSec: number;
  /** User agent as received; use `cleanUserAgent` for logs and responses. */
  readonly userAgent: string;
  readonly cleanUserAgent: string;
  /** −1 if the peer did not send it. */
  readonly startHeight: number;
  /** Whether the peer wants transactions even before it sets a filter (BIP37). */
  readonly relay: boolean;
}

export interface Peer {
  readonly id: number;
  readonly kind: ConnectionKind;
  readonly remote: NetAddress;
  /** Name for output: `host:port`, or the operator's text. */
  readonly name: string;
  readonly isWhitelisted: boolean;
  readonly connectedAtSec: number;
  /** Null until the peer's version message is received. */
  readonly version: PeerVersion | null;
  /** Whether both sides acknowledged the other's version. */
  readonly isReady: boolean;
  /** Whether the connection has ended or is about to. */
  readonly isGone: boolean;
  /** Whether so much data waits to be sent (`-maxsendbuffer`) that only responses should be added. */
  readonly isSendFull: boolean;
  /** Resolves when `isSendFull` is false or the peer is gone. */
  sendRoom(): Promise<void>;
  send<C extends Command>(command: C, payload: Payload<C>): void;
  /** Sends an already formatted payload. */
  sendRaw(command: Command, payload: Buffer): void;
  /** Adds to the peer's misbehaviour score. At `-banscore` it is disconnected, and banned unless it is whitelisted or manual. */
  punish(points: number, reason: string): void;
  /** Sends a reject message (BIP61), unless they are disabled. */
  reject(command: string, code: number, reason: string, hash?: Buffer): void;
  disconnect(reason: string): void;
  /** Records that the peer sent us something new, which protects it from eviction. */
  noteUseful(what: 'block' | 'tx'): void;
}

/** Data of a message handler about a peer, for `getpeerinfo`. */
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
 * Messages of one peer are handled one by one: the handler's promise and pending effects are awaited. Messages of different
 * peers interleave. An exception other than `ReadError` is a bug.
 */
export interface MessageHandler {
  readonly handlers: Handlers;
  /** The peer's version is known. Only messages of the handshake may be sent yet. */
  onVersion?(peer: Peer): void;
  /** The handshake is complete. */
  onReady?(peer: Peer): void;
  /** Called once for each peer for which `onVersion` was called. */
  onGone?(peer: Peer): void;
  /** Whether `onTick` is also called while the send buffer is full: for time limits, in handlers that send little. */
  readonly ticksWhenFull?: boolean;
  /**
   * Resolves when all effects of the peer's earlier messages are complete; null if there are none. It is awaited before the
   * peer's next message is handled, except for blocks. So an effect is always visible before the response to a later
   * message.
   */
  pendingEffect?(peer: Peer): Promise<void> | null;
  /** Called about every 100 ms for each ready peer whose send buffer is not full. Source: `SendMessages`. */
  onTick?(peer: Peer, nowMs: number): void;
  /**
   * Nothing was read for this time, because this node or the machine was busy. Data that peers sent in time may still be
   * unread, so time limits of peers must not count it.
   */
  onHeldUp?(ms: number): void;
  describe?(peer: Peer): Partial<PeerStateInfo>;
}

/** Source of randomness, injected so that tests are reproducible. */
export interface RandomSource {
  /** A random integer from 0 to `below` − 1. */
  int(below: number): number;
  u64(): bigint;
  bytes(count: number): Buffer;
}
