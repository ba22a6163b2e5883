/**
 * Addresses at which peers may reach this node: set by the operator, or taken from listening sockets and network interfaces.
 * Counts the peers that reported each address. Selects the address to announce to a peer. Source: Core net.cpp `AddLocal`,
 * `RemoveLocal`, `SeenLocal`, `IsLocal`, `GetLocal`, `Discover`, `IsPeerAddrLocalGood`, `AdvertiseLocal`.
 */
import { networkInterfaces } from 'node:os';
import type { Logger } from '../util/logging.js';
import { toLatin1 } from '../util/bytes.js';
import {
  formatNetAddress,
  isRoutable,
  parseHost,
  reachabilityScore,
  type HostAddress,
  type NetAddress,
} from './netAddress.js';
import type { Networks } from './networks.js';
import type { RandomSource } from './messageHandler.js';

/** Score by the source of a local address; higher is more reliable. */
export const LOCAL_SCORE = { none: 0, interface: 1, bind: 2, upnp: 3, manual: 4 } as const;

export interface LocalAddressOptions {
  /** Whether the node accepts inbound connections (`-listen`). Otherwise no address is announced. */
  readonly listens: boolean;
  /** Whether addresses that the operator did not set are used (`-discover`). */
  readonly discovers: boolean;
  /** Port on which this node accepts connections. */
  readonly port: number;
  /**
   * Whether the loopback address is announced (`-addrmantest`), so that test nodes on one machine can relay each other's
   * addresses.
   */
  readonly tellsLoopback: boolean;
}

/** Local address announced with `-addrmantest`. */
const LOOPBACK = '127.0.0.1';

export interface LocalAddressDeps {
  readonly networks: Networks;
  readonly random: RandomSource;
  readonly log: Logger;
}

export interface LocalAddressInfo {
  readonly address: NetAddress;
  readonly score: number;
}

export class LocalAddresses {
  private readonly options: LocalAddressOptions;
  private readonly deps: LocalAddressDeps;
  /** Local addresses by IP. For each IP there is only one port. */
  private readonly byIp = new Map<string, { address: NetAddress; score: number }>();

  constructor(options: LocalAddressOptions, deps: LocalAddressDeps) {
    this.options = options;
    this.deps = deps;
  }

  /** Adds a local address. Returns false if the address is not routable or is excluded by the options. */
  add(address: NetAddress, score: number): boolean {
    if (!isRoutable(address) || this.deps.networks.isLimited(address)) return false;
    if (!this.options.discovers && score < LOCAL_SCORE.manual) return false;
    this.deps.log.info(`AddLocal(${formatNetAddress(address)},${score})`);
    const key = toLatin1(address.ip);
    const known = this.byIp.get(key);
    if (known === undefined) this.byIp.set(key, { address, score });
    else if (score >= known.score) this.byIp.set(key, { address, score: score + 1 });
    return true;
  }

  remove(address: NetAddress): void {
    this.deps.log.info(`RemoveLocal(${formatNetAddress(address)})`);
    this.byIp.delete(toLatin1(address.ip));
  }

  /** Increases the score of a local address that a connected peer reported as the address of this node. */
  seen(address: HostAddress): void {
    const known = this.byIp.get(toLatin1(address.ip));
    if (known !== undefined && isRoutable(address)) known.score++;
  }

  /** Whether the address is one of this node's addresses; the port is ignored. */
  isLocal(address: HostAddress): boolean {
    return this.byIp.has(toLatin1(address.ip));
  }

  /** Local addresses, sorted by their bytes. */
  list(): LocalAddressInfo[] {
    return [...this.byIp.values()].sort((a, b) => Buffer.compare(a.address.ip, b.address.ip));
  }

  /**
   * Returns the local address at which the peer (null: any peer) can best reach this node, or null if no address is known.
   * Source: `GetLocal`.
   */
  best(peer: HostAddress | null): NetAddress | null {
    if (!this.options.listens) return null;
    let [best, bestReach, bestScore]: [NetAddress | null, number, number] = [null, -1, -1];
    for (const { address, score } of this.list()) {
      const reach = reachabilityScore(address, peer);
      if (reach > bestReach || (reach === bestReach && score > bestScore)) {
        [best, bestReach, bestScore] = [address, reach, score];
      }
    }
    return best;
  }

  /**
   * Selects the address to announce to a peer: a local address, or sometimes the address at which the peer sees this node
   * (`seenUsAt`), which may be more accurate. Returns null if no address can be announced. Source: `AdvertiseLocal`.
   */
  toAdvertise(peer: HostAddress, seenUsAt: HostAddress | null): NetAddress | null {
    const { listens, tellsLoopback, port } = this.options;
    if (!listens) return null;
    const own = tellsLoopback ? { ip: parseHost(LOOPBACK)!, port } : this.best(peer);
    if (seenUsAt === null || !this.isViewGood(peer, seenUsAt)) return own;
    if (own === null || !isRoutable(own)) return { ip: seenUsAt.ip, port };
    const odds = this.scoreOf(own) > LOCAL_SCORE.manual ? 8 : 2;
    return this.deps.random.int(odds) === 0 ? { ip: seenUsAt.ip, port: own.port } : own;
  }

  private scoreOf(address: HostAddress): number {
    return this.byIp.get(toLatin1(address.ip))?.score ?? 0;
  }

  /** Whether the address at which a peer sees this node is plausible. Source: `IsPeerAddrLocalGood`. */
  private isViewGood(peer: HostAddress, seenUsAt: HostAddress): boolean {
    const isUsable = isRoutable(peer) && isRoutable(seenUsAt);
    return this.options.discovers && isUsable && !this.deps.networks.isLimited(seenUsAt);
  }

  /** Adds the addresses of the network interfaces of this machine. Source: `Discover`. */
  discover(interfaces = networkInterfaces()): void {
    if (!this.options.discovers) return;
    for (const [name, infos] of Object.entries(interfaces)) {
      for (const { address, family, internal } of infos ?? []) {
        const ip = internal ? null : parseHost(address);
        if (ip !== null && this.add({ ip, port: this.options.port }, LOCAL_SCORE.interface)) {
          this.deps.log.info(`Discover: ${family} ${name}: ${address}`);
        }
      }
    }
  }
}
