/**
 * One WebSocket client: its subscriptions, its send queue and its requests. The queue has a maximum size. A client that
 * reads too slowly is disconnected.
 */
import type { WebSocket } from 'ws';
import { RPC_ERROR, RpcError, rpcError } from '../rpc/declare/errors.js';
import { inNextRound } from '../scheduler/rounds.js';
import type { AddressPrefixes } from '../script/address.js';
import { JsonObject, type JsonValue } from '../util/json/json.js';
import { JsonParseError, parseJson } from '../util/json/jsonParse.js';
import { stringifyJson } from '../util/json/jsonStream.js';
import { type JsonOut } from '../util/json/jsonWrite.js';
import type { Logger } from '../util/logging.js';
import type { ClientEvent } from './webSocketEvents.js';
import { parseSubscription, sizeOf, type Subscription } from './webSocketSubscription.js';

/** WebSocket close codes. Codes from 4000 on are defined by this program. */
export const CLOSE = { goingAway: 1001, binary: 1003, tooSlow: 4000 } as const;

/** Maximum milliseconds for a client to close the connection after a close message. */
const CLOSE_GRACE_MS = 2000;
/** Maximum number of bytes in the socket's buffer. Further messages wait in the queue. */
const AHEAD_BYTES = 64 << 10;

export interface ClientLimits {
  /**
   * Maximum number of subscribed items of a client: names, ids, addresses and scripts. A subscription without items counts
   * as one.
   */
  readonly maxSubscriptions: number;
  /** Maximum number of bytes that wait to be sent to the client. */
  readonly maxQueueBytes: number;
}

export interface ClientDeps {
  readonly prefixes: AddressPrefixes;
  readonly logger: Logger;
}

interface Waiting {
  readonly event: ClientEvent;
  /** Serial number of the event. Subscriptions that were added after the event have higher numbers and do not receive it. */
  readonly serial: number;
}

export class WebSocketClient {
  private readonly socket: WebSocket;
  private readonly limits: ClientLimits;
  private readonly deps: ClientDeps;
  private readonly subscriptions = new Map<number, { subscription: Subscription; since: number }>();
  private subscribed = 0;
  private lastId = 0;
  private serial = 0;
  private waiting: Waiting[] = [];
  private waitingBytes = 0;
  /** The event whose messages are being sent. */
  private current: { messages: Generator<string>; sizeBytes: number } | null = null;
  private isPaused = false;
  /** Whether the client sent or read data since the last ping. */
  isAlive = true;

  constructor(socket: WebSocket, limits: ClientLimits, deps: ClientDeps) {
    this.socket = socket;
    this.limits = limits;
    this.deps = deps;
    socket.on('pong', () => (this.isAlive = true));
    socket.on('message', (data: Buffer, isBinary) => {
      this.isAlive = true;
      if (isBinary) this.close(CLOSE.binary, 'requests must be text messages');
      else this.send(this.answer(data.toString('utf8')));
    });
    socket.once('close', () => this.forget());
  }

  get wantsAnything(): boolean {
    return this.subscriptions.size > 0;
  }

  walletDepthWanted(wallet: string): number {
    let most = 0;
    for (const { subscription } of this.subscriptions.values()) {
      if (subscription.topic === 'wallet' && subscription.wallet === wallet)
        most = Math.max(most, subscription.confirmations);
    }
    return most;
  }

  /** Queues an event for which the client has a subscription. Disconnects the client if its queue is too long. */
  tell(event: ClientEvent): void {
    const serial = ++this.serial;
    if (!this.isOpen || !event.concerns(this.olderThan(serial))) return;
    this.waiting.push({ event, serial });
    this.waitingBytes += event.sizeBytes;
    if (!this.shedIfSlow()) this.pump();
  }

  /** Closes the connection, and terminates it if the client does not respond. */
  close(code: number, reason: string): void {
    if (!this.isOpen) return;
    this.socket.close(code, reason);
    this.forget();
    const cut = setTimeout(() => this.socket.terminate(), CLOSE_GRACE_MS);
    this.socket.once('close', () => clearTimeout(cut));
  }

  /** Sends a ping. Disconnects the client if it was inactive since the previous ping. */
  checkLife(): void {
    if (!this.isAlive) {
      this.socket.terminate();
      return;
    }
    this.isAlive = false;
    this.socket.ping();
  }

  private get isOpen(): boolean {
    return this.socket.readyState === this.socket.OPEN;
  }

  private forget(): void {
    this.subscriptions.clear();
    this.waiting = [];
    this.waitingBytes = 0;
    this.current = null;
  }

  private shedIfSlow(): boolean {
    const { maxQueueBytes } = this.limits;
    if (this.waitingBytes + this.socket.bufferedAmount <= maxQueueBytes) return false;
    this.close(CLOSE.tooSlow, `too slow: more than ${maxQueueBytes} bytes were queued`);
    return true;
  }

  private *olderThan(serial: number): Generator<readonly [number, Subscription]> {
    for (const [id, { subscription, since }] of this.subscriptions) {
      if (since < serial) yield [id, subscription];
    }
  }

  /** Sends queued events, as fast as the client reads. */
  private pump(): void {
    while (!this.isPaused && this.isOpen) {
      const message = this.nextMessage();
      if (message === null) return;
      if (this.socket.bufferedAmount < AHEAD_BYTES) {
        this.socket.send(message);
        continue;
      }
      this.isPaused = true;
      this.socket.send(message, () => {
        this.isAlive = true;
        // Waits for the next turn of the event loop before the next piece, so that other clients get a turn.
        inNextRound(() => this.resume());
      });
    }
  }

  private resume(): void {
    this.isPaused = false;
    try {
      this.pump();
    } catch (error) {
      this.deps.logger.error(`A WebSocket message failed: ${stackOf(error)}`);
      this.socket.terminate();
    }
  }

  private nextMessage(): string | null {
    for (;;) {
      if (!this.current) {
        const next = this.waiting.shift();
        if (!next) return null;
        const messages = next.event.messages(() => this.olderThan(next.serial));
        this.current = { messages, sizeBytes: next.event.sizeBytes };
      }
      const { messages, sizeBytes } = this.current;
      const { value, done } = messages.next();
      if (done !== true) return value;
      this.current = null;
      this.waitingBytes -= sizeBytes;
    }
  }

  private send(answer: JsonOut): void {
    if (!this.isOpen) return;
    this.socket.send(stringifyJson(answer));
    this.shedIfSlow();
  }

  private answer(text: string): JsonOut {
    let id: JsonValue = null;
    try {
      const request = parseRequest(text);
      id = request.get('id') ?? null;
      return { result: this.run(request), error: null, id };
    } catch (error) {
      if (error instanceof RpcError)
        return { result: null, error: { code: error.code, message: error.message }, id };
      this.deps.logger.error(`A WebSocket request failed: ${stackOf(error)}`);
      return { result: null, error: { code: RPC_ERROR.INTERNAL_ERROR, message: 'Internal error' }, id };
    }
  }

  private run(request: JsonObject): JsonOut {
    const method = request.get('method');
    if (typeof method !== 'string') throw rpcError(RPC_ERROR.INVALID_REQUEST, 'Method must be a string');
    const params = request.get('params') ?? new JsonObject();
    if (!(params instanceof JsonObject)) throw rpcError(RPC_ERROR.INVALID_PARAMS, 'Params must be an object');
    switch (method) {
      case 'subscribe':
        return { subscription: this.subscribe(params) };
      case 'unsubscribe':
        return this.unsubscribe(params);
      default:
        throw rpcError(RPC_ERROR.METHOD_NOT_FOUND, 'Method not found');
    }
  }

  private subscribe(params: JsonObject): number {
    const subscription = parseSubscription(params, this.deps.prefixes);
    const { maxSubscriptions } = this.limits;
    const size = sizeOf(subscription);
    if (this.subscribed + size > maxSubscriptions)
      throw rpcError(RPC_ERROR.INVALID_PARAMETER, `More than ${maxSubscriptions} subscriptions`);
    this.subscribed += size;
    this.subscriptions.set(++this.lastId, { subscription, since: this.serial });
    return this.lastId;
  }

  private unsubscribe(params: JsonObject): boolean {
    const id = params.get('subscription');
    const found = typeof id === 'number' ? this.subscriptions.get(id) : undefined;
    if (!found) throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'No such subscription');
    this.subscribed -= sizeOf(found.subscription);
    this.subscriptions.delete(id as number);
    return true;
  }
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function parseRequest(text: string): JsonObject {
  let value: JsonValue;
  try {
    value = parseJson(text);
  } catch (error) {
    if (error instanceof JsonParseError) throw rpcError(RPC_ERROR.PARSE_ERROR, 'Parse error');
    throw error;
  }
  if (!(value instanceof JsonObject)) throw rpcError(RPC_ERROR.INVALID_REQUEST, 'Invalid Request object');
  return value;
}
