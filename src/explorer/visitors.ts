/** Identifies visitors: their addresses, also behind a proxy, and whether they may use a host name or open a socket. */
import type { IncomingMessage } from 'node:http';
import { HostNames } from '../server/hostNames.js';
import { parseIp, Subnet } from '../util/network/subnet.js';
import type { ExplorerStart } from './messages.js';

/** Whether the address belongs to this machine. */
const isLoopback = (address: string): boolean =>
  address === '::1' || address.startsWith('127.') || address.startsWith('::ffff:127.');

export class Visitors {
  private readonly hosts: HostNames;
  private readonly proxies: readonly Subnet[];

  constructor({ host, hostNames, proxies }: Pick<ExplorerStart, 'host' | 'hostNames' | 'proxies'>) {
    this.hosts = new HostNames([host, ...hostNames]);
    this.proxies = proxies.map((text) => Subnet.parse(text)).filter((subnet) => subnet !== null);
  }

  /** Whether the `Host` header has a name that the explorer serves. */
  isAllowedHost({ headers: { host } }: IncomingMessage): boolean {
    return this.hosts.allows(host);
  }

  /** Whether a WebSocket may be opened: the origin of the page must equal the requested host. */
  mayOpenSocket(request: IncomingMessage): boolean {
    const { host, origin } = request.headers;
    if (!this.isAllowedHost(request)) return false;
    if (origin === undefined) return true;
    return URL.canParse(origin) && new URL(origin).host === host;
  }

  /** Whether several visitors may have this remote address, because it belongs to a proxy or to this machine. */
  isShared(address: string): boolean {
    return isLoopback(address) || this.isProxy(address);
  }

  private isProxy(address: string): boolean {
    const ip = parseIp(address);
    return ip !== null && this.proxies.some((proxy) => proxy.contains(ip));
  }

  /** The visitor's address. A proxy of `-explorerproxy` reports it in a header. */
  addressOf({ headers, socket }: IncomingMessage): string {
    const direct = socket.remoteAddress ?? '';
    const forwarded = headers['x-forwarded-for'];
    if (typeof forwarded !== 'string' || !this.isProxy(direct)) return direct;
    return forwarded.split(',').at(-1)?.trim() || direct;
  }

  /** Whether the visitor is on this machine. A request that an unknown proxy forwarded is not. */
  isLocal(request: IncomingMessage): boolean {
    const { headers, socket } = request;
    const isForwarded = headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined;
    return isLoopback(this.addressOf(request)) && (!isForwarded || this.isProxy(socket.remoteAddress ?? ''));
  }
}
