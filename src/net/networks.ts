/**
 * Networks that we connect to, and their proxies. It changes only if Tor is found at run time.
 * Source: Core net.cpp `SetLimited`, `IsReachable`, netbase.cpp `SetProxy`, `SetNameProxy`, rpc/net.cpp `GetNetworksInfo`.
 */
import { networkOf, type HostAddress, type NetworkKind } from './netAddress.js';

/** A SOCKS5 proxy. */
export interface Proxy {
  /** A numeric address or a name. */
  readonly host: string;
  readonly port: number;
  /** Whether each connection gets its own credentials, so that Tor isolates it (`-proxyrandomize`). */
  readonly randomizesCredentials: boolean;
}

export type NetworkName = Exclude<NetworkKind, 'unroutable' | 'internal'>;

export interface NetworkRoute {
  /** Whether automatic connections to the network are disabled (`-onlynet`). Manual connections are not affected. */
  readonly isLimited: boolean;
  /** Null: directly. */
  readonly proxy: Proxy | null;
}

export class Networks {
  private readonly routes: Record<NetworkName, NetworkRoute>;
  /** Proxy that resolves host names; without one we resolve them (`-proxy`). */
  readonly nameProxy: Proxy | null;

  constructor(routes: Readonly<Record<NetworkName, NetworkRoute>>, nameProxy: Proxy | null) {
    this.routes = { ...routes };
    this.nameProxy = nameProxy;
  }

  route(name: NetworkName): NetworkRoute {
    return this.routes[name];
  }

  setRoute(name: NetworkName, route: NetworkRoute): void {
    this.routes[name] = route;
  }

  /** Always false for addresses outside of public networks. */
  isLimited(address: HostAddress): boolean {
    const name = networkOf(address);
    return name !== 'unroutable' && name !== 'internal' && this.routes[name].isLimited;
  }

  proxyFor(address: HostAddress): Proxy | null {
    const name = networkOf(address);
    return name === 'unroutable' || name === 'internal' ? null : this.routes[name].proxy;
  }
}
