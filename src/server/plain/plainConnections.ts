/**
 * Connections whose requests have the usual form of a JSON-RPC client, or of one of the direct paths. Their requests are
 * read from the socket and answered on it, because the streams, timers and events of Node's HTTP server take several times
 * the processor time of a small call. At the first request of another form, the connection and the data read so far are
 * passed to Node's server, which then serves the connection until its end. Source of the forms: `plainHead.ts`.
 */
import { channel } from 'node:diagnostics_channel';
import type { Server } from 'node:http';
import { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { HttpConnection } from '../connections.js';
import { inNextRound } from '../../scheduler/rounds.js';
import {
  MAX_PLAIN_HEAD_BYTES,
  readPlainHead,
  readSameGet,
  withLineEnds,
  type PlainHead,
} from './plainHead.js';
import { PlainRequest } from './plainRequest.js';
import { PlainResponse } from './plainResponse.js';

/** Maximum size in bytes of a request body that is handled without Node's server. For larger bodies the gain is negligible. */
const MAX_PLAIN_BODY_BYTES = 1 << 18;
/**
 * Maximum size in bytes of a body that any client may send in pieces. Arbitrary: a call of a usual client, and 4 MiB for all
 * connections together.
 */
const MAX_OPEN_BODY_BYTES = 1 << 13;
/** Maximum size in bytes of a request that is converted to text as a whole. Arbitrary: usual calls are shorter. */
const SHORT_BYTES = 4096;
const HEAD_END = '\r\n\r\n';
/** First letters of the methods `GET` and `POST`. */
const FIRST_LETTERS: readonly string[] = ['G', 'P'];
/** Matches the first character of all HTTP methods. */
const UPPER_CASE = /[A-Z]/;
/** Diagnostics channels with the messages `{ response }`, like `http.server.request.start` and `http.server.response.finish`. */
const requestStart = channel('lbcnode.plain.request.start');
const responseFinish = channel('lbcnode.plain.response.finish');

export interface PlainDeps {
  readonly connectionOf: (socket: Socket) => HttpConnection;
  /** While true, each connection is passed to Node's server at its next request. */
  readonly isStopping: () => boolean;
  /**
   * Whether this class serves requests with this head. If not, the connection is passed to Node's server. The result for
   * a head of a connection does not change.
   */
  readonly takes: (head: PlainHead, connection: HttpConnection) => boolean;
  /**
   * Whether a body above `MAX_OPEN_BODY_BYTES` may arrive in several pieces. Only for callers with a verified password are
   * large incomplete bodies kept in memory.
   */
  readonly mayAssemble: (head: PlainHead, connection: HttpConnection) => boolean;
  readonly serve: (request: PlainRequest, response: PlainResponse, connection: HttpConnection) => void;
  readonly onTimeout: (socket: Socket) => void;
  /** Called when the client closed its side during a request, or sent data after a request that is not HTTP. */
  readonly onInvalid: (connection: HttpConnection) => void;
}

type ServeHttp = (socket: Socket) => void;

export class PlainConnections {
  private readonly deps: PlainDeps;
  private readonly timeoutMs: number;
  private readonly open = new Set<PlainConnection>();
  readonly keepLines: string;

  constructor(timeoutMs: number, deps: PlainDeps) {
    this.timeoutMs = timeoutMs;
    this.deps = deps;
    // The header lines of an open connection, as Node sends them. Source: node:_http_outgoing `_storeHeader`.
    this.keepLines = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(timeoutMs / 1000)}\r\n`;
  }

  /** Intercepts the connections of an HTTP server. Must be called before other listeners are added to the server. */
  attach(server: Server): void {
    const [serveHttp] = server.listeners('connection') as ServeHttp[];
    if (serveHttp === undefined) throw new Error('the HTTP server has no listener for connections');
    server.removeListener('connection', serveHttp);
    server.on('connection', (socket: Socket) => {
      const handOver: ServeHttp = (handed) => serveHttp.call(server, handed);
      if (socket instanceof Socket && !(socket instanceof TLSSocket)) this.add(socket, handOver);
      else handOver(socket);
    });
  }

  /** Closes the connections without a running call. The other connections close after their response. */
  closeIdle(): void {
    for (const each of this.open) if (!each.isRunning) each.socket.destroy();
  }

  closeAll(): void {
    for (const each of this.open) each.socket.destroy();
  }

  private add(socket: Socket, handOver: ServeHttp): void {
    const connection = this.deps.connectionOf(socket);
    const leave = (): void => void this.open.delete(plain);
    const { timeoutMs, keepLines } = this;
    const plain = new PlainConnection(socket, connection, { timeoutMs, keepLines }, this.deps, (handed) => {
      leave();
      handOver(handed);
    });
    this.open.add(plain);
    socket.once('close', leave);
  }
}

/** `timeoutMs`: time after which an idle connection is closed. `keepLines`: see `PlainConnections`. */
interface KeepOptions {
  readonly timeoutMs: number;
  readonly keepLines: string;
}

class PlainConnection {
  readonly socket: Socket;
  private readonly connection: HttpConnection;
  private readonly keep: KeepOptions;
  private readonly deps: PlainDeps;
  private readonly handOver: ServeHttp;
  /** The response to the running request; null if no request is running. */
  private response: PlainResponse | null = null;
  /** Data that arrived during the running request. */
  private ahead: Buffer[] = [];
  /** Parts of a request that is not complete yet. The first part contains the whole head. */
  private parts: Buffer[] = [];
  private partBytes = 0;
  /** Size in bytes of the request that is being received. */
  private wantedBytes = 0;
  /**
   * Text (with the empty line) and parsed form of the last head that this class served. They are cached, because a client sends
   * the same head with each request.
   */
  private headText = '';
  private head: PlainHead | null = null;
  /**
   * Timer of the next check whether the connection is idle, and the time of its last activity. The socket's own timer would be
   * restarted twice in each request.
   */
  private idleTimer: NodeJS.Timeout;
  private activeMs = performance.now();
  /** Text of the last head after its path, if it was a GET; else null. */
  private getRest: string | null = null;

  constructor(
    socket: Socket,
    connection: HttpConnection,
    keep: KeepOptions,
    deps: PlainDeps,
    handOver: ServeHttp,
  ) {
    this.socket = socket;
    this.connection = connection;
    this.keep = keep;
    this.deps = deps;
    this.handOver = handOver;
    this.idleTimer = setTimeout(this.onIdleTimer, keep.timeoutMs).unref();
    socket.on('data', this.onData);
    socket.on('end', this.onEnd);
    socket.on('error', this.onError);
    socket.on('timeout', this.onTimeout);
    socket.on('drain', this.onDrain);
    socket.on('close', this.onClose);
  }

  get isRunning(): boolean {
    return this.response !== null;
  }

  private readonly onData = (chunk: Buffer): void => {
    if (this.response !== null || this.ahead.length > 0) {
      if (this.ahead.length === 0 && !UPPER_CASE.test(String.fromCharCode(chunk[0]!))) {
        this.deps.onInvalid(this.connection);
        return;
      }
      this.ahead.push(chunk);
      this.socket.pause();
    } else if (this.partBytes > 0) this.addPart(chunk);
    else this.begin(chunk);
  };

  /** Handles the first bytes of a request. */
  private begin(chunk: Buffer): void {
    const text = chunk.toString('latin1', 0, SHORT_BYTES);
    const head = this.deps.isStopping() ? null : this.headIn(text);
    if (head === null) {
      this.giveUp(chunk);
      return;
    }
    const wantedBytes = this.headText.length + head.bodyBytes;
    if (chunk.length === wantedBytes) this.serve(head, chunk, text);
    else if (chunk.length < wantedBytes && this.mayAssemble(head)) {
      this.activeMs = performance.now();
      this.wantedBytes = wantedBytes;
      this.parts = [chunk];
      this.partBytes = chunk.length;
    } else this.giveUp(chunk);
  }

  private mayAssemble(head: PlainHead): boolean {
    return head.bodyBytes <= MAX_OPEN_BODY_BYTES || this.deps.mayAssemble(head, this.connection);
  }

  private addPart(chunk: Buffer): void {
    this.activeMs = performance.now();
    this.parts.push(chunk);
    this.partBytes += chunk.length;
    if (this.partBytes < this.wantedBytes) return;
    const whole = Buffer.concat(this.parts);
    this.parts = [];
    this.partBytes = 0;
    if (whole.length === this.wantedBytes)
      this.serve(this.head!, whole, whole.toString('latin1', 0, SHORT_BYTES));
    else this.giveUp(whole);
  }

  /** Reads the head at the beginning of a request; null if this class does not serve it. */
  private headIn(request: string): PlainHead | null {
    if (this.head !== null && request.startsWith(this.headText)) return this.head;
    if (!FIRST_LETTERS.includes(request.charAt(0))) return null;
    const end = request.indexOf(HEAD_END);
    if (end < 0 || end > MAX_PLAIN_HEAD_BYTES) return null;
    const text = request.slice(0, end);
    // The heads of most clients differ from each other only by the path of a GET.
    let head = this.getRest === null ? null : readSameGet(text, this.head!, this.getRest);
    if (head === null) {
      head = readPlainHead(text);
      if (head === null || head.bodyBytes > MAX_PLAIN_BODY_BYTES) return null;
      this.getRest = head.method === 'GET' ? text.slice('GET '.length + head.target.length) : null;
    }
    if (!this.deps.takes(head, this.connection)) return null;
    this.headText = text + HEAD_END;
    return (this.head = head);
  }

  /** `text`: the beginning of the request. */
  private serve(head: PlainHead, bytes: Buffer, text: string): void {
    const bodyText = bytes.length > SHORT_BYTES ? null : text.slice(this.headText.length);
    const response = new PlainResponse(this.socket, this.keep.keepLines, this.onResponseEnd);
    this.response = response;
    if (requestStart.hasSubscribers) requestStart.publish({ response });
    this.deps.serve(new PlainRequest(head, bytes, bodyText), response, this.connection);
  }

  private readonly onResponseEnd = (closes: boolean): void => {
    if (responseFinish.hasSubscribers) responseFinish.publish({ response: this.response });
    this.response = null;
    this.activeMs = performance.now();
    if (closes) this.socket.destroySoon();
    else if (this.ahead.length > 0) inNextRound(this.goOn);
  };

  /** Continues with the data that arrived during the last request. */
  private readonly goOn = (): void => {
    if (this.socket.destroyed) return;
    const ahead = this.ahead.length === 1 ? this.ahead[0]! : Buffer.concat(this.ahead);
    this.ahead = [];
    // `resume` emits no data before this event loop turn ends, so the data below comes first.
    if (!this.connection.isHeld) this.socket.resume();
    this.onData(ahead);
  };

  /** Passes the connection to Node's server, with the data read so far. Node's server handles this request and all later ones. */
  private giveUp(read: Buffer): void {
    const { socket } = this;
    socket.off('data', this.onData);
    socket.off('end', this.onEnd);
    socket.off('error', this.onError);
    socket.off('timeout', this.onTimeout);
    socket.off('drain', this.onDrain);
    socket.off('close', this.onClose);
    socket.setTimeout(0);
    clearTimeout(this.idleTimer);
    socket.pause();
    socket.unshift(withLineEnds(read));
    this.handOver(socket);
    if (!this.connection.isHeld) socket.resume();
  }

  /** Handles the end of the client's side. As in Node's server, the client then gets no further response. */
  private readonly onEnd = (): void => {
    if (this.partBytes > 0) this.deps.onInvalid(this.connection);
    else this.socket.end();
  };

  private readonly onError = (): void => {
    this.socket.destroy();
  };

  private readonly onIdleTimer = (): void => {
    const { socket } = this;
    const { timeoutMs } = this.keep;
    let waitMs = timeoutMs;
    if (this.response === null) {
      const idleMs = performance.now() - this.activeMs;
      if (idleMs < timeoutMs) waitMs = Math.max(1, timeoutMs - idleMs);
      // The socket's own timer restarts while the client still reads its response.
      else if (socket.writableLength > 0) socket.setTimeout(timeoutMs);
      else this.onTimeout();
    }
    this.idleTimer = setTimeout(this.onIdleTimer, waitMs).unref();
  };

  private readonly onTimeout = (): void => {
    this.deps.onTimeout(this.socket);
  };

  private readonly onDrain = (): void => {
    this.response?.emit('drain');
  };

  private readonly onClose = (): void => {
    clearTimeout(this.idleTimer);
    this.response?.emit('close');
  };
}
