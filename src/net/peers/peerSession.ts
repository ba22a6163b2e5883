/**
 * One peer from connection to disconnection. Performs the handshake, passes messages one by one to their handlers in the
 * peer's turns, and applies misbehaviour points. Does not access other peers. Source: Core net_processing.cpp
 * `ProcessMessages`, `ProcessMessage` (version, verack, ping, pong).
 */
import type { Logger } from '../../util/logging.js';
import { Reader, ReadError } from '../../util/reader.js';
import type { SerialQueue } from '../../scheduler/serialQueue.js';
import { Writer } from '../../util/writer.js';
import type { PeerQueue } from '../../scheduler/peerQueue.js';
import type { Frame } from '../framing.js';
import { MESSAGES, type Command, type Payload } from '../messages/table.js';
import type { VersionMessage } from '../messages/version.js';
import { formatNetAddress, type NetAddress } from '../netAddress.js';
import type { ConnectionKind, MessageHandler, Peer, PeerVersion, RandomSource } from '../messageHandler.js';
import type { Connection } from './connection.js';
import { lateness } from './lateness.js';
import { PING_NONCE_VERSION, Pings } from './pings.js';
import { cleanUserAgent } from './userAgent.js';

export const PROTOCOL_VERSION = 70_015;
/** Minimum protocol version of a peer. Older versions do not support `getheaders`. */
const MIN_PEER_VERSION = 31_800;

/** BIP61. */
export const REJECT_CODE = { malformed: 0x01, obsolete: 0x11, duplicate: 0x12, nonstandard: 0x40 } as const;

/**
 * Commands whose lists need much more memory when they are parsed. Of such messages larger than `HEAVY_BYTES`, only one over
 * all peers is processed at a time. Their handlers must not wait for the peer.
 */
const HEAVY: ReadonlySet<Command> = new Set<Command>(['inv', 'addr', 'notfound', 'headers']);
const HEAVY_BYTES = 32 << 10;
/**
 * Commands that are handled although the effects of earlier messages of the peer are incomplete. Blocks are stored and
 * connected in order nevertheless.
 */
const RUNS_AHEAD: ReadonlySet<Command> = new Set<Command>(['block']);

export interface SessionHost {
  readonly log: Logger;
  readonly random: RandomSource;
  readonly parts: readonly MessageHandler[];
  readonly sendsRejects: boolean;
  /** Drops one of this many received messages at random, to simulate a lossy connection; 0 drops none. */
  readonly dropsOneIn: number;
  /** Whether logs show IP addresses of peers. */
  readonly logsAddresses: boolean;
  readonly heavyMessages: SerialQueue;
  readonly turns: PeerQueue;
  nowMs(): number;
  nowSec(): number;
  /** Returns the version message that this node sends to the peer. */
  ownVersion(peer: PeerSession): VersionMessage;
  /**
   * Returns the reason for disconnecting the peer because of its version message, or null to accept it. The function may
   * send a reject message to the peer before it returns.
   */
  refuseVersion(peer: PeerSession, version: VersionMessage): string | null;
  versionAccepted(peer: PeerSession, version: VersionMessage): void;
  /** Called after the peer's misbehaviour score increased. `before` is the previous score. */
  misbehaved(peer: PeerSession, before: number, reason: string): void;
  gone(peer: PeerSession): void;
}

export interface SessionInfo {
  id: number;
  kind: ConnectionKind;
  remote: NetAddress;
  /** Local address of the connection; null if connected through a proxy. */
  local: NetAddress | null;
  name: string;
  isWhitelisted: boolean;
  /** Random number in this node's version message, by which a connection to itself is detected. */
  nonce: bigint;
  /** Hash of the address's network group with a secret key, which a peer cannot predict. */
  keyedGroup: bigint;
}

export class PeerSession implements Peer {
  readonly info: SessionInfo;
  readonly connection: Connection;
  readonly connectedAtSec: number;
  version: PeerVersion | null = null;
  /** Address of this node as the peer sees it, from the peer's version message; null if unknown. */
  seenUsAt: NetAddress | null = null;
  timeOffsetSec = 0;
  isReady = false;
  misbehaviorScore = 0;
  lastBlockMs = 0;
  lastTxMs = 0;
  private readonly host: SessionHost;
  private readonly startedMs: number;
  private readonly pings: Pings;
  private isTickQueued = false;
  private readonly own = new Map<Command, (payload: never) => void>([
    ['version', (payload: VersionMessage) => this.onVersion(payload)],
    ['verack', () => this.onVerack()],
    ['ping', (payload: Payload<'ping'>) => this.onPing(payload)],
    ['pong', (payload: Payload<'pong'>) => this.onPong(payload)],
  ]);

  constructor(info: SessionInfo, connection: Connection, host: SessionHost) {
    this.info = info;
    this.connection = connection;
    this.host = host;
    this.pings = new Pings(host.random);
    this.startedMs = host.nowMs();
    this.connectedAtSec = host.nowSec();
    connection.onEnd = (reason) => {
      host.log.debug('net', `disconnecting peer=${info.id}: ${reason}`);
      host.gone(this);
    };
  }

  get id(): number {
    return this.info.id;
  }
  get kind(): ConnectionKind {
    return this.info.kind;
  }
  get remote(): NetAddress {
    return this.info.remote;
  }
  get name(): string {
    return this.info.name;
  }
  get isWhitelisted(): boolean {
    return this.info.isWhitelisted;
  }
  get isInbound(): boolean {
    return this.info.kind === 'inbound';
  }
  get isGone(): boolean {
    return this.connection.isEnded;
  }
  get isSendFull(): boolean {
    return this.connection.isSendFull;
  }
  /** Age in ms of the ping that the peer has not answered yet; 0 if there is none. */
  get pingWaitMs(): number {
    return this.pings.waitMs(this.host.nowMs());
  }
  /** Last round-trip time of a ping in ms; −1 before the first pong. */
  get pingMs(): number {
    return this.pings.lastTookMs;
  }
  get minPingMs(): number {
    return this.pings.leastMs;
  }

  sendRoom(): Promise<void> {
    return this.connection.sendRoom();
  }

  send<C extends Command>(command: C, payload: Payload<C>): void {
    const writer = new Writer();
    (MESSAGES[command].format as (writer: Writer, value: Payload<C>) => void)(writer, payload);
    this.sendRaw(command, writer.finish());
  }

  sendRaw(command: Command, payload: Buffer): void {
    this.connection.send(command, payload);
  }

  punish(points: number, reason: string): void {
    if (points <= 0 || this.isGone) return;
    const before = this.misbehaviorScore;
    this.misbehaviorScore += points;
    this.host.misbehaved(this, before, reason);
  }

  reject(command: string, code: number, reason: string, hash?: Buffer): void {
    if (!this.host.sendsRejects) return;
    this.send('reject', { message: command, code, reason, hash: hash ?? null });
  }

  disconnect(reason: string): void {
    this.connection.end(reason);
  }

  noteUseful(what: 'block' | 'tx'): void {
    if (what === 'block') {
      this.lastBlockMs = this.host.nowMs();
      this.host.turns.noteUseful(this);
    } else this.lastTxMs = this.host.nowMs();
  }

  /** Requests a ping at the next tick. */
  requestPing(): void {
    this.pings.isWanted = true;
  }

  /**
   * Handles the peer's messages in order until the connection ends. Each message is handled in a turn of this peer and after
   * the effects of earlier messages.
   */
  async run(): Promise<void> {
    if (!this.isInbound) this.sendOwnVersion();
    while (await this.connection.readable()) {
      // Waits until the peer has read the responses to earlier messages before the next message is handled.
      await this.sendRoom();
      await this.host.turns.nextTurn(this);
      await this.takeTurn();
    }
  }

  /** Handles received messages until the time slice of the peer's turn is used up. */
  private async takeTurn(): Promise<void> {
    const { turns } = this.host;
    const { turn } = turns;
    for (;;) {
      const frame = this.connection.next();
      if (frame === null) return;
      const work = this.handle(frame);
      if (work) await work;
      if (this.isGone) return;
      // Sends messages that are due immediately instead of at the next tick.
      if (!this.connection.hasFrame) {
        this.tick(this.host.nowMs());
        return;
      }
      if (turns.isOver(turn) || this.isSendFull) return;
    }
  }

  private handle(frame: Frame): void | Promise<void> {
    const { command, payload, checksumOk } = frame;
    const { log } = this.host;
    log.debug('net', () => `received: ${printable(command)} (${payload.length} bytes) peer=${this.id}`);
    if (!checksumOk) {
      log.debug(
        'net',
        () => `${printable(command)} (${payload.length} bytes): CHECKSUM ERROR peer=${this.id}`,
      );
      return;
    }
    if (this.isDropped()) return;
    const name = command in MESSAGES ? (command as Command) : null;
    if (name === null || !RUNS_AHEAD.has(name)) {
      const effect = this.pendingEffect();
      if (effect) return effect.then(() => this.handleNow(command, name, payload));
    }
    return this.handleNow(command, name, payload);
  }

  /**
   * Returns a promise that resolves when the effects of the peer's earlier messages are complete; null if none is
   * incomplete.
   */
  private pendingEffect(): Promise<void> | null {
    for (const part of this.host.parts) {
      const pending = part.pendingEffect?.(this) ?? null;
      if (pending) return pending;
    }
    return null;
  }

  private handleNow(command: string, name: Command | null, payload: Buffer): void | Promise<void> {
    if (this.isGone || !this.mayHandle(command)) return;
    if (name === null) {
      this.host.log.debug('net', () => `Unknown command "${printable(command)}" from peer=${this.id}`);
      return;
    }
    if (payload.length < HEAVY_BYTES || !HEAVY.has(name)) return this.dispatch(name, payload);
    return this.host.heavyMessages.run(async () => {
      await this.host.turns.nextTurn(this);
      await this.dispatch(name, payload);
    });
  }

  private isDropped(): boolean {
    const { dropsOneIn, random, log } = this.host;
    const isDropped = dropsOneIn > 0 && random.int(dropsOneIn) === 0;
    if (isDropped) log.info('dropmessagestest DROPPING RECV MESSAGE');
    return isDropped;
  }

  /**
   * Parses a message and calls its handlers. Not an async function, because the frame of an async function would keep the
   * parsed data in memory while handlers wait for the peer, possibly for a long time.
   */
  private dispatch(name: Command, payload: Buffer): void | Promise<void> {
    const own = this.own.get(name);
    const parts = this.host.parts.filter((part) => part.handlers[name]);
    // A message without a handler is not parsed.
    if (this.isGone || (!own && parts.length === 0)) return;
    const codec = MESSAGES[name];
    let value: unknown;
    try {
      if (payload.length > codec.maxSizeBytes) throw new ReadError('size too large');
      value = codec.parse(new Reader(payload));
    } catch (error) {
      if (!(error instanceof ReadError)) throw error;
      this.host.log.debug(
        'net',
        `${name} (${payload.length} bytes) from peer=${this.id} is malformed: ${error.message}`,
      );
      this.refuseMalformed(name);
      return;
    }
    if (own) own(value as never);
    else if (parts.length === 1) return this.callPart(parts[0]!, name, value);
    else return this.callParts(parts, name, value);
  }

  private callPart(part: MessageHandler, name: Command, value: unknown): void | Promise<void> {
    const handler = part.handlers[name] as (peer: Peer, payload: unknown) => void | Promise<void>;
    return handler.call(part.handlers, this, value);
  }

  private async callParts(parts: readonly MessageHandler[], name: Command, value: unknown): Promise<void> {
    for (const part of parts) {
      await this.callPart(part, name, value);
      if (this.isGone) return;
    }
  }

  /**
   * Reports a malformed message with a reject. A malformed `reject` is not answered, because two nodes could answer each
   * other without end. A malformed `notfound` is not answered, because the reference does not parse it.
   */
  private refuseMalformed(command: Command): void {
    if (command === 'reject' || command === 'notfound') return;
    this.reject(command, REJECT_CODE.malformed, 'error parsing message');
  }

  /**
   * Checks the order of the handshake: version, verack, then other messages. A message out of order costs one misbehaviour
   * point.
   */
  private mayHandle(command: string): boolean {
    if (this.version === null) {
      if (command === 'version') return true;
      if (command !== 'reject') this.punish(1, `${printable(command)} before version`);
      return false;
    }
    if (this.isReady || command === 'verack' || command === 'version' || command === 'reject') return true;
    this.punish(1, `${printable(command)} before verack`);
    return false;
  }

  private sendOwnVersion(): void {
    const { log, logsAddresses } = this.host;
    const message = this.host.ownVersion(this);
    this.send('version', message);
    log.debug('net', () => {
      const them = logsAddresses ? `, them=${formatNetAddress(message.receiver)}` : '';
      return `send version message: version ${message.version}, blocks=${message.startHeight}, us=${formatNetAddress(message.sender)}${them}, peer=${this.id}`;
    });
  }

  private onVersion(message: VersionMessage): void {
    const { host } = this;
    if (this.version !== null) {
      this.reject('version', REJECT_CODE.duplicate, 'Duplicate version message');
      this.punish(1, 'duplicate version');
      return;
    }
    const refusal =
      message.version < MIN_PEER_VERSION
        ? this.refuseObsolete(message.version)
        : host.refuseVersion(this, message);
    if (refusal !== null) {
      this.disconnect(refusal);
      return;
    }
    if (this.isInbound) this.sendOwnVersion();
    this.send('verack', null);
    this.version = {
      protocolVersion: message.version,
      services: message.services,
      timeSec: Number(message.timeSec),
      userAgent: message.userAgent,
      cleanUserAgent: cleanUserAgent(message.userAgent),
      startHeight: message.startHeight,
      relay: message.relay,
    };
    this.seenUsAt = message.receiver;
    this.timeOffsetSec = this.version.timeSec - host.nowSec();
    host.log.debug(
      'net',
      `receive version message: ${this.version.cleanUserAgent}: version ${message.version}, blocks=${message.startHeight}, us=${formatNetAddress(message.receiver)}, peer=${this.id}${this.shownAddress}`,
    );
    host.versionAccepted(this, message);
    if (this.isGone) return;
    for (const part of host.parts) part.onVersion?.(this);
  }

  /** Address of the peer for the end of log lines; empty unless addresses are logged. */
  private get shownAddress(): string {
    return this.host.logsAddresses ? `, peeraddr=${formatNetAddress(this.remote)}` : '';
  }

  private refuseObsolete(version: number): string {
    this.reject('version', REJECT_CODE.obsolete, `Version must be ${MIN_PEER_VERSION} or greater`);
    return `using obsolete version ${version}`;
  }

  private onVerack(): void {
    if (this.isReady) return;
    this.isReady = true;
    if (!this.isInbound) {
      this.host.log.info(
        `New outbound peer connected: version: ${this.version!.protocolVersion}, blocks=${this.version!.startHeight}, peer=${this.id}${this.shownAddress}`,
      );
    }
    for (const part of this.host.parts) part.onReady?.(this);
  }

  private onPing({ nonce }: Payload<'ping'>): void {
    if (this.version!.protocolVersion < PING_NONCE_VERSION) return;
    if (nonce === null) this.refuseMalformed('ping');
    else this.send('pong', { nonce });
  }

  private onPong({ nonce }: Payload<'pong'>): void {
    this.pings.answered(nonce, this.host.nowMs());
  }

  /** Sends a ping if one is due, and checks the time limits. Called about every 100 ms. */
  tick(nowMs: number): void {
    const { connection, isReady, version } = this;
    const ageMs = nowMs - this.startedMs;
    const pingWaitMs = this.pings.waitMs(nowMs);
    const protocolVersion = version?.protocolVersion ?? 0;
    const late = lateness({ ageMs, connection, protocolVersion, isReady, pingWaitMs }, nowMs);
    if (late !== null) {
      this.disconnect(late);
      return;
    }
    if (!isReady) return;
    if (this.pings.isDue(nowMs) && !this.isSendFull)
      this.send('ping', { nonce: this.pings.begin(nowMs, protocolVersion) });
    for (const part of this.host.parts) {
      if (this.isGone) return;
      if (!this.isSendFull || part.ticksWhenFull) part.onTick?.(this, nowMs);
    }
  }

  /** Runs `tick` in a turn of this peer. Used when other peers have used up the time of the current tick. */
  async tickInTurn(): Promise<void> {
    if (this.isTickQueued) return;
    this.isTickQueued = true;
    await this.host.turns.nextTurn(this);
    this.isTickQueued = false;
    if (!this.isGone) this.tick(this.host.nowMs());
  }
}

/** Returns the command with unprintable characters replaced, for logs. */
function printable(command: string): string {
  return command.replace(/[^\x20-\x7e]/g, '?');
}
