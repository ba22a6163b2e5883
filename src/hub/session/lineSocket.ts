/**
 * Connection to a client, read as lines. Reading pauses while lines are not processed yet or written data is not sent yet. A
 * client that does not read its data is disconnected. This module does not interpret the lines.
 */
import type { Socket } from 'node:net';
import { LineReader } from '../../util/text/lineReader.js';

export interface LineSocketOptions {
  /** Maximum number of bytes of a line. A client with a longer line is disconnected. */
  readonly maxLineBytes: number;
  /** Time after which a client that does not read is disconnected. */
  readonly stallMs: number;
}

/** Time for a client to close its side after the server closed its own. */
const END_GRACE_MS = 5000;
/** Number of unprocessed bytes from which reading pauses. */
const MAX_HELD_BYTES = 1 << 16;

export class LineSocket {
  /** Called when a complete line may have arrived. */
  onLines: () => void = () => undefined;
  /** Called once after the connection was closed. */
  onClose: () => void = () => undefined;
  /** Called when a line exceeds the limit; the connection is then closed. */
  onTooLong: () => void = () => undefined;
  /** Time of the last received data, in milliseconds of `performance.now()`. */
  lastReceivedMs = performance.now();
  private readonly socket: Socket;
  private readonly stallMs: number;
  private readonly reader: LineReader;
  /** Resolves when all written data was sent or the client has disconnected; null while no data waits. */
  private draining: Promise<void> | null = null;
  private isTaking = true;
  private isEnding = false;

  constructor(socket: Socket, { maxLineBytes, stallMs }: LineSocketOptions) {
    this.socket = socket;
    this.stallMs = stallMs;
    this.reader = new LineReader(maxLineBytes);
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.receive(chunk));
    // An error needs no handling, because the close event follows it.
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

  /** Whether written data is waiting because the client does not read. */
  get isStalled(): boolean {
    return this.draining !== null;
  }

  /** Number of bytes that the operating system has not accepted yet. */
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

  /** Returns the next complete line; null if there is none. */
  nextLine(): Buffer | null {
    if (this.isGone) return null;
    const line = this.reader.next();
    this.settleReading();
    return line;
  }

  /** Whether lines are processed as soon as they arrive. If false, reading pauses when unprocessed lines are waiting. */
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

  /**
   * Writes text. Returns null if more may be written immediately. Otherwise returns a promise that resolves when more may be
   * written, or when the client has disconnected.
   */
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

  /** Closes the connection after the written data. */
  end(): void {
    if (this.isGone) return;
    this.isEnding = true;
    this.socket.end();
    const grace = setTimeout(() => this.socket.destroy(), END_GRACE_MS);
    this.socket.once('close', () => clearTimeout(grace));
  }

  /** Closes the connection immediately and discards unsent data. */
  destroy(): void {
    this.socket.destroy();
  }
}
