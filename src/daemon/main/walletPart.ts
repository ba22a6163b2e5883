/**
 * The component `wallet`: the ledger on the configured chain, the wallets, and the services that need both. Source: lbry-sdk
 * lbry/wallet/manager.py `from_lbrynet_config`, lbry/extras/daemon/components.py `WalletComponent`.
 */
import { join } from 'node:path';
import { EnvironmentError } from '../../util/text/environmentError.js';
import type { Logger } from '../../util/logging.js';
import type { JsonOut } from '../../util/json/jsonWrite.js';
import type { DaemonServices } from '../api/context.js';
import type { HostPortSetting, Settings, SettingValues } from '../api/settings.js';
import type { Clock, DaemonRandom } from '../base/clock.js';
import { DaemonError } from '../base/daemonError.js';
import { ledgerParams, type LedgerId } from '../base/ledgerParams.js';
import { openHeaders } from '../ledger/headers/ledgerHeaders.js';
import { takeHeaders } from '../ledger/headers/takeHeaders.js';
import { KnownHubs } from '../ledger/hub/knownHubs.js';
import { OpenLedger } from '../ledger/openLedger.js';
import { TxBuilder } from '../txBuilding/txBuilder.js';
import { Resolver } from '../resolve/resolver.js';
import type { RateFeed } from '../txBuilding/rateFeed.js';
import { DaemonWallets } from '../wallet/wallets.js';
import type { Component } from './components.js';
import { warnOfExpiry } from './expiryWarnings.js';
import { txBuildingPortsOf, type TxBuildingFiles } from './txBuildingPorts.js';
import { logProgress } from './progressLog.js';

/** Services of the component that methods can use. */
export type WalletServices = Pick<
  DaemonServices,
  'ledger' | 'wallets' | 'resolver' | 'txBuilder' | 'exchange'
>;

export interface WalletPart extends Component {
  /** Services of the component; null before the wallets are open and after the stop. */
  readonly services: WalletServices | null;
}

/** Dependencies of the component. */
export interface WalletPartDeps {
  readonly settings: Settings;
  readonly log: Logger;
  readonly clock: Clock;
  readonly random: DaemonRandom;
  readonly files: TxBuildingFiles;
  /** Feed of the LBC price. If absent, only the fixed rates of the settings are available. */
  readonly rateFeed?: RateFeed;
  /** Hubs that are used instead of those of the settings. */
  readonly servers?: readonly HostPortSetting[];
  /** Path of a file with block headers that are imported before the sync. */
  readonly initialHeaders?: string;
}

/** Ledger ids by the chain names of lbry-sdk's setting `blockchain_name`. */
const LEDGERS: Readonly<Record<SettingValues['blockchain_name'], LedgerId>> = {
  lbrycrd_main: 'lbc_mainnet',
  lbrycrd_testnet: 'lbc_testnet',
  lbrycrd_regtest: 'lbc_regtest',
};

/**
 * Name of the file in the wallet folder that contains hubs announced by other hubs. Source: lbry-sdk lbry/conf.py
 * `KnownHubsList`.
 */
const KNOWN_HUBS_FILE = 'known_hubs.yml';

/** Default address of `lbcnode -hub` on this machine. */
const OWN_HUB: HostPortSetting = ['127.0.0.1', 50_001];

/**
 * Hubs to use. By default a hub on this machine is tried before the public hubs. If the settings name hubs, only those are
 * used.
 */
function hubsOf(settings: Settings): readonly HostPortSetting[] {
  const hubs = settings.get('lbryum_servers');
  return settings.isDefault('lbryum_servers') ? [OWN_HUB, ...hubs] : hubs;
}

export class WalletAndLedger implements WalletPart {
  readonly name = 'wallet';
  readonly dependsOn = [];
  services: WalletServices | null = null;
  readonly #deps: WalletPartDeps;
  readonly #ledgerId: LedgerId;
  #ledger: OpenLedger | null = null;
  #isStopped = false;

  constructor(deps: WalletPartDeps) {
    this.#deps = deps;
    this.#ledgerId = LEDGERS[deps.settings.get('blockchain_name')];
  }

  /** Folder of the block headers and the ledger's database of the chain. */
  get #folder(): string {
    return join(this.#deps.settings.get('wallet_dir'), this.#ledgerId);
  }

  /**
   * Starts the component. Resolves when all accounts agree with a hub, so that no call uses an outdated wallet. If the only
   * hub is behind the best chain known, resolves at once: the stored histories are newer than those of the hub.
   */
  async start(): Promise<void> {
    const { settings, log, clock, random, files, rateFeed, servers } = this.#deps;
    if ((servers ?? hubsOf(settings)).length === 0)
      log.warn("No hub is configured. Call settings_set to set 'lbryum_servers' to HOST:PORT.");
    await this.#takeHeaders();
    if (this.#isStopped) return;
    const ledger = new OpenLedger({
      ledgerId: this.#ledgerId,
      folder: this.#folder,
      servers: () => (servers ?? hubsOf(settings)).map(([host, port]) => ({ host, port })),
      log,
      country: () => settings.get('jurisdiction') || null,
      further: {
        known: new KnownHubs(join(settings.get('wallet_dir'), KNOWN_HUBS_FILE), log),
        areAsked: () => servers === undefined && settings.isDefault('lbryum_servers'),
      },
      limits: {
        callTimeoutMs: settings.get('hub_timeout') * 1000,
        concurrency: settings.get('concurrent_hub_requests'),
      },
    });
    this.#ledger = ledger;
    for (const name of ['lbryum_servers', 'jurisdiction'] as const)
      settings.onChange(name, () => ledger.hubSettingsChanged());
    logProgress(ledger, log);
    const wallets = await this.#openWallets(ledger);
    if (this.#isStopped) return;
    const resolver = new Resolver({ ledger, log });
    const making = txBuildingPortsOf({
      ledger,
      resolver,
      settings,
      clock,
      random,
      files,
      ...(rateFeed ? { rateFeed } : {}),
      environment: process.env,
    });
    this.services = {
      ledger,
      wallets,
      resolver,
      txBuilder: new TxBuilder(making),
      exchange: making.exchange,
    };
    warnOfExpiry(ledger, () => wallets.all, log);
    await ledger.start();
    if (!this.#isStopped) await wallets.begin();
  }

  async stop(): Promise<void> {
    const { services } = this;
    this.#isStopped = true;
    this.services = null;
    await this.#ledger?.close();
    await services?.wallets.close();
  }

  status(): JsonOut {
    return null;
  }

  async #takeHeaders(): Promise<void> {
    const { initialHeaders, log } = this.#deps;
    if (initialHeaders === undefined) return;
    const chain = openHeaders(this.#folder, ledgerParams(this.#ledgerId));
    try {
      await takeHeaders(initialHeaders, { chain, log, isStopped: () => this.#isStopped });
    } finally {
      chain.close();
    }
  }

  async #openWallets(ledger: OpenLedger): Promise<DaemonWallets> {
    const { settings, log, clock, random } = this.#deps;
    try {
      return await DaemonWallets.open(settings.get('wallets'), {
        folder: join(settings.get('wallet_dir'), 'wallets'),
        ledger,
        tools: { clock, random },
        warn: (text) => log.warn(text),
      });
    } catch (error) {
      // An unusable wallet file ends the start, because only the operator can repair it.
      if (error instanceof DaemonError) throw new EnvironmentError(error.message);
      throw error;
    }
  }
}
