/**
 * A connection to Tor's control port. Sends one command at a time and returns its reply; events are ignored. Source: Tor
 * control-spec.txt section 2; Core torcontrol.cpp `TorControlConnection`.
 */
import { connect, type Socket } from 'node:net';

/** Maximum size in bytes of a line and of a whole reply. The specification has no limit. */
const MAX_REPLY_BYTES = 100_000;
/** Lowest reply code of asynchronous events. */
const FIRST_EVENT_CODE = 600;

export interface ControlReply {
  /** Code of the reply; 250 means success. */
  readonly code: number;
  /** Lines of the reply without the code, latin1. */
  readonly lines: readonly string[];
}

/** Error: the connection to Tor has ended or could not be opened. */
export class ControlError extends Error {
  override readonly name = 'ControlError';
}

interface Waiting {
  resolve(reply: ControlReply): void;
  reject(error: ControlError): void;
}

export class ControlConnection {
  /** Resolves when the connection has ended. */
  readonly closed: Promise<void>;
  private readonly socket: Socket;
  private readonly waiting: Waiting[] = [];
  private partial = '';
  private lines: string[] = [];
  private replyBytes = 0;
  private end: ControlError | null = null;

  private constructor(socket: Socket) {
    this.socket = socket;
    this.closed = new Promise((resolve) => {
      socket.on('close', () => {
        this.fail('the connection was closed');
        resolve();
      });
    });
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => this.receive(text));
  }

  /**
   * Opens the connection. Rejects with `ControlError` if no response arrives or the signal aborts. If the signal aborts
   * later, the connection is closed.
   */
  static open(host: string, port: number, signal: AbortSignal): Promise<ControlConnection> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(new ControlError('interrupted'));
        return;
      }
      const socket = connect({ host, port });
      // The signal is not passed to `connect`, because Node 20 would keep the listener on the signal after the end of the
      // connection.
      const onAbort = (): void => void socket.destroy(new ControlError('interrupted'));
      const letGo = (): void => signal.removeEventListener('abort', onAbort);
      signal.addEventListener('abort', onAbort);
      socket.on('close', letGo);
      socket.on('error', (error) => {
        letGo();
        reject(new ControlError(error.message || String(error)));
      });
      socket.on('connect', () => resolve(new ControlConnection(socket)));
    });
  }

  /** Sends a one-line command and resolves to its reply. Rejects with `ControlError` if the connection ends before the reply. */
  command(line: string): Promise<ControlReply> {
    if (this.end !== null) return Promise.reject(this.end);
    return new Promise((resolve, reject) => {
      this.waiting.push({ resolve, reject });
      this.socket.write(`${line}\r\n`);
    });
  }

  close(): void {
    this.socket.destroy();
  }

  private receive(text: string): void {
    const lines = (this.partial + text).split('\n');
    this.partial = lines.pop()!;
    for (const line of lines) this.takeLine(line.endsWith('\r') ? line.slice(0, -1) : line);
    if (Math.max(this.partial.length, this.replyBytes) > MAX_REPLY_BYTES) {
      this.fail('the reply is too long');
      this.close();
    }
  }

  /** Handles a line of a reply. It starts with a three-digit code; a space after the code marks the last line. */
  private takeLine(line: string): void {
    if (line.length < 4) return;
    this.lines.push(line.slice(4));
    this.replyBytes += line.length;
    if (line[3] !== ' ') return;
    const reply = { code: parseInt(line.slice(0, 3), 10) || 0, lines: this.lines };
    this.lines = [];
    this.replyBytes = 0;
    if (reply.code < FIRST_EVENT_CODE) this.waiting.shift()?.resolve(reply);
  }

  private fail(message: string): void {
    this.end ??= new ControlError(message);
    for (const { reject } of this.waiting.splice(0)) reject(this.end);
  }
}
