/**
 * External address and ports of this daemon for peers. The address is reported by the gateway, otherwise by a hub. The ports
 * are those that the gateway forwards. Source: lbry-sdk lbry/utils.py `get_external_ip`, lbry/extras/daemon/components.py
 * `UPnPComponent`, `DHTComponent`.
 */
import { isIPv4 } from 'node:net';
import type { HostPortSetting, Settings } from '../../api/settings.js';
import { sleep, type Clock } from '../../base/clock.js';
import { isPublicAddress } from '../../dht/addresses.js';
import type { PortMapper } from '../../dht/reach/portMapper.js';
import type { Pong } from '../../ledger/hub/hubPing.js';

/**
 * Milliseconds between requests to hubs for the external address: `UNKNOWN_MS` while the address is unknown, `KNOWN_MS`
 * afterwards.
 */
const [UNKNOWN_MS, KNOWN_MS] = [120_000, 1_800_000];
/** Time in ms to wait for the response of one hub. Source: `get_external_ip`. */
const HUB_MS = 1000;

export interface ExternalPlaceDeps {
  readonly settings: Pick<Settings, 'get'>;
  readonly clock: Clock;
  readonly pingHubs: (
    servers: readonly { readonly host: string; readonly port: number }[],
    timeoutMs: number,
  ) => Promise<readonly Pong[]>;
  /** Returns the TCP port on which blobs are served to peers; null while no server runs. */
  readonly servedTcpPort: () => number | null;
}

/** Whether the daemon listens only on the loopback network, so that all peers are on this machine. */
export const isOnLoopback = (settings: Pick<Settings, 'get'>): boolean =>
  settings.get('network_interface').startsWith('127.');

export class ExternalPlace {
  readonly #deps: ExternalPlaceDeps;
  readonly #stopping = new AbortController();
  #seenByHub: string | null = null;
  #hasStarted = false;
  /** Port mapper; null if no port is mapped by a gateway. */
  mapper: PortMapper | null = null;
  /** UDP port on which the DHT node listens; null before it listens. */
  boundUdpPort: number | null = null;

  constructor(deps: ExternalPlaceDeps) {
    this.#deps = deps;
  }

  /** Requests the external address from hubs until `stop` is called. A second call has no effect. */
  start(): void {
    if (this.#hasStarted) return;
    this.#hasStarted = true;
    if (this.#ownInterface() === null) void this.#askHubs();
  }

  stop(): void {
    this.#stopping.abort();
  }

  /** External IPv4 address; null while it is unknown. */
  get address(): string | null {
    return this.#ownInterface() ?? this.mapper?.externalAddress ?? this.#seenByHub;
  }

  get udpPort(): number {
    return this.mapper?.redirects.UDP ?? this.boundUdpPort ?? this.#deps.settings.get('udp_port');
  }

  get tcpPort(): number {
    return this.mapper?.redirects.TCP ?? this.#deps.servedTcpPort() ?? this.#deps.settings.get('tcp_port');
  }

  /** Address in the setting `network_interface` if peers can reach it, else null. */
  #ownInterface(): string | null {
    const address = this.#deps.settings.get('network_interface');
    const isUsable = isIPv4(address) && isPublicAddress(address, isOnLoopback(this.#deps.settings));
    return isUsable ? address : null;
  }

  async #askHubs(): Promise<void> {
    const { settings, clock, pingHubs } = this.#deps;
    const { signal } = this.#stopping;
    do {
      const servers = settings.get('lbryum_servers').map(([host, port]: HostPortSetting) => ({ host, port }));
      const pongs = await pingHubs(servers, HUB_MS);
      const reported = pongs.map(({ ownAddress }) => ownAddress).find((address) => isPublicAddress(address));
      this.#seenByHub = reported ?? this.#seenByHub;
    } while (await sleep(clock, this.#seenByHub === null ? UNKNOWN_MS : KNOWN_MS, signal));
  }
}
