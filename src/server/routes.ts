/** What routes beside JSON-RPC (REST, health, metrics) have of the HTTP server. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { HttpReply } from './replyStream.js';
import type { CallerGate } from './upgrades.js';

/** All paths of REST begin with it; the server hands them over undecoded. */
export const REST_PATH = '/rest/';

/** Paths that bypass the framework: frequent requests, and requests with large bodies. */
export interface DirectPaths {
  /** Prefix of all its paths. Only these paths get `OPTIONS` requests. */
  readonly prefix: string;
  /** Answers a request; `serve` waits for a turn in the work queue and sends what `run` answers. */
  receive(
    request: IncomingMessage,
    response: ServerResponse,
    serve: (run: (call: CallSignals) => HttpReply | Promise<HttpReply>) => void,
  ): void;
  /** Handles WebSocket connections. */
  readonly sockets?: DirectSockets;
}

/** The WebSocket handler of some paths. */
export interface DirectSockets {
  takes(request: IncomingMessage): boolean;
  receive(request: IncomingMessage, socket: Duplex, head: Buffer, gate: CallerGate): void;
  close(): Promise<void>;
}

/** When to give up answering. */
export interface CallSignals {
  /** Aborted when the client goes away. */
  readonly gone: AbortSignal;
  /** Aborted when the client goes away or the node stops. */
  readonly signal: AbortSignal;
  /** Gives the turn in the work queue to others while `wait` runs. */
  readonly outOfTurn: <T>(wait: () => Promise<T>) => Promise<T>;
  /** Must be called now and then by what takes long: lets others have the turn for a while; null if none wait. */
  giveWay(): Promise<void> | null;
}

/** How busy the work queue of the server is. */
export interface QueueLoad {
  /** Calls that have a turn. */
  readonly running: number;
  /** Calls that wait for one. */
  readonly queued: number;
  /** Calls that wait for something else, out of turn (long polls, slow clients). */
  readonly waiting: number;
  /** Calls that were refused since the start, because the queue was full. */
  readonly refused: number;
}

export interface ServerLoad extends QueueLoad {
  /** Open connections. */
  readonly connections: number;
}

export interface RouteTools {
  /** How busy the server is now. */
  load(): ServerLoad;
  /**
   * Waits for a turn in the work queue, asks for the answer and sends it as fast as the client takes it, one request of a
   * connection after the other. A full queue is answered 503; what `run` throws cuts the connection.
   */
  serve(
    request: FastifyRequest,
    reply: FastifyReply,
    run: (call: CallSignals) => HttpReply | Promise<HttpReply>,
  ): void;
}

/** The request's target as it was sent, a byte a character. */
export function targetOf(request: FastifyRequest): string {
  return request.originalUrl;
}
