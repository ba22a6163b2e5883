/**
 * HTTP routes of the RPC server besides JSON-RPC: health always, REST with `-rest`, metrics with `-metrics`. The code of
 * each route is loaded only if the route is enabled.
 */
import type { RpcDispatcher, RpcDispatcherDeps } from '../../rpc/call/dispatch.js';
import type { RpcServices } from '../../interfaces/services.js';
import { addHealthRoute, type HealthDeps } from '../../server/health.js';
import type { EsploraEndpoint } from '../../server/esplora/esploraEndpoint.js';
import type { HttpServerDeps } from '../../server/httpServer.js';
import type { NodeMetrics } from '../../server/metrics/nodeMetrics.js';
import type { SearchStatus } from '../../search/claimSearch.js';
import type { LoadedOptions } from '../options/options.js';
import { programVersion } from '../../util/project.js';

/** Creates the metrics; null if they are disabled. */
export async function makeMetrics(
  { options, params, paths }: LoadedOptions,
  { warnings }: Pick<RpcServices, 'warnings'>,
): Promise<NodeMetrics | null> {
  if (!options.server || !options.metrics) return null;
  const { NodeMetrics } = await import('../../server/metrics/nodeMetrics.js');
  return new NodeMetrics({
    version: programVersion(),
    params,
    folders: { data: paths.networkDir, blocks: paths.blocksDir },
    warnings,
  });
}

/** Creates the handler of `/api/`; null without `-esplora`. */
export async function makeEsplora(
  { options }: LoadedOptions,
  {
    dispatcher,
    services,
    onException,
    logger,
    answers,
  }: Pick<HttpRoutesInput, 'dispatcher' | 'services' | 'onException'> &
    Pick<RpcDispatcherDeps, 'logger' | 'answers'>,
): Promise<EsploraEndpoint | null> {
  if (!options.esplora) return null;
  if (!options.server) {
    logger.warn('-esplora has no effect without -server');
    return null;
  }
  const { EsploraEndpoint } = await import('../../server/esplora/esploraEndpoint.js');
  return new EsploraEndpoint({
    services,
    origins: options.esploraorigin,
    warmupStatus: () => dispatcher.warmup,
    log: logger,
    answers: answers ?? null,
    onException,
  });
}

export interface HttpRoutesInput extends Pick<RpcDispatcherDeps, 'services' | 'table' | 'onException'> {
  readonly dispatcher: RpcDispatcher;
  readonly metrics: NodeMetrics | null;
  /** The chain, for health checks; null before the chain is open. */
  readonly chain: HealthDeps['chain'];
  /** The hub; null without `-hub` or before the hub is open. */
  readonly hub: HealthDeps['hub'];
  /** The explorer, for health checks; null without `-explorer` or before it is open. */
  readonly explorer: HealthDeps['explorer'];
  readonly indexes: HealthDeps['indexes'];
  /** See `HealthDeps`. */
  readonly outage: () => string;
  readonly isStopping: () => boolean;
}

/** Adds the enabled routes (health, REST, metrics and others) to the RPC server. */
export async function httpRoutes(
  { options }: LoadedOptions,
  input: HttpRoutesInput,
): Promise<NonNullable<HttpServerDeps['extraRoutes']>> {
  const {
    dispatcher,
    services,
    table,
    onException,
    metrics,
    chain,
    hub,
    explorer,
    indexes,
    outage,
    isStopping,
  } = input;
  const warmupStatus = (): string | null => dispatcher.warmup;
  const rest = options.rest ? await import('../../server/rest/restRoutes.js') : null;
  return (app, tools) => {
    const peerCount = (): number => services.network.connectionCount();
    const search = (): SearchStatus | null => services.claimSearch?.status() ?? null;
    addHealthRoute(app, {
      warmupStatus,
      isStopping,
      chain,
      peerCount,
      outage,
      indexes,
      hub,
      explorer,
      search,
      snapshot: () => services.snapshots.status(),
    });
    rest?.addRestRoutes(app, tools, { services, table, warmupStatus, onException });
    metrics?.addRoute(app, tools);
  };
}
