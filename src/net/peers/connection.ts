/**
 * One TCP connection as a source and sink of frames: counts bytes, pauses reading while too many received bytes are
 * unhandled, and knows how many bytes wait to be sent. Does not know the protocol. Source: Core net.cpp `ReceiveMsgBytes`,
 * `SocketSendData`, `CNode::fPauseRecv`, `fPauseSend`.
 */
import type { Socket } from 'node:net';
import { FRAME_HEAD_BYTES, FrameError, FrameReader, formatFrame, type Frame } from '../framing.js';
import type { ReceiveBudget } from './receiveBudget.js';
import { SendQueue } from './sendQueue.js';

export interface ConnectionOptions {
  magic: Buffer;
  /** Reading pauses while more received bytes than this are unhandled (`-maxreceivebuffer`); the shared budget may lower it. */
  maxReceiveBytes: number;
  /** Number of waiting bytes from which `isSendFull` is true (`-maxsendbuffer`). */
  maxSendBytes: number;
  /** Shared by all connections. */
  budget: ReceiveBudget;
  nowMs: () => number;
  /** Notified of all bytes sent. */
  onSent: (bytes: number) => void;
}

/**
 * Maximum number of bytes read ahead while a complete message is waiting: as much as is handled in one or two turns of the
 * event loop. Small messages that were read are handled even after the sender has disconnected. Arbitrary.
 */
const READ_AHEAD_BYTES = 512 << 10;
/** Unknown commands are counted together, so that a peer cannot fill the table with them. */
const OTHER = '*other*';
/** Time limit for sending a last message (a reject). */
const LINGER_MS = 500;

export class Connection {
  readonly socket: Socket;
  bytesSent = 0;
  bytesReceived = 0;
  lastSendMs = 0;
  lastReceiveMs = 0;
  /** Time at which the other side last received data from us. */
  lastProgressMs = 0;
  readonly sentByCommand = new Map<string, number>();
  readonly receivedByCommand = new Map<string, number>();
  private readonly options: ConnectionOptions;
  private readonly reader: FrameReader;
  private readonly sending: SendQueue;
  /** Size of the message that is being handled. */
  private takenBytes = 0;
  private isPaused = false;
  private ended: string | null = null;
  private wakeReader: (() => void) | null = null;
  private readonly wakeWriters: (() => void)[] = [];
  private readonly knownCommands: ReadonlySet<string>;
  /** Called once at the end of the connection, with the reason. */
  onEnd: (reason: string) => void = () => undefined;

  constructor(socket: Socket, options: ConnectionOptions, knownCommands: ReadonlySet<string>) {
    this.socket = socket;
    this.options = options;
    this.knownCommands = knownCommands;
    this.reader = new FrameReader(options.magic);
    this.sending = new SendQueue(socket);
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.receive(chunk));
    socket.on('drain', () => {
      this.lastProgressMs = options.nowMs();
      this.sending.flush();
      this.wakeAllWriters();
    });
    socket.on('error', (error) => this.end(`socket error: ${error.message}`));
    socket.on('end', () => this.end('socket closed'));
    socket.on('close', () => this.end('socket closed'));
  }

  /** Only stores the bytes. They are parsed in the peer's turn. */
  private receive(chunk: Buffer): void {
    if (this.ended !== null) return;
    this.bytesReceived += chunk.length;
    this.lastReceiveMs = this.options.nowMs();
    this.reader.push(chunk);
    this.options.budget.take(chunk.length);
    if (!this.isPaused && this.mustPause()) {
      this.isPaused = true;
      this.socket.pause();
    }
    if (this.reader.hasNext) this.wakeReader?.();
  }

  /** Whether enough bytes are waiting. The rest of a partly received message is always read. */
  private mustPause(): boolean {
    const { budget, maxReceiveBytes } = this.options;
    const limit = Math.min(maxReceiveBytes, READ_AHEAD_BYTES);
    return (this.bufferedBytes > limit || budget.isExceeded) && this.reader.hasNext;
  }

  /** Received bytes that are not parsed yet. */
  get bufferedBytes(): number {
    return this.reader.bufferedBytes;
  }

  /** Whether `next` would return a message. */
  get hasFrame(): boolean {
    return this.ended === null && this.reader.hasNext;
  }

  /**
   * Resolves with true when there is a complete message, or with false when the connection has ended. Only one caller may
   * wait.
   */
  async readable(): Promise<boolean> {
    this.release();
    while (!this.hasFrame && this.ended === null) {
      this.resume();
      await new Promise<void>((resolve) => {
        this.wakeReader = resolve;
      });
      this.wakeReader = null;
    }
    return this.ended === null;
  }

  /**
   * Returns the next message; null if none is complete or the connection has ended. The previous message must be handled.
   * Ends the connection if the stream is not of this network.
   */
  next(): Frame | null {
    this.release();
    if (this.ended !== null) return null;
    let frame: Frame | null = null;
    try {
      frame = this.reader.next();
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      this.end(error.message);
    }
    if (frame !== null) {
      this.takenBytes = FRAME_HEAD_BYTES + frame.payload.length;
      const command = this.knownCommands.has(frame.command) ? frame.command : OTHER;
      this.receivedByCommand.set(command, (this.receivedByCommand.get(command) ?? 0) + this.takenBytes);
    }
    if (this.isPaused && !this.mustPause()) this.resume();
    return frame;
  }

  /** The last message returned by `next` is handled. */
  private release(): void {
    this.options.budget.giveBack(this.takenBytes);
    this.takenBytes = 0;
  }

  private resume(): void {
    if (!this.isPaused || this.ended !== null) return;
    this.isPaused = false;
    this.socket.resume();
  }

  send(command: string, payload: Buffer): void {
    if (this.ended !== null) return;
    const frame = formatFrame(this.options.magic, command, payload);
    this.bytesSent += frame.length;
    this.options.onSent(frame.length);
    this.sentByCommand.set(command, (this.sentByCommand.get(command) ?? 0) + frame.length);
    this.lastSendMs = this.options.nowMs();
    if (this.sendQueueBytes === 0) this.lastProgressMs = this.lastSendMs;
    this.sending.write(frame);
  }

  /** Bytes that wait to be sent. */
  get sendQueueBytes(): number {
    return this.sending.sizeBytes;
  }

  get isSendFull(): boolean {
    return this.sending.sizeBytes > this.options.maxSendBytes;
  }

  /** Resolves when the send buffer is not full, or the connection has ended. */
  async sendRoom(): Promise<void> {
    while (this.isSendFull && this.ended === null) {
      await new Promise<void>((resolve) => this.wakeWriters.push(resolve));
    }
  }

  private wakeAllWriters(): void {
    for (const wake of this.wakeWriters.splice(0)) wake();
  }

  get isEnded(): boolean {
    return this.ended !== null;
  }

  /** Ends the connection. Data written before is still sent if the other side receives it soon. */
  end(reason: string): void {
    if (this.ended !== null) return;
    this.ended = reason;
    this.release();
    this.options.budget.giveBack(this.bufferedBytes);
    this.reader.clear();
    this.socket.pause();
    this.sending.flush();
    this.socket.end();
    setTimeout(() => this.socket.destroy(), LINGER_MS).unref();
    this.wakeReader?.();
    this.wakeAllWriters();
    this.onEnd(reason);
  }
}
