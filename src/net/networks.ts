/**
 * Networks (IPv4, IPv6, onion) to which this node connects, and their proxies. The settings change after the start only if
 * Tor is found. Source: Core net.cpp `SetLimited`, `IsReachable`, netbase.cpp `SetProxy`, `SetNameProxy`, rpc/net.cpp
 * `GetNetworksInfo`.
 */
import { networkOf, type HostAddress, type NetworkKind } from './netAddress.js';

/** Settings of a SOCKS5 proxy. */
export interface Proxy {
  /** Numeric address or host name of the proxy. */
  readonly host: string;
  readonly port: number;
  /** Whether each connection sends different credentials to the proxy, so that Tor uses separate circuits (`-proxyrandomize`). */
  readonly randomizesCredentials: boolean;
}

export type PeerNetworkName = Exclude<NetworkKind, 'unroutable' | 'internal'>;

export interface NetworkRoute {
  /** Whether automatic connections to the network are disabled (`-onlynet`). Manual connections are not affected. */
  readonly isLimited: boolean;
  /** Proxy for connections to the network; null for direct connections. */
  readonly proxy: Proxy | null;
}

export class Networks {
  private readonly routes: Record<PeerNetworkName, NetworkRoute>;
  /** Proxy that resolves host names (`-proxy`); null if this node resolves host names itself. */
  readonly nameProxy: Proxy | null;

  constructor(routes: Readonly<Record<PeerNetworkName, NetworkRoute>>, nameProxy: Proxy | null) {
    this.routes = { ...routes };
    this.nameProxy = nameProxy;
  }

  route(name: PeerNetworkName): NetworkRoute {
    return this.routes[name];
  }

  setRoute(name: PeerNetworkName, route: NetworkRoute): void {
    this.routes[name] = route;
  }

  /**
   * Whether automatic connections to the address are disabled. Always false for an address that belongs to none of the
   * public networks.
   */
  isLimited(address: HostAddress): boolean {
    const name = networkOf(address);
    return name !== 'unroutable' && name !== 'internal' && this.routes[name].isLimited;
  }

  proxyFor(address: HostAddress): Proxy | null {
    const name = networkOf(address);
    return name === 'unroutable' || name === 'internal' ? null : this.routes[name].proxy;
  }
}
