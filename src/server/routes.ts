/** What routes beside JSON-RPC (REST, health, metrics) have of the HTTP server. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { HttpReply } from './replyStream.js';

/** All paths of REST begin with it; the server hands them over undecoded. */
export const REST_PATH = '/rest/';

/** When to give up answering. */
export interface CallSignals {
  /** Aborted when the client goes away. */
  readonly gone: AbortSignal;
  /** Aborted when the client goes away or the node stops. */
  readonly signal: AbortSignal;
  /** Gives the turn in the work queue to others while `wait` runs. */
  readonly outOfTurn: <T>(wait: () => Promise<T>) => Promise<T>;
  /** To be called now and then by what takes long: lets others have the turn for a while; null where none wait. */
  giveWay(): Promise<void> | null;
}

export interface RouteTools {
  /**
   * Waits for a turn in the work queue, asks for the answer and sends it as fast as the client takes it. A full queue
   * is answered 503; what `run` throws cuts the connection.
   */
  serve(
    request: FastifyRequest,
    reply: FastifyReply,
    run: (call: CallSignals) => HttpReply | Promise<HttpReply>,
  ): Promise<void>;
}

/** The request's target as it was sent, a byte a character. */
export function targetOf(request: FastifyRequest): string {
  return request.originalUrl;
}
