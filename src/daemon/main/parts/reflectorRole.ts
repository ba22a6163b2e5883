/**
 * `lbcnet start --reflector`: accepts uploaded streams and serves them to peers and over HTTP. The streams are stored in
 * `<data_dir>/reflector`, separate from the daemon's files.
 */
import { readFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../../../util/files/makeFolder.js';
import { failureReason, onFile } from '../../../util/text/environmentError.js';
import type { Logger } from '../../../util/logging.js';
import type { JsonOut } from '../../../util/json/jsonWrite.js';
import type { Settings } from '../../api/settings.js';
import { sleep, type Clock } from '../../base/clock.js';
import { BlobStore } from '../../blobs/blobStore.js';
import { BlobThreads } from '../../blobs/blobThreads.js';
import { isBlobHash } from '../../content/blobHash.js';
import { openContentDatabase, type ContentDatabase } from '../../content/contentDatabase.js';
import { BLOB_FOLDER_NAME } from '../../content/openDatabases.js';
import type { Bandwidth } from '../../exchange/bandwidth.js';
import { BlobHttpServer } from '../../exchange/blobHttpServer.js';
import { BlobServer } from '../../exchange/blobServer.js';
import type { RateLimiter } from '../../exchange/rateLimiter.js';
import { ReflectorServer } from '../../exchange/reflectorServer.js';
import { ReflectorStore } from '../../exchange/reflectorStore.js';
import type { ConnectionLimits } from '../../exchange/tcpServer.js';
import { OffsiteBlobs } from '../../objects/offsiteBlobs.js';
import { S3Bucket } from '../../objects/s3Bucket.js';
import type { Resolver } from '../../resolve/resolver.js';
import { Txo } from '../../txo/txo.js';
import { offsitePlaceOf, type Environment } from './offsitePlace.js';

const MEGABYTE = 1_000_000;
const FOLDER_NAME = 'reflector';
const BLOCKED_NAME = 'blocked.json';
/** Milliseconds between two rounds of requests for blocked streams and searches for blobs without a stream. Arbitrary. */
const ROUND_MS = 600_000;
/** Milliseconds before the next round while no hub is connected. */
const FIRST_ROUND_MS = 15_000;
/**
 * Limits of upload connections in total and per address. Each connection may have one blob in memory. Arbitrary: 128 MiB in
 * total.
 */
const UPLOADS: ConnectionLimits = { total: 64, perAddress: 16 };
const THREADS = 2;
/** `PAGE`: number of claims per page of a search. `MAX_FOUND`: maximum number of claims per search. Hubs have the same limits. */
const PAGE = 50;
const MAX_FOUND = 10_000;

export interface ReflectorRoleDeps {
  readonly settings: Settings;
  readonly log: Logger;
  readonly clock: Clock;
  readonly bandwidth: Bandwidth;
  /** Rate limits for uploads and downloads, each for all peers together. */
  readonly rates: { readonly up: RateLimiter; readonly down: RateLimiter };
  /** Returns the resolver of claims; null while no wallet runs. */
  readonly resolver: () => Resolver | null;
  /** Environment variables of the process. */
  readonly environment: Environment;
}

interface Running {
  readonly database: ContentDatabase;
  readonly threads: BlobThreads;
  readonly blobs: BlobStore;
  /** Object store; null if the reflector stores all blobs on the local disk. */
  readonly offsite: OffsiteBlobs | null;
  readonly store: ReflectorStore;
  readonly uploads: ReflectorServer;
  readonly peers: BlobServer;
  readonly http: BlobHttpServer;
}

export class ReflectorRole {
  readonly #deps: ReflectorRoleDeps;
  readonly #folder: string;
  readonly #stopping = new AbortController();
  #running: Running | null = null;
  #rounds: Promise<void> = Promise.resolve();

  constructor(deps: ReflectorRoleDeps) {
    this.#deps = deps;
    this.#folder = join(deps.settings.get('data_dir'), FOLDER_NAME);
  }

  /**
   * Starts the reflector. Throws `EnvironmentError` if the folder or ports are unusable. Call `stop` even after an error.
   */
  async start(): Promise<void> {
    const { settings, log, clock } = this.#deps;
    const bucket = this.#bucket();
    onFile(this.#folder, () => makeFolder(this.#folder));
    const database = openContentDatabase({ dataDir: this.#folder, nowSec: clock.nowSec() }, (text) =>
      log.info(text),
    );
    const threads = new BlobThreads(THREADS);
    const folder = join(this.#folder, BLOB_FOLDER_NAME);
    const blobs = new BlobStore({ folder, database, threads, clock, log });
    const onLost = (): void =>
      void store
        .reload()
        .catch((error: unknown) => log.warn(`The reflector failed: ${failureReason(error)}.`));
    const offsite = bucket && this.#offsite(bucket, blobs, database, onLost);
    const store: ReflectorStore = new ReflectorStore({
      blobs: offsite ?? blobs,
      database,
      clock,
      quotaMb: () => settings.get('reflector_quota'),
    });
    this.#running = { database, threads, blobs, offsite, store, ...this.#servers(store) };
    await blobs.open();
    if (offsite !== null) {
      // The object store is opened after all blob files were checked, because a file without a row may be a blob that
      // waits for its upload.
      await blobs.settled;
      await offsite.open();
    }
    await store.open();
    await store.setBlocked(new Set(this.#savedBlocked()));
    await this.#listen(this.#running);
    this.#rounds = this.#work(store);
    settings.onChange('reflector_blocked', () => {
      this.#updateBlocked(store).catch((error: unknown) =>
        log.warn(`The streams of blocked claims could not be requested: ${failureReason(error)}.`),
      );
    });
  }

  /** Bucket that the settings name; null if blobs are stored only on the local disk. */
  #bucket(): { readonly bucket: S3Bucket; readonly name: string; readonly endpoint: string } | null {
    const { settings, clock, environment } = this.#deps;
    const found = offsitePlaceOf(settings, environment);
    if (found === null) return null;
    const { place, credentials, name } = found;
    const bucket = new S3Bucket({ place, credentials, clock, stopping: this.#stopping.signal });
    return { bucket, name, endpoint: place.endpoint };
  }

  #offsite(
    place: { readonly bucket: S3Bucket; readonly name: string; readonly endpoint: string },
    local: BlobStore,
    database: ContentDatabase,
    onLost: () => void,
  ): OffsiteBlobs {
    const { settings, clock, log } = this.#deps;
    log.info(`The reflector stores its blobs in the blob store ${place.name} at ${place.endpoint}.`);
    return new OffsiteBlobs({
      ...place,
      local,
      database,
      clock,
      log,
      random: Math.random,
      cacheBytes: () => settings.get('blob_store_cache') * MEGABYTE,
      onLost,
      stopping: this.#stopping.signal,
    });
  }

  #servers(store: ReflectorStore): Pick<Running, 'uploads' | 'peers' | 'http'> {
    const { settings, log, clock, bandwidth, rates } = this.#deps;
    const limits = (): ConnectionLimits => ({
      total: settings.get('max_peer_connections'),
      perAddress: settings.get('max_peer_connections_per_address'),
    });
    const onFailure = (error: unknown): void => log.warn(`The reflector failed: ${failureReason(error)}.`);
    const common = { bandwidth, clock, onFailure };
    return {
      uploads: new ReflectorServer({ ...common, store, limits: () => UPLOADS, rate: rates.down }),
      peers: new BlobServer({ ...common, blobs: store, address: () => null, limits, rate: rates.up }),
      http: new BlobHttpServer({ ...common, blobs: store, limits, rate: rates.up }),
    };
  }

  async #listen({ uploads, peers, http }: Running): Promise<void> {
    const { settings, log } = this.#deps;
    const host = settings.get('network_interface');
    const words = (setting: string) => ({
      what: 'reflector',
      settings: `settings ${setting} and network_interface`,
    });
    await uploads.listen(settings.get('reflector_port'), host, words('reflector_port'));
    await peers.listen(settings.get('reflector_peer_port'), host, words('reflector_peer_port'));
    await http.listen(settings.get('reflector_http_port'), host, words('reflector_http_port'));
    log.info(
      `The reflector accepts streams at TCP ${host}:${uploads.port}, and serves blobs at TCP ` +
        `${host}:${peers.port} and http://${host}:${http.port}/blob.`,
    );
  }

  /**
   * Until the reflector stops, repeats two tasks: requests the streams of blocked claims from a hub, and deletes blobs
   * without a stream.
   */
  async #work(store: ReflectorStore): Promise<void> {
    const { clock, log } = this.#deps;
    const { signal } = this.#stopping;
    let isFirst = true;
    do {
      try {
        if (await this.#updateBlocked(store)) isFirst = false;
        await store.clean();
      } catch (error) {
        if (!signal.aborted) log.warn(`The maintenance of the reflector failed: ${failureReason(error)}.`);
      }
    } while (await sleep(clock, isFirst ? FIRST_ROUND_MS : ROUND_MS, signal));
  }

  get #blockedPath(): string {
    return join(this.#folder, BLOCKED_NAME);
  }

  /**
   * Descriptor hashes of blocked streams, from the file of an earlier run. With it the reflector does not serve these
   * streams even if no hub is connected.
   */
  #savedBlocked(): string[] {
    try {
      const saved = JSON.parse(readFileSync(this.#blockedPath, 'utf8')) as unknown;
      return Array.isArray(saved) ? saved.filter(isBlobHash) : [];
    } catch {
      return [];
    }
  }

  /** Updates the set of blocked streams. Resolves to false if no hub was available. */
  async #updateBlocked(store: ReflectorStore): Promise<boolean> {
    const ids = this.#deps.settings.get('reflector_blocked');
    const resolver = this.#deps.resolver();
    if (resolver === null && ids.length > 0) return false;
    const blocked = new Set<string>();
    if (resolver !== null)
      for (const query of [{ claim_ids: ids }, { channel_ids: ids }])
        if (ids.length > 0) for (const sdHash of await this.#streamsOf(resolver, query)) blocked.add(sdHash);
    // A hub does not find abandoned claims. So the blocked streams are stored, and a stream stays blocked while its claim
    // is in the setting.
    if (ids.length > 0) for (const sdHash of this.#savedBlocked()) blocked.add(sdHash);
    await store.setBlocked(blocked);
    await writeFile(`${this.#blockedPath}.part`, JSON.stringify([...blocked]));
    await rename(`${this.#blockedPath}.part`, this.#blockedPath);
    return true;
  }

  async #streamsOf(
    resolver: Resolver,
    query: Readonly<Record<string, readonly string[]>>,
  ): Promise<Set<string>> {
    const found = new Set<string>();
    for (let offset = 0; offset < MAX_FOUND; offset += PAGE) {
      const { rows } = await resolver.search({
        ...query,
        claim_type: ['stream'],
        order_by: ['^creation_height', '^name'],
        no_totals: true,
        offset,
        limit: PAGE,
      });
      for (const row of rows) {
        const type = row instanceof Txo ? row.claim?.claim.type : undefined;
        const sdHash = type?.case === 'stream' ? type.value.source?.sdHash : undefined;
        if (sdHash && sdHash.length > 0) found.add(Buffer.from(sdHash).toString('hex'));
      }
      if (rows.length < PAGE) break;
    }
    return found;
  }

  /** Messages for the operator that `status` shows. */
  get warnings(): readonly string[] {
    const warning = this.#running?.offsite?.warning ?? null;
    return warning === null ? [] : [warning];
  }

  status(): JsonOut {
    if (this.#running === null) return { running: false };
    const { store, uploads, peers, http, blobs, offsite } = this.#running;
    return {
      running: uploads.port !== null,
      upload_port: uploads.port,
      peer_port: peers.port,
      http_port: http.port,
      blobs: (offsite ?? blobs).finished.size,
      used_bytes: store.usedBytes,
      received_blobs: uploads.received,
      upload_connections: uploads.connectionCount,
      peer_connections: (peers.status() as { connections: number }).connections,
      blocked_streams: store.blockedCount,
      ...(offsite !== null && { blob_store: offsite.status() }),
    };
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#rounds;
    if (this.#running === null) return;
    const { database, threads, blobs, offsite, uploads, peers, http } = this.#running;
    this.#running = null;
    await Promise.all(
      [uploads, peers, http].map((server) => (server.port === null ? undefined : server.close())),
    );
    await offsite?.close();
    await blobs.close();
    await threads.close();
    await database.close();
  }
}
