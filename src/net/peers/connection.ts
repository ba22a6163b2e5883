/**
 * One TCP connection that sends and receives messages. Counts bytes, pauses reading while too many received bytes wait to be
 * handled, and reports how many bytes wait to be sent. Does not interpret messages. Source: Core net.cpp `ReceiveMsgBytes`,
 * `SocketSendData`, `CNode::fPauseRecv`, `fPauseSend`.
 */
import type { Socket } from 'node:net';
import { FRAME_HEAD_BYTES, FrameError, FrameReader, formatFrame, type Frame } from '../framing.js';
import type { ReceiveBudget } from './receiveBudget.js';
import { SendQueue } from './sendQueue.js';

export interface ConnectionOptions {
  magic: Buffer;
  /**
   * Number of received bytes waiting to be handled above which reading pauses (`-maxreceivebuffer`). The budget of all
   * connections may lower the limit.
   */
  maxReceiveBytes: number;
  /** Limit of unsent bytes above which `isSendFull` is true (`-maxsendbuffer`). */
  maxSendBytes: number;
  /** Memory budget for received bytes, shared by all connections. */
  budget: ReceiveBudget;
  nowMs: () => number;
  /** Called with the size of each message sent. */
  onSent: (bytes: number) => void;
}

/**
 * Maximum number of bytes that are read from the socket while a complete message waits: about as much as one or two turns of
 * the event loop handle. Small messages in these bytes are handled even if the sender disconnects. Arbitrary.
 */
const READ_AHEAD_BYTES = 512 << 10;
/**
 * Name under which bytes of all unknown commands are counted, so that a peer cannot fill the statistics with invented
 * commands.
 */
const OTHER = '*other*';
/** Milliseconds within which the last message (a reject) may be sent after this node has ended the connection. */
const LINGER_MS = 500;

export class Connection {
  readonly socket: Socket;
  bytesSent = 0;
  bytesReceived = 0;
  lastSendMs = 0;
  lastReceiveMs = 0;
  /** Last time in milliseconds at which the peer accepted data from this node. */
  lastProgressMs = 0;
  readonly sentByCommand = new Map<string, number>();
  readonly receivedByCommand = new Map<string, number>();
  private readonly options: ConnectionOptions;
  private readonly reader: FrameReader;
  private readonly sending: SendQueue;
  /** Size in bytes of the message that is being handled. */
  private takenBytes = 0;
  private isPaused = false;
  private ended: string | null = null;
  private wakeReader: (() => void) | null = null;
  private readonly wakeWriters: (() => void)[] = [];
  private readonly knownCommands: ReadonlySet<string>;
  /** Called once with the reason when the connection ends. */
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

  /** Stores received bytes. They are parsed later, when the fair queue gives this peer a turn. */
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

  /** Whether reading must pause, because enough unhandled bytes are stored. An incomplete message is always read to its end. */
  private mustPause(): boolean {
    const { budget, maxReceiveBytes } = this.options;
    const limit = Math.min(maxReceiveBytes, READ_AHEAD_BYTES);
    return (this.bufferedBytes > limit || budget.isExceeded) && this.reader.hasNext;
  }

  /** Number of received bytes that are not parsed yet. */
  get bufferedBytes(): number {
    return this.reader.bufferedBytes;
  }

  /** Whether `next` would return a message or end the connection. */
  get hasFrame(): boolean {
    return this.ended === null && this.reader.hasNext;
  }

  /**
   * Resolves with true when a complete message is available, or with false when the connection has ended. Only one caller
   * may wait.
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
   * Returns the next message, or null if none is complete or the connection has ended. The caller must have handled the
   * previous message. Ends the connection if the stream is invalid.
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

  /** Marks the message that `next` returned last as handled. */
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

  /** Number of bytes that wait to be sent. */
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

  /** Ends the connection. Data that was written before is still sent if the remote side accepts it within `LINGER_MS`. */
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
