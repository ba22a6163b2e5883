/** The HTTP server's interface for routes other than JSON-RPC (REST, health, metrics). */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { HttpReply } from './replyStream.js';
import type { CallerGate } from './upgrades.js';

/** Prefix of all REST paths. The server does not decode these paths. */
export const REST_PATH = '/rest/';

/** Paths that bypass fastify, because their requests are frequent or have large bodies. */
export interface DirectPaths {
  /** Prefix of all direct paths. `OPTIONS` requests are accepted only for these paths. */
  readonly prefix: string;
  /** Handles a request. `serve` waits for a turn in the work queue and sends the result of `run`. */
  receive(
    request: IncomingMessage,
    response: ServerResponse,
    serve: (run: (call: CallSignals) => HttpReply | Promise<HttpReply>) => void,
  ): void;
  /** Handles a GET without a body, from a request that was parsed by `plain/plainConnections.ts`. */
  receivePlain(
    request: { readonly target: string; readonly origin: string | undefined },
    serve: (run: (call: CallSignals) => HttpReply | Promise<HttpReply>) => void,
  ): void;
  /** Handles WebSocket connections. */
  readonly sockets?: DirectSockets;
}

/** The WebSocket handler for some of the direct paths. */
export interface DirectSockets {
  takes(request: IncomingMessage): boolean;
  receive(request: IncomingMessage, socket: Duplex, head: Buffer, gate: CallerGate): void;
  close(): Promise<void>;
}

/** Abort signals of a call, and functions to release its turn in the work queue. */
export interface CallSignals {
  /** Aborted when the client disconnects. */
  readonly gone: AbortSignal;
  /** Aborted when the client disconnects or the node stops. */
  readonly signal: AbortSignal;
  /** Releases the turn in the work queue while `wait` runs. */
  readonly outOfTurn: <T>(wait: () => Promise<T>) => Promise<T>;
  /** Yields the turn in the work queue for a while; returns null if no call is waiting. Long calls must call it regularly. */
  giveWay(): Promise<void> | null;
}

/** Load of the server's work queue. */
export interface QueueLoad {
  /** Number of running calls. */
  readonly running: number;
  /** Number of queued calls. */
  readonly queued: number;
  /** Number of calls that wait without a turn in the work queue (long polls, slow clients). */
  readonly waiting: number;
  /** Number of calls that were rejected since the start, because the queue was full. */
  readonly refused: number;
}

export interface ServerLoad extends QueueLoad {
  /** Open connections. */
  readonly connections: number;
}

export interface RouteTools {
  /** Current load of the server. */
  load(): ServerLoad;
  /**
   * Waits for a turn in the work queue, calls `run`, and sends the result at the speed of the client. Requests of one
   * connection are handled in order. If the queue is full, the response has status 503. If `run` throws, the connection is
   * closed.
   */
  serve(
    request: FastifyRequest,
    reply: FastifyReply,
    run: (call: CallSignals) => HttpReply | Promise<HttpReply>,
  ): void;
}

/** The request target as received, without decoding, as latin1. */
export function targetOf(request: FastifyRequest): string {
  return request.originalUrl;
}
