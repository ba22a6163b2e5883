/**
 * Watches services of the network: hubs, the DHT, reflectors. Each outage is logged once, and `status` shows it under
 * `warnings` while it lasts.
 */
import type { Logger } from '../../util/logging.js';
import { OutageWatch } from '../../util/network/outage.js';
import type { Clock, Timer } from '../base/clock.js';

const CHECK_MS = 5000;

export interface OutageProbe {
  /** Name of the service with its article, for messages: `a hub`. */
  readonly what: string;
  readonly advice: () => string;
  /** Whether the service is reachable; null if it is not used or was not tried yet. */
  readonly isReached: () => boolean | null;
}

export interface OutagesDeps {
  readonly clock: Clock;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

export class Outages {
  readonly #deps: OutagesDeps;
  readonly #watched: readonly { readonly probe: OutageProbe; readonly watch: OutageWatch }[];
  #timer: Timer | null = null;

  constructor(probes: readonly OutageProbe[], deps: OutagesDeps) {
    this.#deps = deps;
    const { clock, log } = deps;
    this.#watched = probes.map((probe) => ({
      probe,
      watch: new OutageWatch(probe, { log, nowMs: () => clock.nowMs() }),
    }));
  }

  start(): void {
    for (const { probe, watch } of this.#watched) watch.check(probe.isReached());
    this.#timer = this.#deps.clock.after(CHECK_MS, () => this.start());
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }

  /** Returns one line for each service that is not reachable at the moment. */
  get warnings(): readonly string[] {
    return this.#watched.map(({ watch }) => watch.warning).filter((text) => text !== '');
  }
}
