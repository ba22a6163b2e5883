/**
 * `/health`: whether the node works, for supervisors. No authentication and no place in the work queue; the
 * addresses are those of `-rpcallowip`.
 */
import type { SnapshotStatus } from '../chain/snapshot/backgroundValidation.js';
import type { FastifyInstance } from 'fastify';
import type { ChainReader } from '../chain/chainReader.js';
import type { IndexStatus } from '../index/chainIndex.js';
import { stringifyJson, type JsonOut } from '../util/json/jsonWrite.js';

const HEALTH_PATH = '/health';

/** The inputs of the health check. */
export interface HealthDeps {
  /** What the node is doing before it can answer; null once it can. */
  readonly warmupStatus: () => string | null;
  readonly isStopping: () => boolean;
  /** Null before the chain is open. */
  readonly chain: () => Pick<ChainReader, 'chain' | 'headers'> | null;
  readonly peerCount: () => number;
  /** Warning that no peer can be reached, with a remedy; empty while connected. */
  readonly outage?: (() => string) | undefined;
  /** How far the indexes are. */
  readonly indexes?: (() => readonly IndexStatus[]) | undefined;
  /** What the node stands on while the blocks up to it are not validated; null when it stands on its own blocks. */
  readonly snapshot?: (() => SnapshotStatus | null) | undefined;
  /** Null if claims are not searched. */
  readonly search?: (() => SearchHealth | null) | undefined;
  /** Null if there is no hub. */
  readonly hub?: (() => HubHealth | null) | undefined;
  /** Null if there is no explorer. */
  readonly explorer?: (() => ExplorerHealth | null) | undefined;
}

/** How the web explorer is. */
export interface ExplorerHealth {
  readonly port: number;
  /** Reason why its thread ended, until it runs again. */
  readonly failure: string | null;
  readonly counters: { readonly viewers: number };
}

/** How the search over claims is. */
export interface SearchHealth {
  /** Null until the first build is whole. */
  readonly tip: { readonly height: number } | null;
  readonly documents: number;
  /** What a first build is at; null when none is continuing. */
  readonly building: { readonly stage: string } | null;
  /** Reason why the index does not get further; null as long as it does. */
  readonly failure: string | null;
  /** Searches that run, and that wait for their turn. */
  readonly running: number;
  readonly waiting: number;
}

/** How the hub is. */
export interface HubHealth {
  readonly listening: boolean;
  /** Reason why clients were sent away, until they can connect again. */
  readonly failure: string | null;
  /** The block that clients are served up to. */
  readonly height: number;
  readonly sessions: number;
  readonly maxSessions: number;
  /** Requests that wait for their turn. */
  readonly waiting: number;
}

/**
 * `GET /health` answers 200 while the node is up and 503 while it starts or stops, with the same members each time. A node that
 * reaches no peer is up and `degraded`: a restart would not help it.
 */
export function addHealthRoute(app: FastifyInstance, deps: HealthDeps): void {
  app.get(HEALTH_PATH, async (_request, reply) => {
    const { isUp, body } = health(deps);
    await reply
      .code(isUp ? 200 : 503)
      .header('Content-Type', 'application/json')
      .header('Cache-Control', 'no-store')
      .send(`${stringifyJson(body)}\n`);
  });
}

function health(deps: HealthDeps): {
  isUp: boolean;
  body: JsonOut;
} {
  const { warmupStatus, isStopping, chain, peerCount, outage, indexes, search, hub } = deps;
  const warmup = warmupStatus();
  const missing = outage?.() ?? '';
  const running = missing === '' ? 'ok' : 'degraded';
  const status = isStopping() ? 'stopping' : warmup === null ? running : 'starting';
  const reader = chain();
  const hubHealth = hub?.() ?? null;
  const searchHealth = search?.() ?? null;
  const statuses = reader && reader.chain.height >= 0 ? (indexes?.() ?? []) : [];
  return {
    isUp: status === running,
    body: {
      status,
      // What it is busy with, or what is wrong.
      message: status === 'starting' ? warmup : status === 'degraded' ? missing : undefined,
      height: reader && reader.chain.height >= 0 ? reader.chain.height : null,
      headers:
        reader && reader.headers.count > 0 ? reader.headers.height(reader.chain.index.bestHeader) : null,
      initialblockdownload: reader?.chain.isInitialDownload() ?? true,
      // The chain stands on it until its blocks are validated.
      snapshot: snapshotAnswer(deps.snapshot?.() ?? null),
      peers: peerCount(),
      indexes:
        statuses.length > 0
          ? Object.fromEntries(
              statuses.map(({ name, synced, height, failure }) => [
                name,
                { synced, height, failure: failure ?? undefined },
              ]),
            )
          : undefined,
      claimsearch: searchHealth
        ? {
            height: searchHealth.tip?.height ?? null,
            documents: searchHealth.documents,
            building: searchHealth.building?.stage,
            failure: searchHealth.failure ?? undefined,
            running: searchHealth.running,
            waiting: searchHealth.waiting,
          }
        : undefined,
      hub: hubHealth
        ? {
            listening: hubHealth.listening,
            failure: hubHealth.failure ?? undefined,
            height: hubHealth.height,
            sessions: hubHealth.sessions,
            maxsessions: hubHealth.maxSessions,
            waiting: hubHealth.waiting,
          }
        : undefined,
      explorer: explorerAnswer(deps.explorer?.() ?? null),
    },
  };
}

function snapshotAnswer(status: SnapshotStatus | null): JsonOut | undefined {
  if (status === null) return undefined;
  return { height: status.height, block: status.block, validatedheight: status.validatedHeight };
}

function explorerAnswer(explorer: ExplorerHealth | null): JsonOut | undefined {
  if (explorer === null) return undefined;
  const { port, failure, counters } = explorer;
  return { running: failure === null, failure: failure ?? undefined, port, viewers: counters.viewers };
}
