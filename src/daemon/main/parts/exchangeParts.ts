/**
 * The component `peer_protocol_server`, and the services that run together with `blob_manager`: the client of the blob
 * exchange, uploads to reflectors, and byte counters. Source: lbry-sdk lbry/extras/daemon/components.py
 * `PeerProtocolServerComponent`.
 */
import { lookup } from 'node:dns/promises';
import { failureReason } from '../../../util/text/environmentError.js';
import type { Logger } from '../../../util/logging.js';
import type { JsonOut } from '../../../util/json/jsonWrite.js';
import type { Settings } from '../../api/settings.js';
import type { Clock, DaemonRandom } from '../../base/clock.js';
import type { Transfers } from '../../base/transfers.js';
import type { BlobStore } from '../../blobs/blobStore.js';
import type { ContentDatabase } from '../../content/contentDatabase.js';
import { Bandwidth } from '../../exchange/bandwidth.js';
import { BlobExchange, type ExchangeSettings } from '../../exchange/blobExchange.js';
import { BlobServer } from '../../exchange/blobServer.js';
import { dialTcp } from '../../exchange/links.js';
import type { BlobFetcher, BlobKeeper, NamedPeerSource } from '../../exchange/ports.js';
import { RateLimiter } from '../../exchange/rateLimiter.js';
import { Reflecting } from '../../exchange/reflecting.js';
import type { Component } from '../components.js';
import type { BesideBlobs } from './contentParts.js';

export interface ExchangePartsDeps {
  readonly settings: Settings;
  readonly log: Logger;
  readonly clock: Clock;
  readonly random: DaemonRandom;
  readonly transfers: Transfers;
  /** Return the blob store and the database. Each throws while its component does not run. */
  readonly blobs: () => BlobStore;
  readonly database: () => ContentDatabase;
  /** Returns the peer sources that are running. */
  readonly sources: () => readonly NamedPeerSource[];
  /** Returns an address of the wallet to which peers may pay; null while the wallet has none. */
  readonly address: () => Promise<string | null>;
}

export class ExchangeParts implements BesideBlobs {
  readonly serverPart: Component;
  readonly bandwidth: Bandwidth;
  /** Rate limits for uploads and downloads, each for all peers together. */
  readonly rates: { readonly up: RateLimiter; readonly down: RateLimiter };
  readonly #deps: ExchangePartsDeps;
  #exchange: BlobExchange | null = null;
  #reflecting: Reflecting | null = null;
  #server: BlobServer | null = null;

  constructor(deps: ExchangePartsDeps) {
    this.#deps = deps;
    const { clock, settings } = deps;
    this.bandwidth = new Bandwidth(clock, () => settings.get('track_bandwidth'));
    this.rates = {
      up: new RateLimiter(clock, () => settings.get('upload_bytes_per_second')),
      down: new RateLimiter(clock, () => settings.get('download_bytes_per_second')),
    };
    this.serverPart = this.#serverComponent();
  }

  /** The object is null while the component `blob_manager` does not run. */
  get fetcher(): BlobFetcher | null {
    return this.#exchange;
  }

  /** The object is null while the component `blob_manager` does not run. */
  get reflector(): Reflecting | null {
    return this.#reflecting;
  }

  /** Whether the last upload reached its reflector; null before the first upload, or if uploads are disabled. */
  get reflectorContact(): boolean | null {
    return this.#reflecting?.isReached ?? null;
  }

  /** Uploads to reflectors. Throws while `blob_manager` does not run. */
  get reflecting(): Reflecting {
    if (this.#reflecting === null) throw new Error('the component blob_manager is not running');
    return this.#reflecting;
  }

  /** Port of the blob server; null while the server does not run. */
  get serverPort(): number | null {
    return this.#server?.port ?? null;
  }

  start(): void {
    const { clock, random, sources, blobs, settings } = this.#deps;
    const { bandwidth } = this;
    const debug = (text: () => string): void => this.#deps.log.debug('net', text);
    const store = blobs();
    this.#exchange = new BlobExchange({
      blobs: this.#keeper(store),
      sources,
      settings: () => this.#exchangeSettings(),
      rate: this.rates.down,
      bandwidth,
      clock,
      random,
      dial: dialTcp,
      resolveHost: async (host) =>
        (await lookup(host, { family: 4, all: true })).map(({ address }) => address),
      debug,
    });
    this.#reflecting = new Reflecting({
      blobs: store,
      notes: this.#deps.database(),
      transfers: this.#deps.transfers,
      dial: dialTcp,
      clock,
      random,
      bandwidth,
      rate: this.rates.up,
      settings: () => ({
        isOn: settings.get('reflect_streams'),
        servers: settings.get('reflector_servers'),
        concurrent: settings.get('concurrent_reflector_uploads'),
      }),
      debug,
    });
    // Automatic uploads need streams, which exist only with the component `file_manager`.
    if (!settings.get('components_to_skip').includes('file_manager')) this.#reflecting.start();
  }

  async stop(): Promise<void> {
    await Promise.all([this.#exchange?.close(), this.#reflecting?.stop()]);
    this.#exchange = null;
    this.#reflecting = null;
    this.bandwidth.close();
  }

  connections(): JsonOut {
    return this.bandwidth.status();
  }

  #keeper(store: BlobStore): BlobKeeper {
    return {
      finished: store.finished,
      read: (hash) => store.read(hash),
      receive: (hash, blob) => store.receive(hash, blob),
    };
  }

  #exchangeSettings(): ExchangeSettings {
    const { settings } = this.#deps;
    return {
      fixedPeers: settings.get('fixed_peers'),
      fixedPeerDelayMs: settings.get('fixed_peer_delay') * 1000,
      httpServers: settings.get('http_blob_servers'),
      edgeToken: settings.get('edge_token') || null,
      maxConnections: settings.get('max_connections_per_download'),
      connectTimeoutMs: settings.get('peer_connect_timeout') * 1000,
      blobTimeoutMs: settings.get('blob_download_timeout') * 1000,
    };
  }

  #serverComponent(): Component {
    const { settings, log, clock, blobs, address } = this.#deps;
    let known: string | null = null;
    return {
      name: 'peer_protocol_server',
      dependsOn: ['blob_manager'],
      start: async () => {
        const server = new BlobServer({
          blobs: blobs(),
          // The wallet may start after the server. Without a running wallet, the server sends no address.
          address: async () => (known ??= await address().catch(() => null)),
          limits: () => ({
            total: settings.get('max_peer_connections'),
            perAddress: settings.get('max_peer_connections_per_address'),
          }),
          rate: this.rates.up,
          bandwidth: this.bandwidth,
          clock,
          onFailure: (error) => log.warn(`A blob could not be sent to a peer: ${failureReason(error)}.`),
        });
        await server.listen(settings.get('tcp_port'), settings.get('network_interface'), {
          what: 'blob exchange',
          settings: 'settings tcp_port and network_interface',
        });
        this.#server = server;
        log.info(`The blob exchange listens at TCP ${settings.get('network_interface')}:${server.port}.`);
      },
      stop: async () => {
        await this.#server?.close();
        this.#server = null;
      },
      status: (): JsonOut => this.#server?.status() ?? { port: null, connections: 0 },
    };
  }
}
