/**
 * One TCP connection as a source and sink of frames: counts bytes, stops reading while too much is unread by us, and
 * knows how much is unread by the other side. Owns no protocol. Source: Core net.cpp `ReceiveMsgBytes`,
 * `SocketSendData`, `CNode::fPauseRecv`, `fPauseSend`.
 */
import type { Socket } from 'node:net';
import { FrameError, FrameReader, formatFrame, type Frame } from '../framing.js';
import type { ReceiveBudget } from './receiveBudget.js';
import { SendQueue } from './sendQueue.js';

export interface ConnectionOptions {
  magic: Buffer;
  /** Reading pauses while more than this is queued (`-maxreceivebuffer`). */
  maxReceiveBytes: number;
  /** `isSendFull` from here on (`-maxsendbuffer`). */
  maxSendBytes: number;
  /** Shared by all connections. */
  budget: ReceiveBudget;
  nowMs: () => number;
  /** Hears of all bytes sent. */
  onSent: (bytes: number) => void;
}

/** Magic, command, length and checksum. */
const FRAME_HEAD_BYTES = 24;
/** What a queued frame takes besides its payload, roughly: else a queue of empty ones would be twenty times too big. */
const FRAME_OVERHEAD_BYTES = 500;
/** Commands that only a peer makes up are counted together, so that they cannot fill the table. */
const OTHER = '*other*';
const GIVEN: Frame = { command: '', payload: Buffer.alloc(0), checksumOk: false };
/** How long a last message (a reject) may take to get out. */
const LINGER_MS = 500;

const costOf = ({ payload }: Frame): number => FRAME_OVERHEAD_BYTES + payload.length;

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
  /** Frames not taken yet, from `head` on. */
  private frames: Frame[] = [];
  private head = 0;
  /** What the frames cost that are queued, and the one that was taken last, which is being handled. */
  private queuedCost = 0;
  private takenCost = 0;
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

  private receive(chunk: Buffer): void {
    this.bytesReceived += chunk.length;
    this.lastReceiveMs = this.options.nowMs();
    try {
      this.reader.push(chunk);
      for (let frame = this.reader.next(); frame !== null; frame = this.reader.next()) this.enqueue(frame);
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      this.end(error.message);
    }
  }

  private enqueue(frame: Frame): void {
    if (this.ended !== null) return;
    const sizeBytes = FRAME_HEAD_BYTES + frame.payload.length;
    const command = this.knownCommands.has(frame.command) ? frame.command : OTHER;
    this.receivedByCommand.set(command, (this.receivedByCommand.get(command) ?? 0) + sizeBytes);
    const { budget, maxReceiveBytes } = this.options;
    this.frames.push(frame);
    this.queuedCost += costOf(frame);
    budget.take(costOf(frame));
    if (!this.isPaused && (this.queuedCost > maxReceiveBytes || budget.isExceeded)) {
      this.isPaused = true;
      this.socket.pause();
    }
    this.wakeReader?.();
  }

  /** Whether `nextFrame` answers at once. */
  get hasFrame(): boolean {
    return this.head < this.frames.length;
  }

  /**
   * The next frame, or null once the connection has ended. Only one caller may wait, and whoever asks for the next one is
   * done with the one before.
   */
  async nextFrame(): Promise<Frame | null> {
    this.options.budget.giveBack(this.takenCost);
    this.takenCost = 0;
    while (this.head === this.frames.length && this.ended === null) {
      this.resume();
      await new Promise<void>((resolve) => {
        this.wakeReader = resolve;
      });
      this.wakeReader = null;
    }
    if (this.ended !== null) return null;
    const frame = this.frames[this.head]!;
    // Nobody but the one who took it shall hold it.
    this.frames[this.head++] = GIVEN;
    if (this.head === this.frames.length || this.head > 1024) {
      this.frames = this.frames.slice(this.head);
      this.head = 0;
    }
    this.takenCost = costOf(frame);
    this.queuedCost -= this.takenCost;
    const { budget, maxReceiveBytes } = this.options;
    if (this.queuedCost <= maxReceiveBytes && !budget.isExceeded) this.resume();
    return frame;
  }

  private resume(): void {
    if (!this.isPaused) return;
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
    this.frames = [];
    this.head = 0;
    this.options.budget.giveBack(this.queuedCost + this.takenCost);
    this.queuedCost = 0;
    this.takenCost = 0;
    this.socket.pause();
    this.sending.flush();
    this.socket.end();
    setTimeout(() => this.socket.destroy(), LINGER_MS).unref();
    this.wakeReader?.();
    this.wakeAllWriters();
    this.onEnd(reason);
  }
}
