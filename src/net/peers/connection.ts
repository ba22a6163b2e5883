/**
 * One TCP connection as a source and sink of frames: counts bytes, stops reading while too much is unread by us, and
 * knows how much is unread by the other side. Owns no protocol. Source: Core net.cpp `ReceiveMsgBytes`,
 * `SocketSendData`, `CNode::fPauseRecv`, `fPauseSend`.
 */
import type { Socket } from 'node:net';
import { FRAME_HEAD_BYTES, FrameError, FrameReader, formatFrame, type Frame } from '../framing.js';
import type { ReceiveBudget } from './receiveBudget.js';
import { SendQueue } from './sendQueue.js';

export interface ConnectionOptions {
  magic: Buffer;
  /** Reading pauses while more than this has come and was not handled (`-maxreceivebuffer`), or less. */
  maxReceiveBytes: number;
  /** `isSendFull` from here on (`-maxsendbuffer`). */
  maxSendBytes: number;
  /** Shared by all connections. */
  budget: ReceiveBudget;
  nowMs: () => number;
  /** Notified of all bytes sent. */
  onSent: (bytes: number) => void;
}

/**
 * With a whole message at hand no more than that is read ahead: as much as is handled in a round of the loop or two. Small
 * messages that were read are handled even after their sender has gone. Arbitrary.
 */
const READ_AHEAD_BYTES = 512 << 10;
/** Commands that only a peer makes up are counted together, so that they cannot fill the table. */
const OTHER = '*other*';
/** How long a last message (a reject) may take to get out. */
const LINGER_MS = 500;

export class Connection {
  readonly socket: Socket;
  bytesSent = 0;
  bytesReceived = 0;
  lastSendMs = 0;
  lastReceiveMs = 0;
  /** When the other side last took something that we sent. */
  lastProgressMs = 0;
  readonly sentByCommand = new Map<string, number>();
  readonly receivedByCommand = new Map<string, number>();
  private readonly options: ConnectionOptions;
  private readonly reader: FrameReader;
  private readonly sending: SendQueue;
  /** Bytes of the message that was taken last, which is being handled. */
  private takenBytes = 0;
  private isPaused = false;
  private ended: string | null = null;
  private wakeReader: (() => void) | null = null;
  private readonly wakeWriters: (() => void)[] = [];
  private readonly knownCommands: ReadonlySet<string>;
  /** Told once of the end and its reason. */
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

  /** Keeps the bytes, and no more: what they say is found out in the peer's turn. */
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

  /** Whether enough has come for now; the rest of a partly received message is always read. */
  private mustPause(): boolean {
    const { budget, maxReceiveBytes } = this.options;
    const limit = Math.min(maxReceiveBytes, READ_AHEAD_BYTES);
    return (this.bufferedBytes > limit || budget.isExceeded) && this.reader.hasNext;
  }

  /** Bytes that came and were not looked at yet. */
  get bufferedBytes(): number {
    return this.reader.bufferedBytes;
  }

  /** Whether `next` has a message. */
  get hasFrame(): boolean {
    return this.ended === null && this.reader.hasNext;
  }

  /** Resolves once there is a whole message, with true, or the connection has ended. Only one caller may wait. */
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
   * Takes the next message; null when none is whole yet, or the connection has ended. The caller must be done with the
   * one before. Ends the connection when the stream is not one of this network.
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

  /** The message that was taken last is handled. */
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

  /** Resolves once there is room to send, or the connection has ended. */
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

  /** Ends the connection. What was sent before goes out if the other side takes it within a moment. */
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
