/**
 * Declaration of a path of the Esplora-compatible interface. The declarations determine the routing, the checks for needed
 * indexes, the caching, the reference documentation (docs/esplora.md) and the test of responses (`pathTable.ts`).
 */
import type { Schema } from '../../schema/schema.js';
import type { AnswerSource } from '../../rpc/declare/method.js';
import type { RpcServices } from '../../interfaces/services.js';
import type { HttpReply } from '../replyStream.js';
import type { FeeProjection } from './feeProjection.js';
import type { EsploraBlockSizes } from './blockSizes.js';
import type { RecentReads } from './recentReads.js';

/** Indexes that a path may need, by the names of the options that enable them. */
export const ESPLORA_INDEXES = ['txindex', 'addressindex', 'spendindex'] as const;
export type EsploraIndex = (typeof ESPLORA_INDEXES)[number];

/**
 * The maximum cost of a response. `memory`: reads memory only. `rows`: reads at most one page of index rows and
 * transactions. `block`: reads whole blocks. `pool`: reads the whole mempool, in slices.
 */
export type EsploraCost = 'memory' | 'rows' | 'block' | 'pool';

/** The type of a path parameter. */
export type PathParam = 'hash' | 'txid' | 'address' | 'scripthash' | 'height' | 'index' | 'start';

/** The type of a response: JSON with a schema, one line of text without a line end, or bytes. */
export type EsploraAnswer =
  | { readonly kind: 'json'; readonly schema: Schema }
  | { readonly kind: 'text' | 'bytes'; readonly description: string };

/** The node services that handlers may use. */
export interface EsploraNode {
  readonly services: RpcServices;
  readonly fees: FeeProjection;
  readonly sizes: EsploraBlockSizes;
  readonly recent: RecentReads;
}

/** One request. */
export interface EsploraCall extends EsploraNode {
  /** Decoded path parameters, by name. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The received body; empty for a GET. */
  readonly body: Buffer;
  /** Sets the seconds for which HTTP caches may store the response. If it is not called, caches must revalidate the response. */
  cacheFor(seconds: number): void;
}

/** Handles a request of a path. Throws `EsploraError` for an error response. */
export type EsploraHandler = (call: EsploraCall) => HttpReply | Promise<HttpReply>;

export interface EsploraPath {
  readonly method: 'GET' | 'POST';
  /**
   * Pattern of the path, such as `/api/block/:hash/txs/:start`. A parameter in parentheses is optional, together with the
   * slash before it.
   */
  readonly path: string;
  /** The project that documents the path. */
  readonly source: 'Esplora' | 'mempool.space';
  /** Documentation of the path in one or more sentences. */
  readonly summary: string;
  readonly params: Readonly<Record<string, PathParam>>;
  readonly answer: EsploraAnswer;
  readonly needs: readonly EsploraIndex[];
  readonly cost: EsploraCost;
  /**
   * State on which the response depends besides the path. If absent, the response is not cached (`-rpccache`).
   */
  readonly follows?: AnswerSource;
  /** Whether the handler changes state. Such a handler must run at most once for a request. */
  readonly changes?: boolean;
  readonly run: EsploraHandler;
}

/** An error response: its HTTP status and text. */
export class EsploraError extends Error {
  override readonly name = 'EsploraError';
  readonly status: 400 | 404 | 405 | 413 | 503;

  constructor(status: EsploraError['status'], message: string) {
    super(message);
    this.status = status;
  }
}

export const badRequest = (message: string): EsploraError => new EsploraError(400, message);
export const notFound = (message: string): EsploraError => new EsploraError(404, message);
export const unavailable = (message: string): EsploraError => new EsploraError(503, message);
