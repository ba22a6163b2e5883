/**
 * A client's connection as lines: reading that pauses while no one takes the lines or while what was written does not
 * leave, and writing that gives up on a client that takes nothing. Knows nothing of what lines mean.
 */
import type { Socket } from 'node:net';
import { LineReader } from '../../util/text/lineReader.js';

export interface LineSocketOptions {
  /** A client with a longer line is cut off. */
  readonly maxLineBytes: number;
  /** A client that takes nothing for so long is cut off. */
  readonly stallMs: number;
}

/** How long a client may take to end its side after we ended ours. */
const END_GRACE_MS = 5000;
/** Reading continues while less waits to be taken. */
const MAX_HELD_BYTES = 1 << 16;

export class LineSocket {
  /** Called when there may be a line to take. */
  onLines: () => void = () => undefined;
  /** Called once when the connection is gone. */
  onClose: () => void = () => undefined;
  /** Called when a line outgrew the bound; the connection is being cut. */
  onTooLong: () => void = () => undefined;
  /** When anything came last, by `performance.now()`. */
  lastReceivedMs = performance.now();
  private readonly socket: Socket;
  private readonly stallMs: number;
  private readonly reader: LineReader;
  /** Resolves when what was written has left or the client has. */
  private draining: Promise<void> | null = null;
  private isTaking = true;
  private isEnding = false;

  constructor(socket: Socket, { maxLineBytes, stallMs }: LineSocketOptions) {
    this.socket = socket;
    this.stallMs = stallMs;
    this.reader = new LineReader(maxLineBytes);
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.receive(chunk));
    // What follows is the end.
    socket.on('error', () => undefined);
    socket.once('close', () => this.onClose());
  }

  get address(): string {
    return this.socket.remoteAddress ?? 'unknown';
  }

  /** Whether nothing can be sent any more. */
  get isGone(): boolean {
    return this.socket.destroyed || this.isEnding;
  }

  get heldBytes(): number {
    return this.reader.heldBytes;
  }

  /** Whether what was written waits for the client to take it. */
  get isStalled(): boolean {
    return this.draining !== null;
  }

  /** Bytes that the system did not take yet. */
  get unsentBytes(): number {
    return this.socket.writableLength;
  }

  private receive(chunk: Buffer): void {
    this.lastReceivedMs = performance.now();
    if (this.isGone) return;
    this.reader.push(chunk);
    this.onLines();
    if (this.reader.isTooLong) {
      this.onTooLong();
      this.destroy();
      return;
    }
    this.settleReading();
  }

  /** The next line, or null. */
  nextLine(): Buffer | null {
    if (this.isGone) return null;
    const line = this.reader.next();
    this.settleReading();
    return line;
  }

  /** Whether lines are taken as they come; else reading pauses when some wait. */
  set takesLines(takes: boolean) {
    this.isTaking = takes;
    this.settleReading();
  }

  private settleReading(): void {
    const { socket, reader } = this;
    const mustWait = this.draining !== null || (!this.isTaking && reader.heldBytes > MAX_HELD_BYTES);
    if (mustWait === socket.isPaused()) return;
    if (mustWait) socket.pause();
    else socket.resume();
  }

  /** Hands text to the system. Null when more may follow at once, else resolves when it may, or when the client is gone. */
  write(text: string): Promise<void> | null {
    if (this.isGone || this.socket.write(text)) return null;
    return (this.draining ??= this.drained());
  }

  private drained(): Promise<void> {
    const { socket } = this;
    return new Promise<void>((resolve) => {
      const stalled = setTimeout(() => socket.destroy(), this.stallMs);
      const settle = (): void => {
        clearTimeout(stalled);
        socket.off('drain', settle);
        socket.off('close', settle);
        this.draining = null;
        this.settleReading();
        resolve();
      };
      socket.once('drain', settle);
      socket.once('close', settle);
      socket.pause();
    });
  }

  /** Ends the connection behind what was written. */
  end(): void {
    if (this.isGone) return;
    this.isEnding = true;
    this.socket.end();
    const grace = setTimeout(() => this.socket.destroy(), END_GRACE_MS);
    this.socket.once('close', () => clearTimeout(grace));
  }

  /** Cuts the connection. */
  destroy(): void {
    this.socket.destroy();
  }
}
