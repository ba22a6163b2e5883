/**
 * Connection to a client, read as lines. Reading pauses while lines are not processed yet or written data is not sent yet. A
 * client that does not read its data is disconnected. Other modules interpret the lines.
 */
import type { Socket } from 'node:net';
import { LineReader } from '../../util/text/lineReader.js';

export interface LineSocketOptions {
  /** Maximum number of bytes in a line. A client that sends a longer line is disconnected. */
  readonly maxLineBytes: number;
  /** Milliseconds without reading after which a client is disconnected. */
  readonly stallMs: number;
}

/** Time in ms that a client has to close its side after the server has closed its own side. */
const END_GRACE_MS = 5000;
/** Number of unprocessed bytes at which reading pauses. */
const MAX_HELD_BYTES = 1 << 16;

export class LineSocket {
  /** Called when further data arrived, which may complete a line. */
  onLines: () => void = () => undefined;
  /** Called once after the connection was closed. */
  onClose: () => void = () => undefined;
  /** Called when a received line exceeds the limit. The connection is then closed. */
  onTooLong: () => void = () => undefined;
  /** Time of the last received data, in milliseconds of `performance.now()`. */
  lastReceivedMs = performance.now();
  private readonly socket: Socket;
  private readonly stallMs: number;
  private readonly reader: LineReader;
  /** Resolves when all written data was sent or the client has disconnected; null if no data waits. */
  private draining: Promise<void> | null = null;
  private isTaking = true;
  private isEnding = false;

  constructor(socket: Socket, { maxLineBytes, stallMs }: LineSocketOptions) {
    this.socket = socket;
    this.stallMs = stallMs;
    this.reader = new LineReader(maxLineBytes);
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.receive(chunk));
    // The error is ignored, because the close event follows it.
    socket.on('error', () => undefined);
    socket.once('close', () => this.onClose());
  }

  get address(): string {
    return this.socket.remoteAddress ?? 'unknown';
  }

  /** Whether the connection is closed, so that nothing can be sent. */
  get isGone(): boolean {
    return this.socket.destroyed || this.isEnding;
  }

  get heldBytes(): number {
    return this.reader.heldBytes;
  }

  /** Whether written data waits because the client does not read. */
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

  /** Returns the next complete line; null if no complete line has been received. */
  nextLine(): Buffer | null {
    if (this.isGone) return null;
    const line = this.reader.next();
    this.settleReading();
    return line;
  }

  /** Whether lines are processed when they arrive. If false, reading pauses while lines wait. */
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
