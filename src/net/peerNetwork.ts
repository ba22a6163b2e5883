/**
 * The network layer of the node. Creates its components, connects them, and starts and stops them in order. Contains no
 * protocol rules. Other modules use its public members.
 */
import { randomBytes, randomInt } from 'node:crypto';
import { join } from 'node:path';
import type { Chain } from '../chain/chain.js';
import type { ChainReader } from '../chain/chainReader.js';
import type { BlockFilters } from '../index/filterIndex.js';
import type { Mempool } from '../mempool/mempool.js';
import type { NetworkParams } from '../params/network.js';
import { failureReason } from '../util/text/environmentError.js';
import { OutageWatch } from '../util/network/outage.js';
import type { Logger } from '../util/logging.js';
import type { Subnet } from '../util/network/subnet.js';
import { PeerAddressBook } from './addressBook/peerAddressBook.js';
import { PeersFile } from './addressBook/peersFile.js';
import { BanList } from './banList.js';
import { Dialer } from './dial.js';
import { LOCAL_SCORE, LocalAddresses } from './localAddresses.js';
import type { VersionMessage } from './messages/version.js';
import { isRoutable, parseNetAddress, type NetAddress } from './netAddress.js';
import type { Networks } from './networks.js';
import type { Peer, RandomSource } from './messageHandler.js';
import { Connector } from './peers/connector.js';
import { Listener, type Binding } from './peers/listener.js';
import { PeerManager } from './peers/peerManager.js';
import { AddressRelay } from './relay/addressRelay.js';
import { makeTxRelay, type TxRelay, type TxRelayOptions } from './relay/txRelay.js';
import { addFixedSeeds, seedFromDns, type SeedDeps, type SeedOptions } from './seeds.js';
import { DESIRABLE_SERVICES, NODE } from './services.js';
import { makeBlockSync, type BlockSync } from './sync/blockSync.js';
import { FilterServing } from './sync/filterServing.js';
import { PartitionWatch } from './sync/partitionWatch.js';
import { TimeOffset } from './timeOffset.js';
import { TorControl } from './torControl.js';

export interface PeerNetworkOptions extends TxRelayOptions {
  params: NetworkParams;
  /** Folder of `peers.dat`, `banlist.dat` and the onion key. */
  folder: string;
  userAgent: string;
  networks: Networks;
  /** Port on which the node listens. The node announces this port to its peers. */
  port: number;
  bindings: readonly Binding[];
  whitelist: readonly Subnet[];
  externalAddresses: readonly NetAddress[];
  discovers: boolean;
  /** `-addrmantest`. */
  tellsLoopback: boolean;
  /** Drops one of this many received messages at random, for tests (`-dropmessagestest`); 0 drops none. */
  dropsOneIn: number;
  /** Whether logs show IP addresses of peers (`-logips`). */
  logsAddresses: boolean;
  /** Nodes set by `-connect`; null if the node selects peers automatically. */
  connect: readonly string[] | null;
  addNodes: readonly string[];
  seedNodes: readonly string[];
  /**
   * Whether DNS seeds are queried when addresses are needed (`-dnsseed`), and whether they are always queried
   * (`-forcednsseed`).
   */
  asksDnsSeeds: boolean;
  forcesDnsSeeds: boolean;
  allowsLookup: boolean;
  connectTimeoutMs: number;
  maxConnections: number;
  maxReceiveBytes: number;
  maxSendBytes: number;
  banScore: number;
  banTimeSec: number;
  sendsRejects: boolean;
  maxTimeAdjustmentSec: number;
  minimumChainWork: bigint;
  prunes: boolean;
  /** `-peerblockfilters`. */
  servesBlockFilters: boolean;
  uploadTargetBytes: number;
  reconstructionExtraTransactions: number;
  /** Settings of the onion service; null without `-listenonion`. */
  tor: { target: string; password: string; hasOnionProxy: boolean } | null;
}

export interface Listening {
  /** Error texts of bindings that failed, one per address. */
  readonly failures: readonly string[];
  /** Whether the operator requested listening and all bindings failed. The network layer is not started in this case. */
  readonly isDeaf: boolean;
}

export interface PeerNetworkDeps {
  chain: Chain;
  reader: ChainReader;
  mempool: Mempool;
  /** Index of compact block filters; null without `-blockfilterindex`. */
  blockFilters?: BlockFilters | null;
  /** Unix time of the node's clock, which a test may replace. */
  nowSec(): number;
  adjustedTimeSec(): number;
  log: Logger;
  /** Shows a warning to the operator immediately. */
  warn(message: string): void;
  /** Reports an unusable file when the node starts in a terminal. If absent, the warning is only logged. */
  warnOfFile?: (message: string) => void;
  /** Called for an internal error. No message of a peer may cause one. */
  onBug(error: unknown): void;
}

/** Maximum number of automatic outbound connections, and of additional feeler connections. */
const MAX_OUTBOUND = 8;
const MAX_FEELERS = 1;
/** Source: `EXTRA_PEER_CHECK_INTERVAL`. */
const EXTRA_CHECK_MS = 45_000;
const OUTAGE_CHECK_MS = 5000;
const SAVE_ADDRESSES_MS = 15 * 60_000;
const SAVE_BANS_MS = 15 * 60_000;

const RANDOM: RandomSource = {
  int: (below) => randomInt(below),
  u64: () => randomBytes(8).readBigUInt64LE(),
  bytes: (count) => randomBytes(count),
};

export class PeerNetwork {
  readonly book: PeerAddressBook;
  readonly bans: BanList;
  readonly local: LocalAddresses;
  readonly peers: PeerManager;
  readonly connector: Connector;
  readonly sync: BlockSync;
  readonly relay: TxRelay;
  readonly timeOffset: TimeOffset;
  private readonly options: PeerNetworkOptions;
  private readonly deps: PeerNetworkDeps;
  private readonly dialer: Dialer;
  private readonly listener: Listener;
  private readonly peersFile: PeersFile;
  private readonly tor: TorControl | null;
  private readonly partition: PartitionWatch;
  private readonly outage: OutageWatch;
  private readonly stopping = new AbortController();
  private readonly timers: NodeJS.Timeout[] = [];
  private readonly background: Promise<unknown>[] = [];
  private readonly maxOutbound: number;

  constructor(options: PeerNetworkOptions, deps: PeerNetworkDeps) {
    this.options = options;
    this.deps = deps;
    const { params, networks } = options;
    const { log, chain } = deps;
    const adjustedTimeSec = (): number => deps.adjustedTimeSec();
    this.maxOutbound = Math.min(MAX_OUTBOUND, options.maxConnections);
    this.book = new PeerAddressBook({ random: RANDOM, nowSec: adjustedTimeSec, log });
    this.peersFile = new PeersFile(join(options.folder, 'peers.dat'), params.magic, log, deps.warnOfFile);
    this.bans = new BanList(
      { path: join(options.folder, 'banlist.dat'), magic: params.magic, banTimeSec: options.banTimeSec },
      { nowSec: () => deps.nowSec(), log, warn: deps.warnOfFile },
    );
    this.local = new LocalAddresses(
      {
        listens: options.bindings.length > 0,
        discovers: options.discovers,
        port: options.port,
        tellsLoopback: options.tellsLoopback,
      },
      { networks, random: RANDOM, log },
    );
    this.timeOffset = new TimeOffset(
      { maxAdjustmentSec: options.maxTimeAdjustmentSec },
      { log, warn: deps.warn },
    );
    this.partition = new PartitionWatch(params, { chain, nowSec: () => deps.nowSec(), warn: deps.warn });
    this.outage = new OutageWatch(
      { what: 'a peer', advice: () => this.outageAdvice() },
      { log, nowMs: () => performance.now() },
    );
    this.peers = this.makePeers();
    this.sync = this.makeSync();
    this.relay = makeTxRelay(options, {
      reader: deps.reader,
      mempool: deps.mempool,
      uploadTarget: this.sync.uploadTarget,
      extras: this.sync.extraTransactions,
      localServices: () => this.localServices(),
      random: RANDOM,
      nowMs: () => performance.now(),
      nowSec: () => deps.nowSec(),
      log,
    });
    this.sync.getData.addServer(this.relay.server);
    const addresses = new AddressRelay({
      book: this.book,
      local: this.local,
      networks,
      chain,
      seenUsAt: (peer: Peer) => this.peers.peer(peer.id)?.seenUsAt ?? null,
      localServices: () => this.localServices(),
      adjustedTimeSec,
      random: RANDOM,
      log,
    });
    this.peers.parts.push(...this.sync.parts, ...this.relay.parts, addresses);
    const filters = options.servesBlockFilters ? (deps.blockFilters ?? null) : null;
    this.peers.parts.push(new FilterServing({ chain, params, filters, log }));
    this.dialer = new Dialer(
      {
        defaultPort: params.p2pPort,
        connectTimeoutMs: options.connectTimeoutMs,
        allowsLookup: options.allowsLookup,
      },
      { networks, random: RANDOM, log },
    );
    this.listener = this.makeListener();
    this.connector = this.makeConnector();
    this.tor =
      options.tor === null || options.bindings.length === 0
        ? null
        : new TorControl(
            { ...options.tor, keyPath: join(options.folder, 'onion_private_key'), port: options.port },
            { networks, localAddresses: this.local, random: RANDOM, log },
          );
  }

  private makePeers(): PeerManager {
    const { options, deps } = this;
    return new PeerManager(
      {
        magic: options.params.magic,
        banScore: options.banScore,
        maxReceiveBytes: options.maxReceiveBytes,
        maxSendBytes: options.maxSendBytes,
        sendsRejects: options.sendsRejects,
        dropsOneIn: options.dropsOneIn,
        logsAddresses: options.logsAddresses,
        userAgent: options.userAgent,
        relaysTransactions: options.relaysTransactions,
      },
      {
        log: deps.log,
        random: RANDOM,
        addresses: this.book,
        ban: (address) => void this.bans.banAddress(address, 'node misbehaving'),
        nowMs: () => performance.now(),
        nowSec: () => deps.nowSec(),
        adjustedTimeSec: () => deps.adjustedTimeSec(),
        height: () => deps.chain.height,
        localServices: () => this.localServices(),
        onSent: (bytes) => this.sync.uploadTarget.recordSent(bytes),
        onVersion: (peer, message) => this.versionCame(peer, message),
      },
    );
  }

  private makeSync(): BlockSync {
    const { options, deps } = this;
    return makeBlockSync(
      {
        params: options.params,
        minimumChainWork: options.minimumChainWork,
        prunes: options.prunes,
        uploadTargetBytes: options.uploadTargetBytes,
        extraTransactions: options.reconstructionExtraTransactions,
      },
      {
        chain: deps.chain,
        mempool: deps.mempool,
        clock: {
          nowMs: () => performance.now(),
          nowSec: () => deps.nowSec(),
          adjustedTimeSec: () => deps.adjustedTimeSec(),
        },
        random: RANDOM,
        log: deps.log,
        localServices: () => this.localServices(),
        blockFilterOf: (peer) => this.relay.filters.blockFilterOf(peer),
      },
    );
  }

  private makeListener(): Listener {
    const { options, deps } = this;
    return new Listener(
      {
        bindings: options.bindings,
        maxInbound: Math.max(0, options.maxConnections - this.maxOutbound - MAX_FEELERS),
      },
      {
        peers: this.peers,
        log: deps.log,
        isBanned: (address) => this.bans.isBanned(address),
        isWhitelisted: (address) => this.isWhitelisted(address),
        relayOf: (peer) => ({
          relaysTransactions: this.relay.filters.relaysTo(peer),
          hasBloomFilter: this.relay.filters.filterOf(peer) !== null,
        }),
      },
    );
  }

  private makeConnector(): Connector {
    const { options, deps } = this;
    return new Connector(
      {
        connect: options.connect,
        addNodes: options.addNodes,
        seedNodes: options.seedNodes,
        maxConnections: options.maxConnections,
        maxOutbound: this.maxOutbound,
        defaultPort: options.params.p2pPort,
      },
      {
        peers: this.peers,
        book: this.book,
        log: deps.log,
        random: RANDOM,
        nowMs: () => performance.now(),
        adjustedTimeSec: () => deps.adjustedTimeSec(),
        isBanned: (address) => this.bans.isBanned(address),
        isOwn: (address) => this.local.isLocal(address),
        isLimited: (address) => options.networks.isLimited(address),
        wantsExtraOutbound: () => this.sync.staleTips.wantsExtraOutbound(),
        addFixedSeeds: () => addFixedSeeds(this.seedOptions(), this.seedDeps()),
        dialer: this.dialer,
      },
    );
  }

  private isWhitelisted(address: NetAddress): boolean {
    return this.options.whitelist.some((subnet) => subnet.contains(address.ip));
  }

  /** Service bits that this node announces. Source: Core init.cpp `nLocalServices`. */
  localServices(): bigint {
    const { prunes, servesFilters, servesBlockFilters } = this.options;
    let services: bigint = NODE.witness | NODE.networkLimited;
    // A node started from a snapshot lacks old blocks, like a pruned node, so it does not announce the service NETWORK.
    if (!prunes && this.deps.chain.index.snapshotHeight < 0) services |= NODE.network;
    if (servesFilters) services |= NODE.bloom;
    if (servesBlockFilters) services |= NODE.compactFilters;
    return services;
  }

  private versionCame(peer: Peer, message: VersionMessage): void {
    if (peer.kind === 'inbound' && isRoutable(message.receiver)) this.local.seen(message.receiver);
    this.timeOffset.add(peer.remote, Number(message.timeSec) - this.deps.nowSec());
  }

  private seedOptions(): SeedOptions {
    const { params, forcesDnsSeeds } = this.options;
    const { dnsSeeds, fixedSeeds, p2pPort: port } = params;
    return { dnsSeeds, fixedSeeds, port, services: DESIRABLE_SERVICES, force: forcesDnsSeeds };
  }

  private seedDeps(): SeedDeps {
    return {
      book: this.book,
      random: RANDOM,
      log: this.deps.log,
      nowSec: () => this.deps.adjustedTimeSec(),
      hasNameProxy: () => this.options.networks.nameProxy !== null,
      resolve: (host, signal) => this.dialer.resolve(host, signal),
      addOneShot: (name) => this.connector.addOneShot(name),
      countOutboundPeers: () =>
        [...this.peers.peers()].filter(({ kind, isReady }) => kind === 'outbound' && isReady).length,
    };
  }

  /** Loads the stored state, starts listening, and starts to connect. The start succeeds if at least one address can be bound. */
  async start(): Promise<Listening> {
    const { options, deps } = this;
    await this.peersFile.load(this.book);
    await this.bans.load();
    for (const address of options.externalAddresses) this.local.add(address, LOCAL_SCORE.manual);
    if (options.discovers) {
      this.local.discover();
      for (const { host, port, isWhitelisted } of options.bindings) {
        const address = parseNetAddress(host, port);
        if (address && !isWhitelisted && isRoutable(address))
          this.local.add({ ...address, port }, LOCAL_SCORE.bind);
      }
    }
    const failures = await this.listener.listen();
    if (failures.length > 0 && !this.listener.isListening) return { failures, isDeaf: true };
    let isBroken = false;
    const onBug = (error: unknown): void => {
      // Only the first internal error is reported, because the node stops after it.
      if (isBroken || this.stopping.signal.aborted) return;
      isBroken = true;
      deps.onBug(error);
    };
    this.peers.start(onBug);
    this.connector.start(onBug);
    this.tor?.start();
    if (options.asksDnsSeeds)
      this.background.push(
        seedFromDns(this.seedOptions(), this.seedDeps(), this.stopping.signal).catch(onBug),
      );
    this.timers.push(setInterval(() => this.evictExtra(), EXTRA_CHECK_MS).unref());
    const checkContact = (): void => this.outage.check(this.hasContact());
    checkContact();
    this.timers.push(setInterval(checkContact, OUTAGE_CHECK_MS).unref());
    const spacingMs = options.params.targetSpacingSec * 1000;
    this.timers.push(setInterval(() => this.partition.check(), spacingMs).unref());
    this.every(SAVE_ADDRESSES_MS, () => this.peersFile.save(this.book));
    this.every(SAVE_BANS_MS, () => this.bans.save());
    return { failures, isDeaf: false };
  }

  /** Disconnects the least useful outbound peer if there are more than `maxOutbound`. */
  private evictExtra(): void {
    const extra = this.peers.countOf('outbound') - this.maxOutbound;
    for (const peer of this.sync.staleTips.peersToEvict(extra)) peer.disconnect('one outbound peer too many');
  }

  private outageAdvice(): string {
    const { connect, networks, params } = this.options;
    const proxied = networks.nameProxy === null ? '' : ', that the proxy of -proxy runs';
    if (connect !== null) return `Check that the nodes of -connect are running and reachable${proxied}.`;
    return (
      `Check the internet connection${proxied}, and that the firewall allows outgoing TCP connections to ` +
      `port ${params.p2pPort}; or add a running node with -addnode=<host>.`
    );
  }

  /** Whether at least one peer is connected; null if the options forbid connections to peers. */
  private hasContact(): boolean | null {
    const { connect, params } = this.options;
    for (const peer of this.peers.peers()) if (peer.isReady) return true;
    const isAlone =
      connect === null
        ? this.book.size === 0 && params.dnsSeeds.length === 0 && this.connector.addedNodes().length === 0
        : connect.length === 0 && this.connector.addedNodes().length === 0;
    return isAlone || !this.peers.isActive ? null : false;
  }

  private every(ms: number, task: () => Promise<void>): void {
    const run = (): void => {
      task().catch((error: unknown) =>
        this.deps.log.warn(`peers.dat could not be written; the node continues: ${failureReason(error)}`),
      );
    };
    this.timers.push(setInterval(run, ms).unref());
  }

  /** Warning with a suggested fix if no peer can be reached. Empty while at least one peer is connected. */
  get outageWarning(): string {
    return this.outage.warning;
  }

  /** Current warning about the network or the clock; empty if there is none. */
  warning(): string {
    return this.outage.warning || this.partition.warning || this.timeOffset.warning;
  }

  /** Disconnects all peers and stores the address book and the bans. */
  async stop(): Promise<void> {
    this.stopping.abort();
    for (const timer of this.timers) clearInterval(timer);
    // Resolves when the listener and the connections that it accepted are closed.
    const deaf = this.listener.close();
    await this.connector.stop();
    await this.tor?.stop();
    this.peers.stop();
    await deaf;
    this.sync.stop();
    await this.relay.stop();
    await Promise.all(this.background);
    await this.peersFile.save(this.book);
    await this.bans.save();
  }
}
