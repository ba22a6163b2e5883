/** Resolves host names of settings. Results are cached for five minutes, failures for thirty seconds. */
import { lookup, Resolver } from 'node:dns/promises';
import { isIPv4 } from 'node:net';
import type { Clock } from '../../base/clock.js';

const KEPT_MS = 300_000;
const FAILURE_KEPT_MS = 30_000;
const TIMEOUT_MS = 3000;

interface Known {
  readonly address: Promise<string>;
  untilMs: number;
}

export class HostLookups {
  readonly #clock: Clock;
  readonly #resolver = new Resolver({ timeout: TIMEOUT_MS, tries: 1 });
  readonly #known = new Map<string, Known>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves a host name to an IPv4 address. Rejects if the host has none. */
  addressOf(host: string): Promise<string> {
    if (isIPv4(host)) return Promise.resolve(host);
    const known = this.#known.get(host);
    if (known !== undefined && known.untilMs > this.#clock.nowMs()) return known.address;
    const fresh: Known = { address: this.#ask(host), untilMs: Infinity };
    this.#known.set(host, fresh);
    fresh.address.then(
      () => {
        fresh.untilMs = this.#clock.nowMs() + KEPT_MS;
      },
      () => {
        fresh.untilMs = this.#clock.nowMs() + FAILURE_KEPT_MS;
      },
    );
    return fresh.address;
  }

  /**
   * A name without a dot is first looked up by the operating system, which uses a thread of the pool. Other names are
   * resolved without a thread.
   */
  async #ask(host: string): Promise<string> {
    if (!host.includes('.')) return (await lookup(host, { family: 4 })).address;
    try {
      const [address] = await this.#resolver.resolve4(host);
      if (address !== undefined) return address;
    } catch {
      // A failure of the DNS query is ignored, because the hosts file of the system may still contain the name.
    }
    return (await lookup(host, { family: 4 })).address;
  }
}
