/**
 * `/health`: the state of the node, for process supervisors. Needs no authentication and bypasses the work queue. Only the
 * addresses of `-rpcallowip` have access.
 */
import type { SnapshotStatus } from '../chain/snapshot/backgroundValidation.js';
import type { FastifyInstance } from 'fastify';
import type { ChainReader } from '../chain/chainReader.js';
import type { IndexStatus } from '../index/chainIndex.js';
import { stringifyJson } from '../util/json/jsonStream.js';
import { type JsonOut } from '../util/json/jsonWrite.js';

const HEALTH_PATH = '/health';

/** The inputs of the health check. */
export interface HealthDeps {
  /** Message about the current step of the start; null when the node serves requests. */
  readonly warmupStatus: () => string | null;
  readonly isStopping: () => boolean;
  /** Access to the chain; null before the chain is open. */
  readonly chain: () => Pick<ChainReader, 'chain' | 'headers'> | null;
  readonly peerCount: () => number;
  /** Warning that no peer can be reached, with advice for the operator; empty while peers are connected. */
  readonly outage?: (() => string) | undefined;
  /** Sync state of the indexes. */
  readonly indexes?: (() => readonly IndexStatus[]) | undefined;
  /**
   * UTXO snapshot from which the node started. Null after the blocks up to the snapshot were validated, and for a node that
   * did not start from a snapshot.
   */
  readonly snapshot?: (() => SnapshotStatus | null) | undefined;
  /** State of the claim search; null if the claim search is off. */
  readonly search?: (() => SearchHealth | null) | undefined;
  /** State of the hub; null if the hub is off. */
  readonly hub?: (() => HubHealth | null) | undefined;
  /** State of the web explorer; null if the explorer is off. */
  readonly explorer?: (() => ExplorerHealth | null) | undefined;
}

/** State of the web explorer in the health response. */
export interface ExplorerHealth {
  readonly port: number;
  /** Reason why the explorer's thread ended; null while the thread runs. */
  readonly failure: string | null;
  readonly counters: { readonly viewers: number };
}

/** State of the claim search in the health response. */
export interface SearchHealth {
  /** Block up to which the search index is built; null until the first build is complete. */
  readonly tip: { readonly height: number } | null;
  readonly documents: number;
  /** Current stage of the first build; null if no build is running. */
  readonly building: { readonly stage: string } | null;
  /** Reason why the search index cannot advance; null while it can. */
  readonly failure: string | null;
  /** Number of running searches. */
  readonly running: number;
  readonly waiting: number;
}

/** State of the hub in the health response. */
export interface HubHealth {
  readonly listening: boolean;
  /** Reason why the hub disconnected its clients; null while clients can connect. */
  readonly failure: string | null;
  /** Height of the block up to which the hub serves data. */
  readonly height: number;
  readonly sessions: number;
  readonly maxSessions: number;
  /** Number of queued requests. */
  readonly waiting: number;
}

/**
 * `GET /health` responds with status 200 while the node is up, and with 503 while the node starts or stops. The response
 * always has the same members. A node without peers is up and `degraded`, because a restart would not help.
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
      // Describes the startup step, or the problem of a degraded node.
      message: status === 'starting' ? warmup : status === 'degraded' ? missing : undefined,
      height: reader && reader.chain.height >= 0 ? reader.chain.height : null,
      headers:
        reader && reader.headers.count > 0 ? reader.headers.height(reader.chain.index.bestHeader) : null,
      initialblockdownload: reader?.chain.isInitialDownload() ?? true,
      // While the chain is based on a snapshot, it is not fully validated.
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
