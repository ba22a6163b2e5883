/**
 * The composition root: folders, lock, servers, then the components in their order; and all of it stopped the other way
 * round. Source: lbry-sdk lbry/extras/daemon/daemon.py `Daemon.start`, `Daemon.stop`.
 */
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { EnvironmentError, failureReason } from '../../util/text/environmentError.js';
import type { Logger } from '../../util/logging.js';
import type { JsonOut } from '../../util/json/jsonWrite.js';
import type { DaemonControl, DaemonServices } from '../api/context.js';
import { COMPONENT_NAMES, type ComponentName } from '../api/declaration.js';
import { ALIASES, DECLARATIONS } from '../api/declarations/table.js';
import { Dispatcher } from '../api/dispatch.js';
import { implementationsByName } from '../api/methodTable.js';
import type { HostPort } from '../api/settings.js';
import { fixed } from '../base/answerJson.js';
import { systemClock, systemRandom, type Clock, type RandomSource } from '../base/clock.js';
import { Transfers } from '../base/transfers.js';
import { apiServer } from '../http/apiServer.js';
import { EventFeed } from '../http/eventFeed.js';
import { EventSockets } from '../http/eventSockets.js';
import { EventStreams } from '../http/eventStreams.js';
import { mediaServer } from '../http/mediaServer.js';
import { CallMetrics, metricsServer } from '../http/metricsServer.js';
import { addReflectorMetrics } from '../http/reflectorMetrics.js';
import { Components, type Component } from './components.js';
import type { DaemonSettings } from './settings/daemonSettings.js';
import { findFfmpeg } from './ffmpeg.js';
import { lockFolder } from './folderLock.js';
import { ensureFolder, installationId } from './folders.js';
import { versionAnswer } from './machineInfo.js';
import { ContentParts } from './parts/contentParts.js';
import { ExchangeParts } from './parts/exchangeParts.js';
import { NetworkParts } from './parts/networkParts.js';
import { ReflectorRole } from './parts/reflectorRole.js';
import { FilesPart } from './parts/filesPart.js';
import { backgroundPart } from './parts/backgroundPart.js';
import { ratesPart } from './parts/ratesPart.js';
import { RateFeed } from '../txBuilding/rateFeed.js';
import { Outages } from './outages.js';
import { parseServer } from './settings/settingKinds.js';
import { statusOf } from './status.js';
import type { WalletPart, WalletPartDeps, WalletServices } from './walletPart.js';

/** Host of the metrics server. Source: `prom_site`. */
const METRICS_HOST = '0.0.0.0';

export interface DaemonOptions {
  readonly settings: DaemonSettings;
  readonly log: Logger;
  /** Makes the component `wallet`; it is not asked where that is skipped. */
  readonly makeWalletPart: (deps: WalletPartDeps) => WalletPart;
  /** Whether it is a reflector too. */
  readonly isReflector?: boolean;
  /** Member of `status` about a node in this process. */
  readonly nodeStatus?: () => JsonOut;
  /** Called when a component did not start, which is in the log then; the others continue. */
  readonly onComponentFailure?: (name: ComponentName, error: unknown) => void;
  /** Called when `stop` was answered. */
  readonly onStop: () => void;
  readonly clock?: Clock;
  readonly random?: RandomSource;
}

export interface RunningDaemon {
  /** Address of the API. */
  readonly api: HostPort;
  readonly media: HostPort;
  /** Resolves when all components run or failed to start, to whether all run. */
  readonly started: Promise<boolean>;
  stop(): Promise<void>;
}

/** Settings of that kind hold nothing else. */
const placeOf = (settings: DaemonSettings, name: 'api' | 'streaming_server'): HostPort =>
  parseServer(settings.get(name))!;

async function listen(app: FastifyInstance, [host, port]: HostPort, what: string): Promise<HostPort> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason =
      code === 'EADDRINUSE'
        ? 'the port is taken. Is another daemon running there? Stop it, or choose another port'
        : code === 'EACCES'
          ? 'the system does not allow it. Choose a port above 1023'
          : code === 'ENOTFOUND' || code === 'EADDRNOTAVAIL'
            ? 'this machine has no such address. Choose another host'
            : message;
    throw new EnvironmentError(`The ${what} cannot listen at ${host}:${port}: ${reason}.`);
  }
  const address = app.server.address() as AddressInfo;
  return [host, address.port];
}

/** Components without the skipped ones. A component that needs a skipped one is skipped too. */
function withoutSkipped(
  components: readonly Component[],
  toSkip: readonly string[],
  log: Pick<Logger, 'warn'>,
): Component[] {
  let left = components.filter(({ name }) => !toSkip.includes(name));
  for (;;) {
    const names = new Set<string>(left.map(({ name }) => name));
    const lost = left.filter(({ dependsOn }) => dependsOn.some((needed) => !names.has(needed)));
    if (lost.length === 0) return left;
    for (const { name, dependsOn } of lost)
      log.warn(
        `The component ${name} is skipped, since it needs ${dependsOn.find((needed) => !names.has(needed))}.`,
      );
    left = left.filter((component) => !lost.includes(component));
  }
}

/** Resolves when the servers listen. Throws `EnvironmentError` for what the operator must mend; nothing is left running. */
export async function startDaemon(options: DaemonOptions): Promise<RunningDaemon> {
  const daemon = new Daemon(options);
  try {
    await daemon.open();
  } catch (error) {
    await daemon.stop();
    throw error;
  }
  return daemon;
}

class Daemon implements RunningDaemon {
  private readonly options: DaemonOptions;
  private readonly settings: DaemonSettings;
  private readonly stopping = new AbortController();
  private readonly wallet: WalletPart | null;
  private readonly content: ContentParts;
  private readonly exchange: ExchangeParts;
  private readonly network: NetworkParts;
  private readonly reflector: ReflectorRole | null;
  private readonly files: FilesPart;
  private readonly components: Components;
  private readonly transfers: Transfers;
  private readonly outages: Outages;
  private readonly skipped: readonly ComponentName[];
  private readonly servers: FastifyInstance[] = [];
  private unlock: (() => void) | null = null;
  private installation = '';
  private ffmpeg: Promise<string | null> | null = null;
  private stopped: Promise<void> | null = null;
  private readonly versionShown = fixed(versionAnswer());
  api: HostPort = ['', 0];
  media: HostPort = ['', 0];
  started: Promise<boolean> = Promise.resolve(false);

  constructor(options: DaemonOptions) {
    const { settings, log, clock = systemClock, random = systemRandom } = options;
    this.options = options;
    this.settings = settings;
    const toSkip = settings.get('components_to_skip');
    for (const name of toSkip)
      if (!COMPONENT_NAMES.some((known) => known === name))
        log.warn(`Setting 'components_to_skip' names '${name}', which is not a component.`);
    this.transfers = new Transfers(clock);
    const { transfers } = this;
    this.exchange = new ExchangeParts({
      transfers,
      settings,
      log,
      clock,
      random,
      blobs: () => this.content.blobs,
      database: () => this.content.content,
      sources: () => this.network.sources(),
      address: async () =>
        (await this.wallet?.services?.wallets.default.account(undefined).nextReceivingAddress()) ?? null,
    });
    const { bandwidth, rates } = this.exchange;
    const resolver = () => this.wallet?.services?.resolver ?? null;
    this.reflector = options.isReflector
      ? new ReflectorRole({
          settings,
          log,
          clock,
          bandwidth,
          rates,
          resolver,
          environment: process.env,
        })
      : null;
    this.content = new ContentParts({ settings, log, clock, beside: this.exchange });
    this.network = new NetworkParts({
      settings,
      log,
      clock,
      random,
      content: this.content,
      servedTcpPort: () => this.exchange.serverPort,
      isSkipped: (name) => toSkip.includes(name),
    });
    this.files = new FilesPart({
      transfers,
      settings,
      log,
      clock,
      random,
      content: this.content,
      fetcher: () => this.exchange.fetcher,
      reflector: () => this.exchange.reflector,
      ledgerParams: () => this.wallet!.services!.ledger.params,
      findFfmpeg: () => this.findFfmpeg(false),
      claimFinder: () => {
        const services = this.components.isRunning('wallet') ? this.wallet?.services : null;
        if (!services) return null;
        const { resolver, ledger, wallets } = services;
        return {
          resolver,
          params: ledger.params,
          accountIds: wallets.all.flatMap(({ accountIds }) => accountIds),
        };
      },
    });
    const files = {
      publishing: () => {
        this.components.check(['file_manager']);
        return this.files.publishing;
      },
      hasFiles: () => this.components.isRunning('file_manager'),
    };
    const rateFeed = new RateFeed({
      clock,
      log,
      source: () => settings.get('exchange_rate_source'),
      url: () => settings.get('exchange_rate_url'),
    });
    this.wallet = toSkip.includes('wallet')
      ? null
      : options.makeWalletPart({ settings, log, clock, random, files, rateFeed });
    const parts = withoutSkipped(
      [
        ...(this.wallet === null ? [] : [this.wallet]),
        ...this.content.components,
        this.exchange.serverPart,
        ...this.network.components,
        this.files,
        this.backgroundPart(),
        ratesPart(rateFeed, settings),
      ],
      toSkip,
      log,
    );
    this.components = new Components(parts);
    this.outages = this.watchOutages(log, clock);
    this.skipped = COMPONENT_NAMES.filter((name) => !parts.some((part) => part.name === name));
  }

  async open(): Promise<void> {
    const { settings, stopping } = this;
    const { log, clock = systemClock, random = systemRandom } = this.options;
    for (const name of ['data_dir', 'wallet_dir', 'download_dir'] as const) {
      const made = ensureFolder(settings.get(name), name);
      if (made !== null) log.info(made);
    }
    const dataDir = settings.get('data_dir');
    this.unlock = await lockFolder(dataDir);
    this.installation = installationId(dataDir);
    const metrics = new CallMetrics();
    const { reflector } = this;
    if (reflector !== null) addReflectorMetrics(metrics.registry, () => reflector.status());
    const { wallet, content, exchange, network, files } = this;
    /** What methods of the component reach; throws what `needs` would where it does not run. */
    const ofWallet = <Name extends keyof WalletServices>(name: Name): WalletServices[Name] => {
      if (wallet?.services) return wallet.services[name];
      this.components.check(['wallet']);
      throw new Error('the component wallet runs without its services');
    };
    const services: DaemonServices = {
      control: this.control,
      settings,
      clock,
      random,
      get content() {
        return content.content;
      },
      get blobs() {
        return content.blobs;
      },
      get diskSpace() {
        return content.diskSpace;
      },
      get fetcher() {
        return exchange.fetcher;
      },
      get reflecting() {
        return exchange.reflecting;
      },
      get dht() {
        return network.dht;
      },
      get peerFinder() {
        return network.peerFinder;
      },
      get files() {
        return files.manager;
      },
      get library() {
        return files.library;
      },
      get downloads() {
        if (wallet?.services) return files.downloadsOf(wallet.services);
        return ofWallet('txBuilder') as never;
      },
      get ledger() {
        return ofWallet('ledger');
      },
      get wallets() {
        return ofWallet('wallets');
      },
      get runningWallets() {
        return wallet?.services?.wallets ?? null;
      },
      get resolver() {
        return ofWallet('resolver');
      },
      get txBuilder() {
        return ofWallet('txBuilder');
      },
      get exchange() {
        return ofWallet('exchange');
      },
    };
    const dispatcher = new Dispatcher({
      declarations: DECLARATIONS,
      aliases: ALIASES,
      implementations: implementationsByName(),
      gate: this.components,
      services,
      observer: metrics,
      onBug: (method, error) =>
        log.error(
          `${method} failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
        ),
    });
    const feed = new EventFeed({ transfers: this.transfers, clock, stopping: stopping.signal });
    const api = apiServer({
      dispatcher,
      events: new EventStreams(feed),
      eventSockets: new EventSockets(feed, clock),
      allowedOrigin: () => settings.get('allowed_origin'),
      stopping: stopping.signal,
      onRefusedOrigin: (origin) =>
        log.warn(
          `A request with the origin '${origin}' was refused; the setting 'allowed_origin' says which may call.`,
        ),
    });
    this.servers.push(api);
    this.api = await listen(api, placeOf(settings, 'api'), 'API');
    log.info(`The API listens at ${this.api.join(':')}.`);
    const media = mediaServer({
      gate: this.components,
      mayGet: () => settings.get('streaming_get'),
      source: () =>
        files.mediaOf(() => {
          this.components.check(['wallet']);
          return wallet!.services!;
        }),
      stopping: stopping.signal,
      onFailure: (path, error) => log.warn(`The media server failed at ${path}: ${failureReason(error)}.`),
    });
    this.servers.push(media);
    this.media = await listen(media, placeOf(settings, 'streaming_server'), 'media server');
    const metricsPort = settings.get('prometheus_port');
    if (metricsPort !== 0) {
      const server = metricsServer(metrics);
      this.servers.push(server);
      await listen(server, [METRICS_HOST, metricsPort], 'metrics server');
    }
    await this.reflector?.start();
    this.outages.start();
    this.started = this.components.start(stopping.signal, (name, error) => {
      // Components still starting at a stop end by themselves.
      if (stopping.signal.aborted) return;
      const { stack } = error as Error;
      const reason = error instanceof EnvironmentError ? error.message : (stack ?? failureReason(error));
      log.error(`The component ${name} did not start: ${reason}`);
      this.options.onComponentFailure?.(name, error);
    });
  }

  private backgroundPart(): Component {
    const { settings, options, content, network, exchange } = this;
    return backgroundPart({
      settings,
      log: options.log,
      clock: options.clock ?? systemClock,
      content,
      dht: () => network.runningDht,
      fetcher: () => exchange.fetcher,
    });
  }

  private watchOutages(log: Logger, clock: Clock): Outages {
    const connection = 'Check the connection to the internet';
    return new Outages(
      [
        {
          what: 'a hub',
          advice: () =>
            `${connection}, and the setting 'lbryum_servers'; your own node is a hub when it runs with -hub.`,
          isReached: () => this.wallet?.services?.ledger.hub.isConnected ?? null,
        },
        {
          what: 'the DHT',
          advice: () =>
            `${connection}, that a firewall lets UDP from port ${this.settings.get('udp_port')} out and in, and the setting 'known_dht_nodes'.`,
          isReached: () => this.network.dhtContact,
        },
        {
          what: 'a reflector',
          advice: () =>
            `${connection}, and the setting 'reflector_servers'; 'reflect_streams' switches uploads off.`,
          isReached: () => (this.settings.get('reflect_streams') ? this.exchange.reflectorContact : null),
        },
      ],
      { clock, log },
    );
  }

  stop(): Promise<void> {
    this.stopped ??= this.close();
    return this.stopped;
  }

  private async close(): Promise<void> {
    const { log } = this.options;
    this.stopping.abort();
    this.outages.stop();
    for (const server of this.servers.toReversed()) await server.close();
    // Parts that are still starting may wait for what never comes, such as a hub: stopping is what ends that.
    await this.components.stop((name, error) =>
      log.error(`The component ${name} did not stop as it should: ${(error as Error).message}`),
    );
    await this.started;
    await this.reflector?.stop();
    this.transfers.close();
    this.unlock?.();
    log.info('Stopped.');
  }

  /** The path of ffmpeg; null if it is not there. `isFresh` looks again. */
  private findFfmpeg(isFresh: boolean): Promise<string | null> {
    if (isFresh) this.ffmpeg = null;
    this.ffmpeg ??= findFfmpeg({
      ffmpegPath: this.settings.get('ffmpeg_path'),
      dataDir: this.settings.get('data_dir'),
      path: process.env['PATH'] ?? '',
    });
    return this.ffmpeg;
  }

  private async ffmpegAnswer(isFresh: boolean): Promise<JsonOut> {
    const which = await this.findFfmpeg(isFresh);
    return {
      available: which !== null,
      which,
      analyze_audio_volume: (this.settings.value('volume_analysis_time') as number) > 0,
    };
  }

  private readonly control: DaemonControl = {
    status: async () =>
      statusOf({
        installationId: this.installation,
        components: this.components,
        skipped: this.skipped,
        wallet: this.wallet,
        ffmpeg: await this.ffmpegAnswer(false),
        node: this.options.nodeStatus?.() ?? null,
        reflector: this.reflector?.status() ?? null,
        transfers: this.transfers.all(),
        warnings: [...this.outages.warnings, ...(this.reflector?.warnings ?? [])],
      }),
    version: () => this.versionShown,
    mediaAddress: () => this.media,
    ffmpegStatus: () => this.ffmpegAnswer(true),
    stop: () => {
      // After the answer, which is sent within the loop's next turns.
      setImmediate(() => this.options.onStop());
    },
  };
}
