/**
 * A peer without a socket. It records the messages that were sent to it and its misbehaviour score. Sent messages are
 * serialized and parsed, so a payload that cannot be serialized or parsed fails the test. For tests of message handlers.
 */
import { MESSAGES, type Command, type Payload } from '../../src/net/messages/table.js';
import type { MessageCodec } from '../../src/net/messages/codec.js';
import { formatPayload, parsePayload } from '../../src/net/messages/codec.js';
import type { NetAddress } from '../../src/net/netAddress.js';
import type {
  ConnectionKind,
  MessageHandler,
  Peer,
  PeerVersion,
  RandomSource,
} from '../../src/net/messageHandler.js';
import { NODE } from '../../src/net/services.js';

export interface Sent {
  readonly command: Command;
  readonly payload: unknown;
}

export interface FakePeerOptions {
  kind?: ConnectionKind;
  services?: bigint;
  protocolVersion?: number;
  startHeight?: number;
  isWhitelisted?: boolean;
  connectedAtSec?: number;
  relay?: boolean;
}

/** The score at which a peer is disconnected. */
const BAN_SCORE = 100;

let nextId = 0;

export class FakePeer implements Peer {
  readonly id: number;
  readonly kind: ConnectionKind;
  readonly remote: NetAddress;
  readonly name: string;
  readonly isWhitelisted: boolean;
  readonly connectedAtSec: number;
  readonly version: PeerVersion;
  isReady = false;
  isGone = false;
  isSendFull = false;
  readonly sent: Sent[] = [];
  score = 0;
  readonly punishments: string[] = [];
  readonly rejects: { command: string; code: number; reason: string; hash: Buffer | undefined }[] = [];
  readonly useful: ('block' | 'tx')[] = [];
  /** Reason of the disconnect; null while it is connected. */
  goneReason: string | null = null;
  /** Is called with each message; the message is then not recorded. */
  onSent: ((sent: Sent) => void) | null = null;
  /** Is called once when the connection ends. */
  onGone: () => void = () => undefined;

  constructor(options: FakePeerOptions = {}, id = nextId++) {
    this.id = id;
    this.remote = { ip: Buffer.from('00000000000000000000ffff01020304', 'hex'), port: 1000 + id };
    this.name = `1.2.3.4:${1000 + id}`;
    this.kind = options.kind ?? 'outbound';
    this.isWhitelisted = options.isWhitelisted ?? false;
    this.connectedAtSec = options.connectedAtSec ?? 0;
    this.version = {
      protocolVersion: options.protocolVersion ?? 70_015,
      services: options.services ?? NODE.network | NODE.bloom | NODE.witness,
      timeSec: 0,
      userAgent: '/fake:1/',
      cleanUserAgent: '/fake:1/',
      startHeight: options.startHeight ?? 0,
      relay: options.relay ?? true,
    };
  }

  sendRoom(): Promise<void> {
    return Promise.resolve();
  }

  send<C extends Command>(command: C, payload: Payload<C>): void {
    const codec = MESSAGES[command] as unknown as MessageCodec<Payload<C>>;
    this.sendRaw(command, formatPayload(codec, payload));
  }

  sendRaw(command: Command, payload: Buffer): void {
    if (this.isGone) return;
    const sent = { command, payload: parsePayload(MESSAGES[command] as MessageCodec<unknown>, payload) };
    if (this.onSent) this.onSent(sent);
    else this.sent.push(sent);
  }

  punish(points: number, reason: string): void {
    if (this.isGone) return;
    this.score += points;
    this.punishments.push(`${points} ${reason}`);
    if (this.score >= BAN_SCORE && !this.isWhitelisted && this.kind !== 'manual') {
      this.disconnect(`misbehaving: ${reason}`);
    }
  }

  reject(command: string, code: number, reason: string, hash?: Buffer): void {
    this.rejects.push({ command, code, reason, hash });
  }

  disconnect(reason: string): void {
    if (this.isGone) return;
    this.isGone = true;
    this.goneReason = reason;
    this.onGone();
  }

  noteUseful(what: 'block' | 'tx'): void {
    this.useful.push(what);
  }

  /** Returns the payloads of a command that were sent so far, and removes them. */
  take<C extends Command>(command: C): Payload<C>[] {
    const taken = this.sent.filter((sent) => sent.command === command);
    for (const sent of taken) this.sent.splice(this.sent.indexOf(sent), 1);
    return taken.map(({ payload }) => payload as Payload<C>);
  }

  /** Commands that were sent and not removed yet, in order. */
  get commands(): Command[] {
    return this.sent.map(({ command }) => command);
  }
}

/** Calls message handlers as the peer layer does: handshakes, messages one after the other, turns, disconnects. */
export class PartHost {
  private readonly parts: readonly MessageHandler[];
  /** Each instance has its own ids, because results that depend on the ids must not depend on earlier tests. */
  private nextId = 0;

  constructor(parts: readonly MessageHandler[]) {
    this.parts = parts;
  }

  /** `prepare` may change the peer before the handlers see it. */
  connect(options: FakePeerOptions = {}, prepare?: (peer: FakePeer) => void): FakePeer {
    const peer = new FakePeer(options, this.nextId++);
    prepare?.(peer);
    peer.onGone = () => {
      for (const part of this.parts) part.onGone?.(peer);
    };
    for (const part of this.parts) part.onVersion?.(peer);
    peer.isReady = true;
    for (const part of this.parts) part.onReady?.(peer);
    return peer;
  }

  /** Passes a message to all handlers of its command. */
  async deliver<C extends Command>(peer: Peer, command: C, payload: Payload<C>): Promise<void> {
    for (const part of this.parts) {
      const handler = part.handlers[command] as ((peer: Peer, payload: Payload<C>) => unknown) | undefined;
      if (handler) await handler.call(part.handlers, peer, payload);
      if (peer.isGone) return;
    }
  }

  tick(nowMs: number, ...peers: Peer[]): void {
    for (const peer of peers) {
      for (const part of this.parts) {
        if (peer.isGone || peer.isSendFull) break;
        part.onTick?.(peer, nowMs);
      }
    }
  }

  /** The members that the handlers add to an entry of `getpeerinfo`. */
  describe(peer: Peer): object {
    return Object.assign({}, ...this.parts.map((part) => part.describe?.(peer) ?? {})) as object;
  }
}

/** A generator with a fixed sequence, for tests that need arbitrary numbers. */
export class CountingRandom implements RandomSource {
  private state = 1;

  private next(): number {
    this.state = (Math.imul(this.state, 1_103_515_245) + 12_345) >>> 0;
    return this.state;
  }

  int(below: number): number {
    return (this.next() >>> 8) % below;
  }

  u64(): bigint {
    return (BigInt(this.next()) << 32n) | BigInt(this.next());
  }

  bytes(count: number): Buffer {
    return Buffer.from(Array.from({ length: count }, () => this.next() >>> 24));
  }
}
