/**
 * The Prometheus endpoint (`-metrics`): which metrics there are, and `/metrics` itself. Loaded only when it is asked for.
 * No authentication, to the addresses of `-rpcallowip`; the list with meanings is in docs/metrics.md.
 */
import type { FastifyInstance } from 'fastify';
import { collectDefaultMetrics } from 'prom-client';
import type { ChainReader } from '../../chain/chainReader.js';
import type { Mempool } from '../../mempool/mempool.js';
import type { NetworkParams } from '../../params/network.js';
import type { RpcDispatcherDeps } from '../../rpc/dispatch.js';
import { addCacheMetrics, addChainMetrics, followChain } from './chainMetrics.js';
import { followMempool } from './mempoolMetrics.js';
import { followPeers, type MeasuredPeers } from './peerMetrics.js';
import { Metrics, METRICS_PREFIX } from './registry.js';
import { rpcCallMetrics } from './rpcMetrics.js';

export const METRICS_PATH = '/metrics';

export interface NodeMetricsOptions {
  readonly version: string;
  readonly params: NetworkParams;
}

export class NodeMetrics {
  /** For the dispatcher. */
  readonly onCall: NonNullable<RpcDispatcherDeps['onCall']>;
  private readonly metrics = new Metrics();
  private reader: ChainReader | null = null;

  constructor({ version, params }: NodeMetricsOptions) {
    const { metrics } = this;
    collectDefaultMetrics({ register: metrics.registry, prefix: METRICS_PREFIX });
    metrics.labelledGauge('build_info', 'Always 1; the label is the version.', 'version', () => [
      [version, 1],
    ]);
    metrics.labelledGauge('network_info', 'Always 1; the label is the network.', 'network', () => [
      [params.name, 1],
    ]);
    addChainMetrics(metrics, () => this.reader, params.chainTxData);
    addCacheMetrics(metrics, () => this.reader);
    this.onCall = rpcCallMetrics(metrics);
  }

  /** From the chain's first block on. */
  follow(reader: ChainReader, mempool: Mempool): void {
    this.reader = reader;
    followChain(this.metrics, reader.chain);
    followMempool(this.metrics, mempool);
  }

  followPeers(network: MeasuredPeers): void {
    followPeers(this.metrics, network);
  }

  addRoute(app: FastifyInstance): void {
    const { registry } = this.metrics;
    app.get(METRICS_PATH, async (_request, reply) => {
      const text = await registry.metrics();
      await reply.header('Content-Type', registry.contentType).header('Cache-Control', 'no-store').send(text);
    });
  }
}
