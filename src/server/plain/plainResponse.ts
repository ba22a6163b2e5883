/**
 * A response of HTTP/1.1 without Node's `ServerResponse`, whose streams take more processor time than a small call. It sends
 * the same header lines. The connection owns the response and emits `drain` and `close` on it. Source: RFC 9112, section
 * 7.1.
 */
import { EventEmitter } from 'node:events';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { HexFragment, type BodyPiece } from '../../util/json/jsonWrite.js';
import type { HttpResponse } from '../httpResponse.js';
import { writeHex } from './hexBuffer.js';

type Headers = Record<string, string | number> | string[];

/** Beginning of a response with JSON, up to the value of Content-Length. */
const JSON_HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ';

let dateSec = 0;
let dateLine = '';

/** Returns the Date header for the current second. The text is cached for that second. */
function dateHeader(): string {
  const nowMs = Date.now();
  const nowSec = Math.floor(nowMs / 1000);
  if (nowSec !== dateSec) {
    dateSec = nowSec;
    dateLine = `Date: ${new Date(nowMs).toUTCString()}\r\n`;
  }
  return dateLine;
}

function pairsOf(headers: Headers): readonly (string | number)[] {
  return Array.isArray(headers) ? headers : Object.entries(headers).flat();
}

export class PlainResponse implements HttpResponse {
  readonly socket: Socket;
  /** Header lines for a connection that stays open after the response. */
  private readonly keepLines: string;
  /** Called at the end of the response. `closes`: whether the connection ends with the response. */
  private readonly onEnd: (closes: boolean) => void;
  private closes = false;
  private isChunked = false;
  /** The head of the response. It is sent together with the first data, and is null afterwards. */
  private head: string | null = null;
  writableEnded = false;
  /** Listeners; null before the first one is added. A response that is sent at once needs none. */
  private events: EventEmitter | null = null;

  constructor(socket: Socket, keepLines: string, onEnd: (closes: boolean) => void) {
    this.socket = socket;
    this.keepLines = keepLines;
    this.onEnd = onEnd;
  }

  get destroyed(): boolean {
    return this.socket.destroyed;
  }

  get writableFinished(): boolean {
    return this.writableEnded && this.socket.writableLength === 0;
  }

  once(event: 'close' | 'drain', listener: () => void): this {
    (this.events ??= new EventEmitter()).once(event, listener);
    return this;
  }

  off(event: 'close' | 'drain', listener: () => void): this {
    this.events?.off(event, listener);
    return this;
  }

  emit(event: 'close' | 'drain'): void {
    this.events?.emit(event);
  }

  writeHead(status: number, headers: Headers = []): this {
    this.head = this.headOf(status, pairsOf(headers));
    return this;
  }

  sendJson(body: string): void {
    const length = Buffer.byteLength(body);
    // A text of ASCII characters only is written as latin1, which needs no encoding.
    this.socket.write(
      `${JSON_HEAD}${length}\r\n${dateHeader()}${this.keepLines}\r\n${body}`,
      length === body.length ? 'latin1' : 'utf8',
    );
    this.finish();
  }

  sendWhole(status: number, headers: readonly string[], body: string, encoding: BufferEncoding): void {
    this.socket.write(this.headOf(status, headers) + body, encoding);
    this.finish();
  }

  sendPieces(status: number, headers: readonly string[], pieces: readonly BodyPiece[]): void {
    const { socket } = this;
    socket.cork();
    // Adjacent texts are one write, because each write takes longer than joining them. The head is ASCII.
    let text = this.headOf(status, headers);
    for (const piece of pieces) {
      if (typeof piece === 'string') text += piece;
      else {
        if (text !== '') socket.write(text);
        text = '';
        if (piece instanceof HexFragment) writeHex(socket, piece.bytes);
        else socket.write(piece);
      }
    }
    if (text !== '') socket.write(text);
    socket.uncork();
    this.finish();
  }

  write(data: string | Uint8Array, encoding?: BufferEncoding): boolean {
    const { socket } = this;
    const bytes = typeof data === 'string' ? Buffer.from(data, encoding) : data;
    socket.cork();
    this.sendHead();
    if (bytes.length > 0) {
      if (this.isChunked) socket.write(`${bytes.length.toString(16)}\r\n`, 'latin1');
      socket.write(bytes);
      if (this.isChunked) socket.write('\r\n', 'latin1');
    }
    socket.uncork();
    return !socket.writableNeedDrain;
  }

  end(data?: string | Uint8Array): this {
    if (this.writableEnded) return this;
    const { socket } = this;
    socket.cork();
    this.sendHead();
    if (data !== undefined && data.length > 0) this.write(data);
    if (this.isChunked) socket.write('0\r\n\r\n', 'latin1');
    socket.uncork();
    this.finish();
    return this;
  }

  destroy(): this {
    this.socket.destroy();
    return this;
  }

  private sendHead(): void {
    const { head } = this;
    this.head = null;
    if (head !== null) this.socket.write(head, 'latin1');
  }

  private finish(): void {
    this.writableEnded = true;
    this.onEnd(this.closes);
  }

  /** Formats the head of the response. Without a Content-Length the body is sent in chunks. */
  private headOf(status: number, headers: readonly (string | number)[]): string {
    let text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'unknown'}\r\n`;
    let hasLength = status === 204;
    for (let i = 0; i < headers.length; i += 2) {
      const name = headers[i] as string;
      text += `${name}: ${headers[i + 1]}\r\n`;
      if (name === 'Content-Length') hasLength = true;
      else if (name === 'Connection' && headers[i + 1] === 'close') this.closes = true;
    }
    text += dateHeader();
    if (!this.closes) text += this.keepLines;
    this.isChunked = !hasLength;
    return `${text}${this.isChunked ? 'Transfer-Encoding: chunked\r\n' : ''}\r\n`;
  }
}
