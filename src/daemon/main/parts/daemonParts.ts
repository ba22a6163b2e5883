/**
 * Creates the components and services of a daemon and connects them. If a service may not be running, the code that uses it
 * looks it up before each use.
 */
import type { Logger } from '../../../util/logging.js';
import { COMPONENT_NAMES, type ComponentName } from '../../api/declaration.js';
import type { Clock, DaemonRandom } from '../../base/clock.js';
import { Transfers } from '../../base/transfers.js';
import { RateFeed } from '../../txBuilding/rateFeed.js';
import { Components, type Component } from '../components.js';
import type { DaemonSettings } from '../settings/daemonSettings.js';
import type { WalletPart, WalletPartDeps } from '../walletPart.js';
import { backgroundPart } from './backgroundPart.js';
import { ContentParts } from './contentParts.js';
import { ExchangeParts } from './exchangeParts.js';
import { FilesPart, type FilesPartDeps } from './filesPart.js';
import { NetworkParts } from './networkParts.js';
import { ratesPart } from './ratesPart.js';
import { ReflectorRole } from './reflectorRole.js';

export interface DaemonPartsDeps {
  readonly settings: DaemonSettings;
  readonly log: Logger;
  readonly clock: Clock;
  readonly random: DaemonRandom;
  /** Creates the component `wallet`. Not called if the settings skip that component. */
  readonly makeWalletPart: (deps: WalletPartDeps) => WalletPart;
  /** Whether the daemon is also a reflector. */
  readonly isReflector: boolean;
  /** Searches ffmpeg. Resolves to its path; null if it is missing. */
  readonly findFfmpeg: () => Promise<string | null>;
}

/** Returns the components without the skipped ones. A component that needs a skipped component is skipped too. */
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
        `The component ${name} is skipped because it needs ${dependsOn.find((needed) => !names.has(needed))}.`,
      );
    left = left.filter((component) => !lost.includes(component));
  }
}

export class DaemonParts {
  readonly transfers: Transfers;
  readonly exchange: ExchangeParts;
  readonly reflector: ReflectorRole | null;
  readonly content: ContentParts;
  readonly network: NetworkParts;
  readonly files: FilesPart;
  /** The component `wallet`; null if the operator skips it. */
  readonly wallet: WalletPart | null;
  readonly components: Components;
  readonly skipped: readonly ComponentName[];
  readonly #deps: DaemonPartsDeps;

  constructor(deps: DaemonPartsDeps) {
    this.#deps = deps;
    const { settings, log, clock, random } = deps;
    const toSkip = settings.get('components_to_skip');
    for (const name of toSkip)
      if (!COMPONENT_NAMES.some((known) => known === name))
        log.warn(`The setting 'components_to_skip' contains '${name}', which is not a component.`);
    this.transfers = new Transfers(clock);
    this.exchange = this.#makeExchange();
    this.reflector = deps.isReflector ? this.#makeReflector() : null;
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
    this.files = this.#makeFiles();
    const rateFeed = new RateFeed({
      clock,
      log,
      source: () => settings.get('exchange_rate_source'),
      url: () => settings.get('exchange_rate_url'),
    });
    this.wallet = toSkip.includes('wallet') ? null : this.#makeWallet(rateFeed);
    const parts = withoutSkipped(
      [
        ...(this.wallet === null ? [] : [this.wallet]),
        ...this.content.components,
        this.exchange.serverPart,
        ...this.network.components,
        this.files,
        this.#makeBackground(),
        ratesPart(rateFeed, settings),
      ],
      toSkip,
      log,
    );
    this.components = new Components(parts);
    this.skipped = COMPONENT_NAMES.filter((name) => !parts.some((part) => part.name === name));
  }

  #makeExchange(): ExchangeParts {
    const { settings, log, clock, random } = this.#deps;
    return new ExchangeParts({
      transfers: this.transfers,
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
  }

  #makeReflector(): ReflectorRole {
    const { settings, log, clock } = this.#deps;
    const { bandwidth, rates } = this.exchange;
    const resolver = () => this.wallet?.services?.resolver ?? null;
    return new ReflectorRole({
      settings,
      log,
      clock,
      bandwidth,
      rates,
      resolver,
      environment: process.env,
    });
  }

  #makeFiles(): FilesPart {
    const { settings, log, clock, random, findFfmpeg } = this.#deps;
    const claimFinder: FilesPartDeps['claimFinder'] = () => {
      const services = this.components.isRunning('wallet') ? this.wallet?.services : null;
      if (!services) return null;
      const { resolver, ledger, wallets } = services;
      return {
        resolver,
        params: ledger.params,
        accountIds: wallets.all.flatMap(({ accountIds }) => accountIds),
      };
    };
    return new FilesPart({
      transfers: this.transfers,
      settings,
      log,
      clock,
      random,
      content: this.content,
      fetcher: () => this.exchange.fetcher,
      reflector: () => this.exchange.reflector,
      ledgerParams: () => this.wallet!.services!.ledger.params,
      findFfmpeg,
      claimFinder,
    });
  }

  #makeWallet(rateFeed: RateFeed): WalletPart {
    const { settings, log, clock, random, makeWalletPart } = this.#deps;
    const files = {
      publishing: () => {
        this.components.check(['file_manager']);
        return this.files.publishing;
      },
      hasFiles: () => this.components.isRunning('file_manager'),
    };
    return makeWalletPart({ settings, log, clock, random, files, rateFeed });
  }

  #makeBackground(): Component {
    const { settings, log, clock } = this.#deps;
    return backgroundPart({
      settings,
      log,
      clock,
      content: this.content,
      dht: () => this.network.runningDht,
      fetcher: () => this.exchange.fetcher,
    });
  }
}
