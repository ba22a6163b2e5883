/** Access of API methods to the daemon's parts. */
import type { DaemonControl, DaemonServices } from '../../api/context.js';
import type { Clock, DaemonRandom } from '../../base/clock.js';
import type { DaemonSettings } from '../settings/daemonSettings.js';
import type { WalletServices } from '../walletPart.js';
import type { DaemonParts } from './daemonParts.js';

export interface PartServicesDeps {
  readonly control: DaemonControl;
  readonly settings: DaemonSettings;
  readonly clock: Clock;
  readonly random: DaemonRandom;
}

/**
 * Gives API methods access to the daemon's parts. If a component does not run, the getter of its service throws the same
 * error as a method that `needs` the component.
 */
export class PartServices implements DaemonServices {
  readonly control: DaemonControl;
  readonly settings: DaemonSettings;
  readonly clock: Clock;
  readonly random: DaemonRandom;
  readonly #parts: DaemonParts;

  constructor(parts: DaemonParts, { control, settings, clock, random }: PartServicesDeps) {
    this.#parts = parts;
    this.control = control;
    this.settings = settings;
    this.clock = clock;
    this.random = random;
  }

  #ofWallet<Name extends keyof WalletServices>(name: Name): WalletServices[Name] {
    const { wallet, components } = this.#parts;
    if (wallet?.services) return wallet.services[name];
    components.check(['wallet']);
    throw new Error('the component wallet runs without its services');
  }

  get content(): DaemonServices['content'] {
    return this.#parts.content.content;
  }
  get blobs(): DaemonServices['blobs'] {
    return this.#parts.content.blobs;
  }
  get diskSpace(): DaemonServices['diskSpace'] {
    return this.#parts.content.diskSpace;
  }
  get fetcher(): DaemonServices['fetcher'] {
    return this.#parts.exchange.fetcher;
  }
  get reflecting(): DaemonServices['reflecting'] {
    return this.#parts.exchange.reflecting;
  }
  get dht(): DaemonServices['dht'] {
    return this.#parts.network.dht;
  }
  get peerFinder(): DaemonServices['peerFinder'] {
    return this.#parts.network.peerFinder;
  }
  get files(): DaemonServices['files'] {
    return this.#parts.files.manager;
  }
  get runningFiles(): DaemonServices['runningFiles'] {
    return this.#parts.files.running;
  }
  get library(): DaemonServices['library'] {
    return this.#parts.files.library;
  }
  get downloads(): DaemonServices['downloads'] {
    const { wallet, files } = this.#parts;
    if (wallet?.services) return files.downloadsOf(wallet.services);
    return this.#ofWallet('txBuilder') as never;
  }
  get ledger(): DaemonServices['ledger'] {
    return this.#ofWallet('ledger');
  }
  get wallets(): DaemonServices['wallets'] {
    return this.#ofWallet('wallets');
  }
  get runningWallets(): DaemonServices['runningWallets'] {
    return this.#parts.wallet?.services?.wallets ?? null;
  }
  get resolver(): DaemonServices['resolver'] {
    return this.#ofWallet('resolver');
  }
  get txBuilder(): DaemonServices['txBuilder'] {
    return this.#ofWallet('txBuilder');
  }
  get exchange(): DaemonServices['exchange'] {
    return this.#ofWallet('exchange');
  }
}
