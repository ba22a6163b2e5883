/**
 * A client's connection as lines. Reading pauses while lines are not processed or written data is not sent. A client that
 * does not read is disconnected. The content of lines is not interpreted.
 */
import type { Socket } from 'node:net';
import { LineReader } from '../../util/text/lineReader.js';

export interface LineSocketOptions {
  /** A client with a longer line is disconnected. */
  readonly maxLineBytes: number;
  /** A client that does not read for this time is disconnected. */
  readonly stallMs: number;
}

/** Time for a client to close its side after the server closed its own. */
const END_GRACE_MS = 5000;
/** Reading continues while fewer bytes are waiting. */
const MAX_HELD_BYTES = 1 << 16;

export class LineSocket {
  /** Called when there may be a line to read. */
  onLines: () => void = () => undefined;
  /** Called once when the connection is gone. */
  onClose: () => void = () => undefined;
  /** Called when a line exceeds the limit; the connection is then closed. */
  onTooLong: () => void = () => undefined;
  /** Time of the last received data, by `performance.now()`. */
  lastReceivedMs = performance.now();
  private readonly socket: Socket;
  private readonly stallMs: number;
  private readonly reader: LineReader;
  /** Resolves when written data was sent or the client has left. */
  private draining: Promise<void> | null = null;
  private isTaking = true;
  private isEnding = false;

  constructor(socket: Socket, { maxLineBytes, stallMs }: LineSocketOptions) {
    this.socket = socket;
    this.stallMs = stallMs;
    this.reader = new LineReader(maxLineBytes);
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.receive(chunk));
    // The close event follows.
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

  /** Whether written data waits for the client to read it. */
  get isStalled(): boolean {
    return this.draining !== null;
  }

  /** Bytes that the system has not accepted yet. */
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

  /** Whether lines are processed as they arrive. Otherwise reading pauses when some are waiting. */
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
   * Writes text. Returns null if more may be written at once, else a promise that resolves when it may, or when the client
   * is gone.
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

  /** Cuts the connection. */
  destroy(): void {
    this.socket.destroy();
  }
}
