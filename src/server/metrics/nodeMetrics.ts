/**
 * The Prometheus endpoint (`-metrics`): selects the metrics and serves `/metrics`. This module is loaded only if the option
 * is on. Needs no authentication; only the addresses of `-rpcallowip` have access. docs/metrics.md lists the metrics with
 * their meanings.
 */
import type { FastifyInstance } from 'fastify';
import { collectDefaultMetrics } from 'prom-client';
import type { ChainReader } from '../../chain/chainReader.js';
import type { BackgroundFill } from '../../index/backgroundFill.js';
import type { Mempool } from '../../mempool/mempool.js';
import type { NetworkParams } from '../../params/network.js';
import type { RpcDispatcherDeps } from '../../rpc/call/dispatch.js';
import {
  addCacheMetrics,
  addChainMetrics,
  addClaimMetrics,
  addLateReadMetrics,
  addDiskMetrics,
  followChain,
} from './chainMetrics.js';
import { shared } from '../../util/shared.js';
import type { RouteTools } from '../routes.js';
import { followSearch, type MeasuredSearch } from './searchMetrics.js';
import { followExplorer, type MeasuredExplorer } from './explorerMetrics.js';
import { followHub, type MeasuredHub } from './hubMetrics.js';
import { followIndexes } from './indexMetrics.js';
import { followMempool } from './mempoolMetrics.js';
import { followPeers, type MeasuredPeers } from './peerMetrics.js';
import { Metrics, METRICS_PREFIX } from './registry.js';
import { addAnswerMetrics, addServerMetrics, rpcCallMetrics } from './rpcMetrics.js';

const METRICS_PATH = '/metrics';
/** Milliseconds for which the response text is reused, because its creation takes milliseconds. Arbitrary. */
const SHARED_MS = 100;

type Tail<T extends unknown[]> = T extends [unknown, ...infer Rest] ? Rest : never;

export interface NodeMetricsOptions {
  readonly version: string;
  readonly params: NetworkParams;
  /** Folders whose free disk space is measured, by name. */
  readonly folders: Readonly<Record<string, string>>;
  /** Warnings about the network or the chain; empty if there are none. */
  readonly warnings: () => string;
}

export class NodeMetrics {
  /** Observer of RPC calls, for the dispatcher. */
  readonly onCall: NonNullable<RpcDispatcherDeps['onCall']>;
  private readonly metrics = new Metrics();
  private reader: ChainReader | null = null;

  constructor({ version, params, folders, warnings }: NodeMetricsOptions) {
    const { metrics } = this;
    collectDefaultMetrics({ register: metrics.registry, prefix: METRICS_PREFIX });
    // Removes gauges whose names end like those of counters. Metrics without this suffix report the same totals.
    for (const name of ['handles', 'requests', 'resources']) {
      metrics.registry.removeSingleMetric(`${METRICS_PREFIX}nodejs_active_${name}_total`);
    }
    metrics.labelledGauge('build_info', 'Always 1; the label is the version.', 'version', () => [
      [version, 1],
    ]);
    metrics.labelledGauge('network_info', 'Always 1; the label is the network.', 'network', () => [
      [params.name, 1],
    ]);
    metrics.gauge('warning', 'Whether the node has warnings (getnetworkinfo): 1 or 0.', () =>
      warnings() === '' ? 0 : 1,
    );
    addChainMetrics(metrics, () => this.reader, params.chainTxData);
    addClaimMetrics(metrics, () => this.reader);
    addLateReadMetrics(metrics, () => this.reader);
    addDiskMetrics(metrics, folders);
    addCacheMetrics(metrics, () => this.reader);
    this.onCall = rpcCallMetrics(metrics);
  }

  measureAnswers(...kept: Tail<Parameters<typeof addAnswerMetrics>>): void {
    addAnswerMetrics(this.metrics, ...kept);
  }

  /** Starts to follow the chain and the mempool. Must be called before the first block event of the chain. */
  follow(reader: ChainReader, mempool: Mempool): void {
    this.reader = reader;
    followChain(this.metrics, reader.chain);
    followMempool(this.metrics, mempool);
  }

  followIndexes(fill: Pick<BackgroundFill, 'statuses'>): void {
    followIndexes(this.metrics, fill);
  }

  followPeers(network: MeasuredPeers): void {
    followPeers(this.metrics, network);
  }

  followExplorer(explorer: MeasuredExplorer): void {
    followExplorer(this.metrics, explorer);
  }

  followHub(hub: MeasuredHub): void {
    followHub(this.metrics, hub);
  }

  followSearch(search: MeasuredSearch): void {
    followSearch(this.metrics, search);
  }

  addRoute(app: FastifyInstance, { load }: Pick<RouteTools, 'load'>): void {
    const { registry } = this.metrics;
    addServerMetrics(this.metrics, load);
    const metrics = shared(() => registry.metrics(), SHARED_MS);
    app.get(METRICS_PATH, async (_request, reply) => {
      const text = await metrics();
      await reply.header('Content-Type', registry.contentType).header('Cache-Control', 'no-store').send(text);
    });
  }
}
