/**
 * What the parts of the protocol and the peer layer know of each other. A part handles some messages and keeps its own
 * state for each peer; the peer layer owns sockets, handshake, slots and punishment. Interfaces only.
 */
import type { Command, Payload } from './messages/table.js';
import type { NetAddress } from './netAddress.js';

/**
 * Direction and purpose of the connection: `manual` by -addnode, -connect or the addnode method, `feeler` to see whether
 * an address answers, `oneShot` to fetch addresses.
 */
export type ConnectionKind = 'inbound' | 'outbound' | 'manual' | 'feeler' | 'oneShot';

/** Data from a peer's version message. */
export interface PeerVersion {
  readonly protocolVersion: number;
  readonly services: bigint;
  readonly timeSec: number;
  /** User agent as received; use `cleanUserAgent` for logs and answers. */
  readonly userAgent: string;
  readonly cleanUserAgent: string;
  /** −1 if the peer did not send it. */
  readonly startHeight: number;
  /** Whether the peer wants transactions before it sets a filter (BIP37). */
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
  /** Null until the peer's version message came. */
  readonly version: PeerVersion | null;
  /** Whether both sides acknowledged the other's version. */
  readonly isReady: boolean;
  /** Whether the connection has ended or is about to. */
  readonly isGone: boolean;
  /** Whether this much waits to be sent (`-maxsendbuffer`) that only answers should be added. */
  readonly isSendFull: boolean;
  /** Resolves once `isSendFull` is false or the peer is gone. */
  sendRoom(): Promise<void>;
  send<C extends Command>(command: C, payload: Payload<C>): void;
  /** Sends a payload that was formatted already. */
  sendRaw(command: Command, payload: Buffer): void;
  /** Adds to the peer's misbehaviour; at `-banscore` it is disconnected, and banned unless it is one of ours. */
  punish(points: number, reason: string): void;
  /** Sends a reject message (BIP61) unless they are switched off. */
  reject(command: string, code: number, reason: string, hash?: Buffer): void;
  disconnect(reason: string): void;
  /** Notes that the peer gave us something new; protects it from being evicted. */
  noteUseful(what: 'block' | 'tx'): void;
}

/** Data of message handlers about a peer, for `getpeerinfo`. */
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
 * Messages of one peer are handled one after the other, a handler's promise and pending effects being awaited; those of
 * different peers interleave. What a handler throws, but a `ReadError`, is a bug.
 */
export interface MessageHandler {
  readonly handlers: Handlers;
  /** The peer's version is known; nothing may be sent yet but what belongs to the handshake. */
  onVersion?(peer: Peer): void;
  /** The handshake is complete. */
  onReady?(peer: Peer): void;
  /** Comes once for each peer whose version was heard of. */
  onGone?(peer: Peer): void;
  /** Whether turns are wanted too while the send buffer is full: for time limits, by parts that send little. */
  readonly ticksWhenFull?: boolean;
  /**
   * Resolves when all that the peer's messages set going has taken effect; null when nothing is under way. It is waited
   * for before the peer's next message is handled, unless that is a block too: no one shall see an effect come later than
   * an answer to what was sent after its cause.
   */
  pendingEffect?(peer: Peer): Promise<void> | null;
  /** About every 100 ms for each ready peer that has room in its send buffer. Source: `SendMessages`. */
  onTick?(peer: Peer, nowMs: number): void;
  /**
   * For so long nothing was read, because this node had other work or the machine had: what peers sent in time may still
   * lie unread, so that no time limit of theirs may count it.
   */
  onHeldUp?(ms: number): void;
  describe?(peer: Peer): Partial<PeerStateInfo>;
}

/** Randomness, injected so that tests can repeat what happened. */
export interface RandomSource {
  /** An integer from 0 to `below` − 1. */
  int(below: number): number;
  u64(): bigint;
  bytes(count: number): Buffer;
}
