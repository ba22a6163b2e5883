/**
 * Makes a gateway forward ports to this machine, checks the mappings every six minutes, and reads the external address.
 * Source: lbry-sdk lbry/extras/daemon/components.py `UPnPComponent`.
 */
import { atMost, sleep, type Clock } from '../../base/clock.js';
import type { Logger } from '../../../util/logging.js';
import { isPublicAddress } from '../addresses.js';

const EVERY_MS = 360_000;
/** Maximum number of external ports that are tried, if the gateway forwards the wanted port to another machine. */
const TRIES = 10;
/** Milliseconds for which `stop` waits for a running round of port mapping. */
const STOP_MS = 3000;
const MAX_PORT = 65_535;

export type MappedProtocol = 'TCP' | 'UDP';

export interface Gateway {
  readonly name: string;
  /** Returns the external address of the network; null if the gateway does not report it. */
  externalAddress(): Promise<string | null>;
  /**
   * Creates or renews a port mapping. Resolves to false if the gateway refuses, for example because the port is mapped to
   * another machine.
   */
  map(externalPort: number, port: number, protocol: MappedProtocol, name: string): Promise<boolean>;
  unmap(externalPort: number, port: number, protocol: MappedProtocol): Promise<void>;
  close(): Promise<void>;
}

export interface PortMapperDeps {
  readonly clock: Clock;
  readonly log: Logger;
  /** Finds the gateway. Resolves to null if the network has no gateway that maps ports. */
  readonly findGateway: () => Promise<Gateway | null>;
  /** Ports to map: the ports of all components that the settings do not skip. */
  readonly ports: readonly {
    readonly protocol: MappedProtocol;
    readonly port: number;
    readonly name: string;
  }[];
}

export class PortMapper {
  readonly #deps: PortMapperDeps;
  readonly #stopping = new AbortController();
  readonly #redirects = new Map<MappedProtocol, number>();
  #gateway: Gateway | null = null;
  #address: string | null = null;
  #rounds: Promise<void> = Promise.resolve();

  constructor(deps: PortMapperDeps) {
    this.#deps = deps;
  }

  /** Starts mapping ports. Resolves after the first round; later rounds renew the mappings until `stop` is called. */
  start(): Promise<void> {
    const first = this.#firstRound();
    this.#rounds = first.then(() => this.#repeat());
    return first;
  }

  /** Removes the port mappings from the gateway. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    // The wait is limited, because the running round may wait for a gateway that does not answer.
    await atMost(this.#deps.clock, STOP_MS, this.#rounds);
    for (const { protocol, port } of this.#deps.ports) {
      const external = this.#redirects.get(protocol);
      if (external !== undefined) await this.#gateway?.unmap(external, port, protocol);
    }
    this.#redirects.clear();
    await this.#gateway?.close();
    this.#gateway = null;
  }

  /** Name of the gateway; null if no gateway was found. */
  get gatewayName(): string | null {
    return this.#gateway?.name ?? null;
  }

  /** The external address that the gateway reports, if it is a public address; otherwise null. */
  get externalAddress(): string | null {
    return this.#address;
  }

  /** External ports. */
  get redirects(): Readonly<Partial<Record<MappedProtocol, number>>> {
    return Object.fromEntries(this.#redirects);
  }

  async #firstRound(): Promise<void> {
    await this.#round();
    const { log, ports } = this.#deps;
    if (this.#stopping.signal.aborted) return;
    if (this.#gateway === null || (ports.length > 0 && this.#redirects.size === 0))
      log.warn('failed to setup upnp: forward the ports by hand, otherwise peers cannot connect');
  }

  async #repeat(): Promise<void> {
    const { clock } = this.#deps;
    while (await sleep(clock, EVERY_MS, this.#stopping.signal)) await this.#round();
  }

  async #round(): Promise<void> {
    const { log, findGateway, ports } = this.#deps;
    try {
      this.#gateway ??= await findGateway();
      const gateway = this.#gateway;
      if (gateway === null) return;
      const address = await gateway.externalAddress();
      this.#address = address !== null && isPublicAddress(address) ? address : null;
      for (const { protocol, port, name } of ports) {
        if (this.#stopping.signal.aborted) return;
        const external = await this.#map(gateway, protocol, port, name);
        const before = this.#redirects.get(protocol);
        if (external === null) this.#redirects.delete(protocol);
        else this.#redirects.set(protocol, external);
        if (external !== null && external !== before)
          log.info(`The gateway forwards its ${protocol} port ${external} to port ${port}.`);
      }
    } catch (error) {
      log.warn(`failed to setup upnp: ${(error as Error).message}`);
    }
  }

  /**
   * Maps a port and returns the external port. Tries the external port of the last round, then the same number, then the
   * following numbers. Null if the gateway refuses all.
   */
  async #map(gateway: Gateway, protocol: MappedProtocol, port: number, name: string): Promise<number | null> {
    const last = this.#redirects.get(protocol);
    const next = Array.from({ length: TRIES }, (_, index) => port + index).filter(
      (other) => other <= MAX_PORT,
    );
    for (const external of new Set([...(last === undefined ? [] : [last]), ...next]))
      if (await gateway.map(external, port, protocol, name)) return external;
    return null;
  }
}
