/**
 * The components `upnp`, `dht`, `hash_announcer` and `tracker_announcer_component`, which connect this daemon with its
 * peers. Source: lbry-sdk lbry/extras/daemon/components.py `UPnPComponent`, `DHTComponent`, `HashAnnouncerComponent`,
 * `TrackerAnnouncerComponent`.
 */
import type { Logger } from '../../../util/logging.js';
import type { JsonOut } from '../../../util/json/jsonWrite.js';
import type { ComponentName } from '../../api/declaration.js';
import type { HostPortSetting, Settings } from '../../api/settings.js';
import { atMost, sleep, type Clock, type DaemonRandom } from '../../base/clock.js';
import { Announcer } from '../../dht/announcer.js';
import type { UdpEndpoint } from '../../dht/contact.js';
import { findNatGateway } from '../../dht/reach/natGateway.js';
import { DhtNode } from '../../dht/node.js';
import { readNodeId } from '../../dht/nodeId.js';
import { PeerFinder } from '../../dht/peerFinder.js';
import type { PeerSource } from '../../dht/peerSource.js';
import { PortMapper } from '../../dht/reach/portMapper.js';
import { TrackerClient } from '../../dht/reach/trackerClient.js';
import { trackerPeerId } from '../../dht/reach/trackerPackets.js';
import { openUdpSocket } from '../../dht/udpPort.js';
import { peerStoreOf } from '../../content/contentDatabase.js';
import type { HashPage } from '../../content/rows.js';
import { pingHubs } from '../../ledger/hub/hubPing.js';
import type { Component } from '../components.js';
import { COMPATIBLE_VERSION } from '../machineInfo.js';
import type { ContentParts } from './contentParts.js';
import { ExternalPlace, isOnLoopback } from './externalPlace.js';
import { HostLookups } from './hostNames.js';

/** Maximum number of concurrent announcements. A larger value of the setting is reduced to this number. */
const MAX_ANNOUNCERS = 1000;
/** Milliseconds between two rounds of tracker announcements of all files. Source: `announce_forever`. */
const TRACKER_ROUND_MS = 60_000;
/** Number of files per query for tracker announcements. Arbitrary. */
const ANNOUNCED_AT_ONCE = 500;
/** Time in ms to wait for the addresses of known nodes before joining. Names that take longer are used in the next attempt. */
const NAMES_MS = 3000;

export interface NetworkPartsDeps {
  readonly settings: Settings;
  readonly log: Logger;
  readonly clock: Clock;
  readonly random: DaemonRandom;
  readonly content: ContentParts;
  /** Returns the TCP port on which blobs are served to peers; null while no server runs. */
  readonly servedTcpPort: () => number | null;
  readonly isSkipped: (name: ComponentName) => boolean;
}

export class NetworkParts {
  readonly components: readonly Component[];
  readonly place: ExternalPlace;
  readonly #deps: NetworkPartsDeps;
  readonly #names: HostLookups;
  #node: DhtNode | null = null;
  #announcer: Announcer | null = null;
  #trackers: TrackerClient | null = null;

  constructor(deps: NetworkPartsDeps) {
    this.#deps = deps;
    this.#names = new HostLookups(deps.clock);
    const { settings, clock, servedTcpPort } = deps;
    this.place = new ExternalPlace({ settings, clock, pingHubs, servedTcpPort });
    this.components = [this.#upnpPart(), this.#dhtPart(), this.#announcerPart(), this.#trackerPart()];
  }

  /** The DHT node. Throws if the component `dht` does not run. */
  get dht(): DhtNode {
    if (this.#node === null) throw new Error('the component dht is not running');
    return this.#node;
  }

  /** The DHT node; null if the component `dht` does not run. */
  get runningDht(): DhtNode | null {
    return this.#node;
  }

  /** Whether any known DHT node responds; null if the component `dht` does not run or knows no node. */
  get dhtContact(): boolean | null {
    if (this.#node === null) return null;
    if (this.#node.table.size > 0) return true;
    const { settings } = this.#deps;
    return settings.get('known_dht_nodes').length === 0 || isOnLoopback(settings) ? null : false;
  }

  /** Finds peers by the running DHT node and trackers, without announcing this daemon. Null if neither runs. */
  get peerFinder(): PeerFinder | null {
    if (this.#node === null && this.#trackers === null) return null;
    return this.#finder(this.#node, this.#trackers, 'list');
  }

  /** Sources of peers for downloads that are running. A search of trackers also announces the download. */
  sources(): (PeerSource & { readonly name: string; readonly precedesFixed: () => boolean })[] {
    const named = (name: string, finder: PeerFinder, precedesFixed: () => boolean) => ({
      name,
      precedesFixed,
      peersFor: (hash: string, signal: AbortSignal) => finder.peersFor(hash, signal),
    });
    const node = this.#node;
    // The use of fixed peers waits for the DHT only if the DHT node knows a contact. Source: lbry-sdk
    // lbry/stream/downloader.py `add_fixed_peers`.
    const knowsPeers = (): boolean => node?.buckets.some(({ contacts }) => contacts.length > 0) ?? false;
    return [
      ...(node === null ? [] : [named('DHT', this.#finder(node, null, 'download'), knowsPeers)]),
      ...(this.#trackers === null
        ? []
        : [named('trackers', this.#finder(null, this.#trackers, 'download'), () => false)]),
    ];
  }

  /**
   * Creates a finder of peers with the given DHT node and trackers. With an announcement for a download, without one for a
   * list of peers.
   */
  #finder(node: DhtNode | null, trackers: TrackerClient | null, use: 'download' | 'list'): PeerFinder {
    const { place } = this;
    return new PeerFinder({
      node,
      trackers: trackers && {
        search: (hash, signal) => trackers.search(hash, signal, { announces: use === 'download' }),
      },
      showsOwn: use === 'list',
      external: () => ({ address: place.address, tcpPort: place.tcpPort }),
      allowLocalhost: isOnLoopback(this.#deps.settings),
    });
  }

  /** Starts immediately, so that the port mapping and the address request run while other components start. */
  #upnpPart(): Component {
    const { place } = this;
    return {
      name: 'upnp',
      dependsOn: [],
      start: () => {
        place.start();
        if (this.#deps.settings.get('use_upnp') && !isOnLoopback(this.#deps.settings)) {
          place.mapper = this.#portMapper();
          void place.mapper.start();
        }
        return Promise.resolve();
      },
      stop: async () => {
        place.stop();
        await place.mapper?.stop();
        place.mapper = null;
      },
      status: (): JsonOut => {
        const redirects = place.mapper?.redirects ?? {};
        return {
          aioupnp_version: '@silentbot1/nat-api 0.4',
          redirects,
          gateway: place.mapper?.gatewayName ?? 'No gateway found',
          dht_redirect_set: redirects.UDP !== undefined,
          peer_redirect_set: redirects.TCP !== undefined,
          external_ip: place.address,
        };
      },
    };
  }

  #portMapper(): PortMapper {
    const { settings, log, clock, isSkipped } = this.#deps;
    const wanted = [
      { component: 'peer_protocol_server', protocol: 'TCP', setting: 'tcp_port', name: 'LBRY peer port' },
      { component: 'dht', protocol: 'UDP', setting: 'udp_port', name: 'LBRY DHT port' },
    ] as const;
    const ports = wanted
      .filter(({ component, setting }) => !isSkipped(component) && settings.get(setting) !== 0)
      .map(({ protocol, setting, name }) => ({ protocol, port: settings.get(setting), name }));
    return new PortMapper({ clock, log, findGateway: findNatGateway, ports });
  }

  #dhtPart(): Component {
    return {
      name: 'dht',
      dependsOn: ['database'],
      start: async () => {
        const { settings } = this.#deps;
        const port = await openUdpSocket(settings.get('udp_port'), settings.get('network_interface'), {
          what: 'DHT',
          settings: 'udp_port, network_interface',
        });
        this.place.boundUdpPort = port.port;
        this.place.start();
        this.#node = this.#makeNode(port);
        this.#node.start();
      },
      stop: async () => {
        this.place.stop();
        await this.#node?.stop();
        this.#node = null;
      },
      status: (): JsonOut => ({
        node_id: this.#node?.nodeId.toString('hex') ?? null,
        peers_in_routing_table: this.#node?.table.size ?? 0,
      }),
    };
  }

  #makeNode(port: Awaited<ReturnType<typeof openUdpSocket>>): DhtNode {
    const { settings, log, clock, random, content } = this.#deps;
    const { place } = this;
    return new DhtNode({
      clock,
      random,
      log,
      port,
      nodeId: readNodeId(settings.get('data_dir'), random),
      splitBucketsUnderIndex: settings.get('split_buckets_under_index'),
      isBootstrapNode: settings.get('is_bootstrap_node'),
      // The value of the setting is limited at this point, because lbry-sdk accepts any number for the setting.
      rpcTimeoutMs: () => Math.min(600_000, Math.max(100, settings.get('node_rpc_timeout') * 1000)),
      knownNodes: () => this.#knownNodes(),
      peerStore: peerStoreOf(content.content),
      external: () => ({ address: place.address, udpPort: place.udpPort, tcpPort: place.tcpPort }),
      hasBlob: (hash) => content.hasBlob(hash),
      allowLocalhost: isOnLoopback(settings),
    });
  }

  /** Resolves to the addresses of the known DHT nodes. A daemon on the loopback network uses only nodes on that network. */
  async #knownNodes(): Promise<UdpEndpoint[]> {
    const { settings, clock } = this.#deps;
    const isLocal = ([host]: HostPortSetting): boolean => host === 'localhost' || host.startsWith('127.');
    const known = settings.get('known_dht_nodes');
    const nodes = isOnLoopback(settings) ? known.filter(isLocal) : known;
    const found: UdpEndpoint[] = [];
    const asked = nodes.map(async ([host, udpPort]) => {
      try {
        found.push({ address: await this.#names.addressOf(host), udpPort });
      } catch {
        // A failure is ignored, because the next attempt to join resolves the name again.
      }
    });
    await atMost(clock, NAMES_MS, Promise.all(asked));
    return [...found];
  }

  #announcerPart(): Component {
    const { settings, log, clock, content } = this.#deps;
    return {
      name: 'hash_announcer',
      dependsOn: ['dht', 'database'],
      start: () => {
        this.#announcer = new Announcer({
          clock,
          node: this.dht,
          due: (limit) =>
            content.content.dueForAnnouncement(
              settings.get('announce_head_and_sd_only'),
              limit,
              clock.nowSec(),
            ),
          noteAnnounced: (hashes) => content.content.noteAnnounced(hashes, clock.nowSec()),
          concurrency: () => Math.min(MAX_ANNOUNCERS, settings.get('concurrent_blob_announcers')),
          warn: (text) => log.warn(text),
        });
        this.#announcer.start();
        return Promise.resolve();
      },
      stop: async () => {
        await this.#announcer?.stop();
        this.#announcer = null;
      },
      status: (): JsonOut => ({ announce_queue_size: this.#announcer?.queueSize ?? 0 }),
    };
  }

  #trackerPart(): Component {
    const stopping = new AbortController();
    let rounds = Promise.resolve();
    return {
      name: 'tracker_announcer_component',
      dependsOn: ['database'],
      start: async () => {
        const { settings, random, clock } = this.#deps;
        // Requests to trackers are sent from any free port. Like lbry-sdk, the socket is bound to all interfaces, except
        // if the daemon uses only the loopback network.
        const host = isOnLoopback(settings) ? settings.get('network_interface') : '0.0.0.0';
        const port = await openUdpSocket(0, host, { what: 'tracker client', settings: 'network_interface' });
        this.#trackers = new TrackerClient({
          clock,
          random,
          port,
          peerId: trackerPeerId(
            readNodeId(settings.get('data_dir'), random).toString('hex'),
            COMPATIBLE_VERSION,
          ),
          announcedPort: () => this.place.tcpPort,
          servers: () => settings.get('tracker_servers'),
          resolve: (name) => this.#names.addressOf(name),
        });
        rounds = this.#announceFiles(this.#trackers, stopping.signal);
      },
      stop: async () => {
        stopping.abort();
        await this.#trackers?.close();
        await rounds;
        this.#trackers = null;
      },
      status: () => null,
    };
  }

  /** Announces each file to those trackers whose announcement interval has passed; repeats this each minute. */
  async #announceFiles(trackers: TrackerClient, signal: AbortSignal): Promise<void> {
    const { clock, content, log } = this.#deps;
    do
      try {
        for (let after: number | null = 0; after !== null && !signal.aborted;) {
          const page: HashPage = await content.content.sdHashesOfFiles(after, ANNOUNCED_AT_ONCE);
          await trackers.announce(page.hashes.map((hash) => Buffer.from(hash, 'hex')));
          after = page.next;
        }
      } catch (error) {
        if (!signal.aborted)
          log.warn(`Files could not be announced to trackers: ${(error as Error).message}`);
      }
    while (await sleep(clock, TRACKER_ROUND_MS, signal));
  }
}
