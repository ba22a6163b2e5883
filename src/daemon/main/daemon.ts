/**
 * The composition root: starts folders, lock, servers, and components in order, and stops them in reverse order. Source:
 * lbry-sdk lbry/extras/daemon/daemon.py `Daemon.start`, `Daemon.stop`.
 */
import { realpathSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { inNextRound } from '../../scheduler/rounds.js';
import { EnvironmentError, failureReason } from '../../util/text/environmentError.js';
import type { Logger } from '../../util/logging.js';
import type { JsonOut } from '../../util/json/jsonWrite.js';
import type { DaemonControl } from '../api/context.js';
import type { ComponentName } from '../api/declaration.js';
import { ALIASES, DECLARATIONS } from '../api/declarations/table.js';
import { Dispatcher, type CallObserver } from '../api/dispatch.js';
import { implementationsByName } from '../api/methodTable.js';
import type { HostPortSetting } from '../api/settings.js';
import { fixed } from '../base/answerJson.js';
import { atMost, systemClock, systemRandom, type Clock, type DaemonRandom } from '../base/clock.js';
import { apiServer } from '../http/apiServer.js';
import { EventFeed } from '../http/eventFeed.js';
import { EventSockets } from '../http/eventSockets.js';
import { EventStreams } from '../http/eventStreams.js';
import { mediaServer } from '../http/mediaServer.js';
import type { DaemonSettings } from './settings/daemonSettings.js';
import { findFfmpeg } from './ffmpeg.js';
import { lockFolder } from './folderLock.js';
import { ensureFolder, installationId } from './folders.js';
import { versionAnswer } from './machineInfo.js';
import { DaemonParts } from './parts/daemonParts.js';
import { PartServices } from './parts/partServices.js';
import { Outages } from './outages.js';
import { parseServer } from './settings/settingKinds.js';
import { statusOf } from './status.js';
import type { WalletPart, WalletPartDeps } from './walletPart.js';

/** Maximum time in ms for which a stop waits for running calls before the components stop. Arbitrary: most calls take far less. */
const CALLS_MS = 5000;
/** Host of the metrics server. Source: `prom_site`. */
const METRICS_HOST = '0.0.0.0';

export interface DaemonOptions {
  readonly settings: DaemonSettings;
  readonly log: Logger;
  /** Creates the component `wallet`. Not called if the settings skip that component. */
  readonly makeWalletPart: (deps: WalletPartDeps) => WalletPart;
  /** Whether the daemon is also a reflector. */
  readonly isReflector?: boolean;
  /** Returns the member of `status` about a node that runs together with the daemon. */
  readonly nodeStatus?: () => JsonOut;
  /** Called when a component did not start. The log already has the error, and the other components continue. */
  readonly onComponentFailure?: (name: ComponentName, error: unknown) => void;
  /** Called after the response to the method `stop`. The program must then stop the daemon. */
  readonly onStop: () => void;
  /** Called with the number of characters of each answer of the API. */
  readonly onAnswer?: ((length: number) => void) | undefined;
  readonly clock?: Clock;
  readonly random?: DaemonRandom;
}

export interface RunningDaemon {
  /** Address at which the API listens. */
  readonly api: HostPortSetting;
  readonly media: HostPortSetting;
  /** Resolves after all components have started or failed. The value is whether all run. */
  readonly started: Promise<boolean>;
  stop(): Promise<void>;
}

/** A setting that names a server address always has a value that `parseServer` accepts. */
const placeOf = (settings: DaemonSettings, name: 'api' | 'streaming_server'): HostPortSetting =>
  parseServer(settings.get(name))!;

async function listen(
  app: FastifyInstance,
  [host, port]: HostPortSetting,
  what: string,
): Promise<HostPortSetting> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason =
      code === 'EADDRINUSE'
        ? 'the port is in use, possibly by another daemon. Stop that daemon, or choose another port'
        : code === 'EACCES'
          ? 'the system does not allow it. Choose a port above 1023'
          : code === 'ENOTFOUND' || code === 'EADDRNOTAVAIL'
            ? 'this machine does not have this address. Choose another host'
            : message;
    throw new EnvironmentError(`The ${what} cannot listen at ${host}:${port}: ${reason}.`);
  }
  const address = app.server.address() as AddressInfo;
  return [host, address.port];
}

/**
 * Starts the daemon. Resolves when the servers listen. Throws `EnvironmentError` for a problem that the operator must fix,
 * and leaves nothing running.
 */
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
  readonly #options: DaemonOptions;
  readonly #settings: DaemonSettings;
  readonly #clock: Clock;
  readonly #random: DaemonRandom;
  readonly #stopping = new AbortController();
  readonly #parts: DaemonParts;
  readonly #outages: Outages;
  readonly #servers: FastifyInstance[] = [];
  readonly #locks: (() => void)[] = [];
  #installation = '';
  #ffmpeg: Promise<string | null> | null = null;
  #stopped: Promise<void> | null = null;
  readonly #versionShown = fixed(versionAnswer());
  api: HostPortSetting = ['', 0];
  media: HostPortSetting = ['', 0];
  started: Promise<boolean> = Promise.resolve(false);

  constructor(options: DaemonOptions) {
    const { settings, log, clock = systemClock, random = systemRandom } = options;
    this.#options = options;
    this.#settings = settings;
    this.#clock = clock;
    this.#random = random;
    this.#parts = new DaemonParts({
      settings,
      log,
      clock,
      random,
      makeWalletPart: options.makeWalletPart,
      isReflector: options.isReflector === true,
      findFfmpeg: () => this.#findFfmpeg(false),
    });
    this.#outages = this.#watchOutages(log, clock);
  }

  async open(): Promise<void> {
    await this.#openFolders();
    const metrics = await this.#metrics();
    await this.#openApi(metrics?.calls);
    await this.#openMedia();
    if (metrics !== null) {
      this.#servers.push(metrics.server);
      await listen(metrics.server, [METRICS_HOST, this.#settings.get('prometheus_port')], 'metrics server');
    }
    await this.#parts.reflector?.start();
    this.#outages.start();
    this.#startComponents();
  }

  /** Creates the folders of the daemon and locks them. */
  async #openFolders(): Promise<void> {
    const settings = this.#settings;
    for (const name of ['data_dir', 'wallet_dir', 'download_dir'] as const) {
      const made = ensureFolder(settings.get(name), name);
      if (made !== null) this.#options.log.info(made);
    }
    const dataDir = settings.get('data_dir');
    this.#locks.push(await lockFolder(dataDir));
    // Two daemons would spend the same coins, and overwrite each other's wallet files.
    const walletDir = settings.get('wallet_dir');
    if (realpathSync(walletDir) !== realpathSync(dataDir))
      this.#locks.push(await lockFolder(walletDir, 'wallet-dir'));
    this.#installation = installationId(dataDir);
  }

  async #openApi(observer: CallObserver | undefined): Promise<void> {
    const settings = this.#settings;
    const clock = this.#clock;
    const random = this.#random;
    const parts = this.#parts;
    const stopping = this.#stopping;
    const control = this.#control;
    const { log } = this.#options;
    const dispatcher = new Dispatcher({
      declarations: DECLARATIONS,
      aliases: ALIASES,
      implementations: implementationsByName(),
      gate: parts.components,
      services: new PartServices(parts, { control, settings, clock, random }),
      ...(observer && { observer }),
      onBug: (method, error) =>
        log.error(
          `${method} failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
        ),
    });
    const feed = new EventFeed({ transfers: parts.transfers, clock, stopping: stopping.signal });
    const api = apiServer({
      dispatcher,
      events: new EventStreams(feed),
      eventSockets: new EventSockets(feed, clock),
      allowedOrigin: () => settings.get('allowed_origin'),
      stopping: stopping.signal,
      onAnswer: this.#options.onAnswer,
      onRefusedOrigin: (origin) =>
        log.warn(
          `A request with the origin '${origin}' was refused. The setting 'allowed_origin' determines which ` +
            'web pages can call the API.',
        ),
    });
    this.#servers.push(api);
    this.api = await listen(api, placeOf(settings, 'api'), 'API');
    log.info(`The API listens at ${this.api.join(':')}.`);
  }

  async #openMedia(): Promise<void> {
    const settings = this.#settings;
    const parts = this.#parts;
    const stopping = this.#stopping;
    const { components, files, wallet } = parts;
    const media = mediaServer({
      gate: components,
      mayGet: () => settings.get('streaming_get'),
      source: () =>
        files.mediaOf(() => {
          components.check(['wallet']);
          return wallet!.services!;
        }),
      stopping: stopping.signal,
      onFailure: (path, error) =>
        this.#options.log.warn(`The media server failed at ${path}: ${failureReason(error)}.`),
    });
    this.#servers.push(media);
    this.media = await listen(media, placeOf(settings, 'streaming_server'), 'media server');
  }

  #startComponents(): void {
    const stopping = this.#stopping;
    const options = this.#options;
    this.started = this.#parts.components.start(stopping.signal, (name, error) => {
      // When the daemon stops, components that are starting fail. Such failures are not logged.
      if (stopping.signal.aborted) return;
      const { stack } = error as Error;
      const reason = error instanceof EnvironmentError ? error.message : (stack ?? failureReason(error));
      options.log.error(`The component ${name} did not start: ${reason}`);
      options.onComponentFailure?.(name, error);
    });
  }

  #watchOutages(log: Logger, clock: Clock): Outages {
    const connection = 'Check the connection to the internet';
    return new Outages(
      [
        {
          what: 'a hub',
          advice: () =>
            `${connection}, and the setting 'lbryum_servers'; your own node is a hub if it runs with -hub.`,
          isReached: () => this.#parts.wallet?.services?.ledger.hub.isConnected ?? null,
        },
        {
          what: 'the DHT',
          advice: () =>
            `${connection}, that the firewall allows incoming and outgoing UDP at port ` +
            `${this.#settings.get('udp_port')}, and the setting 'known_dht_nodes'.`,
          isReached: () => this.#parts.network.dhtContact,
        },
        {
          what: 'a reflector',
          advice: () =>
            `${connection}, and the setting 'reflector_servers'; 'reflect_streams' turns uploads off.`,
          isReached: () =>
            this.#settings.get('reflect_streams') ? this.#parts.exchange.reflectorContact : null,
        },
      ],
      { clock, log },
    );
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#close();
    return this.#stopped;
  }

  /** Closes the servers. Waits for the running calls. */
  async #closeServers(): Promise<void> {
    for (const server of this.#servers.toReversed()) await server.close();
  }

  async #close(): Promise<void> {
    const { log } = this.#options;
    this.#stopping.abort();
    this.#outages.stop();
    const closing = this.#closeServers();
    // Longer calls, such as uploads, end when their components stop.
    await atMost(this.#clock, CALLS_MS, closing);
    // The components are stopped before `started` is awaited. A component may wait at its start for an event that never
    // comes, such as a connection to a hub; the stop ends the wait.
    await this.#parts.components.stop((name, error) =>
      log.error(`The component ${name} did not stop cleanly: ${(error as Error).message}`),
    );
    await this.started;
    await closing;
    await this.#parts.reflector?.stop();
    this.#parts.transfers.close();
    for (const unlock of this.#locks.toReversed()) unlock();
    log.info('Stopped.');
  }

  /**
   * Creates the metrics server. Resolves to null if no port is set for metrics. In this case the Prometheus library is not
   * loaded.
   */
  async #metrics(): Promise<{
    readonly calls: CallObserver;
    readonly server: FastifyInstance;
  } | null> {
    if (this.#settings.get('prometheus_port') === 0) return null;
    const { CallMetrics, metricsServer } = await import('../http/metricsServer.js');
    const { addReflectorMetrics } = await import('../http/reflectorMetrics.js');
    const calls = new CallMetrics();
    const { reflector } = this.#parts;
    if (reflector !== null) addReflectorMetrics(calls.registry, () => reflector.status());
    return { calls, server: metricsServer(calls) };
  }

  /**
   * Resolves to the path of ffmpeg; null if it is missing. With `isFresh` the search is repeated instead of using the cached
   * result.
   */
  #findFfmpeg(isFresh: boolean): Promise<string | null> {
    if (isFresh) this.#ffmpeg = null;
    this.#ffmpeg ??= findFfmpeg({
      ffmpegPath: this.#settings.get('ffmpeg_path'),
      dataDir: this.#settings.get('data_dir'),
      path: process.env['PATH'] ?? '',
    });
    return this.#ffmpeg;
  }

  async #ffmpegAnswer(isFresh: boolean): Promise<JsonOut> {
    const which = await this.#findFfmpeg(isFresh);
    return {
      available: which !== null,
      which,
      analyze_audio_volume: (this.#settings.value('volume_analysis_time') as number) > 0,
    };
  }

  readonly #control: DaemonControl = {
    status: async () =>
      statusOf({
        installationId: this.#installation,
        components: this.#parts.components,
        skipped: this.#parts.skipped,
        wallet: this.#parts.wallet,
        ffmpeg: await this.#ffmpegAnswer(false),
        node: this.#options.nodeStatus?.() ?? null,
        reflector: this.#parts.reflector?.status() ?? null,
        transfers: this.#parts.transfers.all(),
        warnings: [...this.#outages.warnings, ...(this.#parts.reflector?.warnings ?? [])],
      }),
    version: () => this.#versionShown,
    mediaAddress: () => this.media,
    ffmpegStatus: () => this.#ffmpegAnswer(true),
    stop: () => {
      // `onStop` runs after the response to `stop`, which is sent in the next turns of the event loop.
      inNextRound(() => this.#options.onStop());
    },
  };
}
