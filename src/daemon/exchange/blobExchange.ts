/**
 * Client of the blob exchange: one swarm for each running stream download, which uses peers from the DHT, trackers and
 * settings, and HTTP blob servers. Source: lbry-sdk lbry/stream/downloader.py `StreamDownloader`.
 */
import { setMaxListeners } from 'node:events';
import { isIPv4 } from 'node:net';
import { failureReason } from '../../util/text/environmentError.js';
import { sleep, type Clock, type DaemonRandom, type Timer } from '../base/clock.js';
import type { Bandwidth } from './bandwidth.js';
import { HttpHolder, HttpServerMemory } from './httpHolder.js';
import type { Dial, BlobPlace } from './links.js';
import { PeerHolder, type LineDeps } from './peerLine.js';
import type { BlobFetcher, BlobKeeper, DownloadProgress, FetchOptions, NamedPeerSource } from './ports.js';
import type { RateLimiter } from './rateLimiter.js';
import { putInto, Swarm } from './swarm.js';

/** Time in ms for which idle connections of a stream stay open. Servers close idle connections after 30 s. */
const KEEP_MS = 25_000;
/** Milliseconds between two searches for peers. The pause doubles after each search, up to `MAX_LOOKUP_PAUSE_MS`. Arbitrary. */
const LOOKUP_PAUSE_MS = 2000;
const MAX_LOOKUP_PAUSE_MS = 60_000;
/** Milliseconds after which a download reads the fixed peers and servers of the settings again. Arbitrary. */
const FIXED_PAUSE_MS = 5000;
/** Milliseconds for which the addresses of a host name are cached. Source: lbry-sdk lbry/utils.py `resolve_host`. */
const DNS_MS = 300_000;
/** Number of concurrent blob requests to an HTTP server. Arbitrary. */
const LINES_OF_SERVER = 4;

/** Settings of the blob exchange, read at each use. */
export interface ExchangeSettings {
  readonly fixedPeers: readonly (readonly [host: string, port: number])[];
  readonly fixedPeerDelayMs: number;
  /** `http://host:port`. */
  readonly httpServers: readonly string[];
  readonly edgeToken: string | null;
  readonly maxConnections: number;
  readonly connectTimeoutMs: number;
  readonly blobTimeoutMs: number;
}

export interface BlobExchangeDeps {
  readonly blobs: BlobKeeper;
  /** Returns the peer sources that are running. */
  readonly sources: () => readonly NamedPeerSource[];
  readonly settings: () => ExchangeSettings;
  readonly rate: RateLimiter;
  readonly bandwidth: Bandwidth;
  readonly clock: Clock;
  readonly random: DaemonRandom;
  readonly dial: Dial;
  /** Resolves a host name to IPv4 addresses. Rejects if there are none. */
  readonly resolveHost: (host: string) => Promise<readonly string[]>;
  readonly debug: (text: () => string) => void;
}

interface Download {
  readonly swarm: Swarm;
  readonly ending: AbortController;
}

export class BlobExchange implements BlobFetcher {
  readonly #deps: BlobExchangeDeps;
  readonly #swarms = new Map<string, Download>();
  readonly #addresses = new Map<
    string,
    { readonly found: Promise<readonly string[]>; readonly untilMs: number }
  >();
  readonly #servers = new Map<string, HttpServerMemory>();
  readonly #searches = new Set<Promise<void>>();
  #sweep: Timer | null = null;
  #isClosed = false;

  constructor(deps: BlobExchangeDeps) {
    this.#deps = deps;
  }

  async fetchBlob(hash: string, lengthBytes: number | null, options: FetchOptions): Promise<Uint8Array> {
    const { sdHash, signal, urgency = 'reader', into } = options;
    if (this.#isClosed) throw new Error('the daemon is stopping');
    const running = this.#swarms.get(sdHash)?.swarm;
    const there = running?.wants(hash) ? null : await this.#deps.blobs.read(hash);
    if (there !== null) return into === undefined ? there : putInto(into, there);
    signal.throwIfAborted();
    // The downloads of many blobs may listen to one signal; without this call Node.js prints a warning.
    setMaxListeners(0, signal);
    const { swarm } = this.#swarms.get(sdHash) ?? this.#begin(sdHash);
    return swarm.fetch(hash, lengthBytes, { urgency, signal, into });
  }

  progressOf(sdHash: string): DownloadProgress | null {
    return this.#swarms.get(sdHash)?.swarm.progress() ?? null;
  }

  #begin(sdHash: string): Download {
    const { blobs, clock, random, settings, debug } = this.#deps;
    const swarm = new Swarm({
      blobs,
      clock,
      limit: () => settings().maxConnections,
      random: () => random.bytes(4).readUInt32BE() / 2 ** 32,
      debug,
    });
    const download = { swarm, ending: new AbortController() };
    this.#swarms.set(sdHash, download);
    for (const search of [this.#searchPeers(sdHash, download), this.#addFixed(download)]) {
      const running = search
        .catch((error: unknown) => debug(() => `looking for peers failed: ${failureReason(error)}`))
        .finally(() => this.#searches.delete(running));
      this.#searches.add(running);
    }
    this.#sweepLater();
    return download;
  }

  /** Schedules the closing of idle swarms (downloads without wanted blobs). */
  #sweepLater(): void {
    this.#sweep ??= this.#deps.clock.after(KEEP_MS / 5, () => {
      this.#sweep = null;
      const before = this.#deps.clock.nowMs() - KEEP_MS;
      for (const [sdHash, { swarm, ending }] of this.#swarms) {
        if (!swarm.isIdle || swarm.lastUseMs > before) continue;
        this.#swarms.delete(sdHash);
        ending.abort();
        swarm.close();
      }
      if (this.#swarms.size > 0) this.#sweepLater();
    });
  }

  get #lineDeps(): LineDeps {
    const { dial, clock, bandwidth, rate, settings } = this.#deps;
    return {
      dial,
      clock,
      bandwidth,
      rate,
      connectTimeoutMs: () => settings().connectTimeoutMs,
      blobTimeoutMs: () => settings().blobTimeoutMs,
    };
  }

  #addPeer({ swarm }: Download, place: BlobPlace, source?: string): void {
    if (place.port > 0 && place.port < 0x10000) swarm.add(new PeerHolder(place, this.#lineDeps), source);
  }

  /** Searches peers, and repeats the search with pauses while the known peers send nothing. */
  async #searchPeers(sdHash: string, download: Download): Promise<void> {
    const { clock, sources } = this.#deps;
    const { signal } = download.ending;
    let pauseMs = LOOKUP_PAUSE_MS;
    while (!signal.aborted) {
      await Promise.all(sources().map((source) => this.#searchWith(source, sdHash, download)));
      do {
        if (!(await sleep(clock, pauseMs, signal))) return;
        pauseMs = Math.min(MAX_LOOKUP_PAUSE_MS, pauseMs * 2);
      } while (download.swarm.isIdle || download.swarm.hasHope);
    }
  }

  async #searchWith(source: NamedPeerSource, sdHash: string, download: Download): Promise<void> {
    try {
      for await (const { address, tcpPort } of source.peersFor(sdHash, download.ending.signal))
        this.#addPeer(download, { host: address, port: tcpPort }, source.name);
    } catch (error) {
      this.#deps.debug(() => `${source.name}: ${failureReason(error)}`);
    }
  }

  /**
   * Adds the peers and servers of the settings after `fixed_peer_delay`, so that peers of the network are preferred. If no
   * other peer source is running, adds them immediately. A running download also gets peers that are added to the settings,
   * or whose names are resolved, later. Source: `add_fixed_peers`.
   */
  async #addFixed(download: Download): Promise<void> {
    const { clock, sources, settings } = this.#deps;
    const { signal } = download.ending;
    const waits = sources().some(({ precedesFixed }) => precedesFixed?.() ?? true);
    if (waits && !(await sleep(clock, settings().fixedPeerDelayMs, signal))) return;
    while (!signal.aborted) {
      await this.#addFixedNow(download);
      if (!(await sleep(clock, FIXED_PAUSE_MS, signal))) return;
    }
  }

  async #addFixedNow(download: Download): Promise<void> {
    const { fixedPeers, httpServers } = this.#deps.settings();
    for (const base of httpServers) this.#addServer(download, base);
    await Promise.all(
      fixedPeers.map(async ([host, port]) => {
        for (const address of await this.#resolve(host)) this.#addPeer(download, { host: address, port });
      }),
    );
  }

  #addServer({ swarm }: Download, base: string): void {
    const { settings } = this.#deps;
    const memory = this.#servers.get(base) ?? new HttpServerMemory();
    this.#servers.set(base, memory);
    const deps = { ...this.#lineDeps, edgeToken: () => settings().edgeToken };
    for (let number = 1; number <= LINES_OF_SERVER; number++)
      swarm.add(new HttpHolder(base, number, memory, deps));
  }

  /** Resolves a host name to its addresses. Empty if it cannot be resolved; the next use then resolves it again. */
  async #resolve(host: string): Promise<readonly string[]> {
    if (isIPv4(host)) return [host];
    const now = this.#deps.clock.nowMs();
    const known = this.#addresses.get(host);
    const found = known && known.untilMs > now ? known.found : this.#deps.resolveHost(host);
    if (found !== known?.found) this.#addresses.set(host, { found, untilMs: now + DNS_MS });
    try {
      return await found;
    } catch (error) {
      this.#addresses.delete(host);
      this.#deps.debug(() => `${host}: ${failureReason(error)}`);
      return [];
    }
  }

  /** Closes the exchange and ends all downloads, whose calls reject. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#sweep?.cancel();
    for (const { swarm, ending } of this.#swarms.values()) {
      ending.abort();
      swarm.close();
    }
    this.#swarms.clear();
    await Promise.all(this.#searches);
  }
}
