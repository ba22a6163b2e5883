/**
 * Which networks we connect to, and through which proxies. Changes only when Tor is found at run time.
 * Source: Core net.cpp `SetLimited`, `IsReachable`, netbase.cpp `SetProxy`, `SetNameProxy`, rpc/net.cpp `GetNetworksInfo`.
 */
import { networkOf, type HostAddress, type NetworkKind } from './netAddress.js';

/** A SOCKS5 proxy. */
export interface Proxy {
  /** A numeric address or a name. */
  readonly host: string;
  readonly port: number;
  /** Whether each connection gets credentials of its own, so that Tor keeps them apart (`-proxyrandomize`). */
  readonly randomizesCredentials: boolean;
}

export type NetworkName = Exclude<NetworkKind, 'unroutable' | 'internal'>;

export interface NetworkRoute {
  /** Whether we make no connections there by ourselves (`-onlynet`); the operator's wishes are another matter. */
  readonly isLimited: boolean;
  /** Null: directly. */
  readonly proxy: Proxy | null;
}

export class Networks {
  private readonly routes: Record<NetworkName, NetworkRoute>;
  /** Host names go to this proxy, if any, and are not looked up by us (`-proxy`). */
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

  /** Addresses that belong to no public network are not limited. */
  isLimited(address: HostAddress): boolean {
    const name = networkOf(address);
    return name !== 'unroutable' && name !== 'internal' && this.routes[name].isLimited;
  }

  proxyFor(address: HostAddress): Proxy | null {
    const name = networkOf(address);
    return name === 'unroutable' || name === 'internal' ? null : this.routes[name].proxy;
  }
}
