/**
 * Accepts inbound peers: listens at the bound addresses, rejects banned peers, and evicts a peer if all inbound slots are in
 * use. Source: Core net.cpp `InitBinds`, `BindListenPort`, `AcceptConnection`.
 */
import { createServer, type Server, type Socket } from 'node:net';
import { getSystemErrorMap } from 'node:util';
import { joinHostPort } from '../../util/network/hostPort.js';
import type { Logger } from '../../util/logging.js';
import { formatNetAddress, parseHost, type NetAddress } from '../netAddress.js';
import { hasDesirableServices } from '../services.js';
import { selectEviction } from './eviction.js';
import type { PeerManager } from './peerManager.js';
import type { PeerSession } from './peerSession.js';

export interface Binding {
  /** Numeric address to bind; `::` and `0.0.0.0` mean all interfaces. */
  host: string;
  port: number;
  /** Whether peers that connect to this address are whitelisted (`-whitebind`). */
  isWhitelisted: boolean;
}

export interface ListenerOptions {
  bindings: readonly Binding[];
  maxInbound: number;
}

export interface ListenerDeps {
  peers: PeerManager;
  log: Logger;
  isBanned(address: NetAddress): boolean;
  /** `-whitelist`. */
  isWhitelisted(address: NetAddress): boolean;
  /** Returns whether the peer wants transactions, and whether it has set a bloom filter. */
  relayOf(peer: PeerSession): { relaysTransactions: boolean; hasBloomFilter: boolean };
}

export class Listener {
  private readonly options: ListenerOptions;
  private readonly deps: ListenerDeps;
  private readonly servers: Server[] = [];

  constructor(options: ListenerOptions, deps: ListenerDeps) {
    this.options = options;
    this.deps = deps;
  }

  /** Binds all configured addresses. Resolves to one error text for each address that could not be bound. */
  async listen(): Promise<string[]> {
    const failures: string[] = [];
    for (const binding of this.options.bindings) {
      const failure = await this.bind(binding);
      if (failure !== null) failures.push(failure);
    }
    return failures;
  }

  get isListening(): boolean {
    return this.servers.length > 0;
  }

  private bind(binding: Binding): Promise<string | null> {
    const where = joinHostPort(binding);
    return new Promise((resolve) => {
      const server = createServer({ noDelay: true }, (socket) => this.accept(socket, binding));
      server.once('error', (error: NodeJS.ErrnoException) => {
        resolve(
          error.code === 'EADDRINUSE'
            ? `Unable to bind to ${where} on this computer. lbcnode is probably already running.`
            : `Unable to bind to ${where} on this computer (bind returned error ${systemReason(error)})`,
        );
      });
      // An IPv6 binding does not accept IPv4 connections, because IPv4 has a separate binding.
      server.listen({ host: binding.host, port: binding.port, ipv6Only: binding.host.includes(':') }, () => {
        server.on('error', (error) => this.deps.log.warn(`listening at ${where}: ${error.message}`));
        this.deps.log.info(`Bound to ${where}`);
        this.servers.push(server);
        resolve(null);
      });
    });
  }

  private accept(socket: Socket, binding: Binding): void {
    const { peers, log } = this.deps;
    // Ignores socket errors until a peer object handles them, because an unhandled error event would end the process.
    socket.on('error', () => undefined);
    const remote = endOf(socket.remoteAddress, socket.remotePort);
    const local = endOf(socket.localAddress, socket.localPort);
    if (remote === null) {
      socket.destroy();
      return;
    }
    const isWhitelisted = binding.isWhitelisted || this.deps.isWhitelisted(remote);
    const refusal = this.refusal(remote, isWhitelisted);
    if (refusal !== null) {
      log.debug('net', `connection from ${formatNetAddress(remote)} dropped (${refusal})`);
      socket.destroy();
      return;
    }
    log.debug('net', `connection from ${formatNetAddress(remote)} accepted`);
    peers.add(socket, { kind: 'inbound', remote, local, isWhitelisted });
  }

  private refusal(remote: NetAddress, isWhitelisted: boolean): string | null {
    const { peers } = this.deps;
    if (!peers.isActive) return 'not accepting new connections';
    if (!isWhitelisted && this.deps.isBanned(remote)) return 'banned';
    if (peers.countOf('inbound') >= this.options.maxInbound && !this.evict()) return 'full';
    return null;
  }

  private evict(): boolean {
    const { peers } = this.deps;
    const candidates = [...peers.peers()]
      .filter((peer) => peer.isInbound && !peer.isWhitelisted)
      .map((peer) => ({
        id: peer.id,
        connectedAtSec: peer.connectedAtSec,
        minPingMs: peer.minPingMs < 0 ? Infinity : peer.minPingMs,
        lastBlockMs: peer.lastBlockMs,
        lastTxMs: peer.lastTxMs,
        hasDesirableServices: peer.version !== null && hasDesirableServices(peer.version.services),
        keyedGroup: peer.info.keyedGroup,
        ...this.deps.relayOf(peer),
      }));
    const evicted = selectEviction(candidates);
    if (evicted === null) return false;
    peers.peer(evicted)!.disconnect('evicted for a new connection');
    return true;
  }

  async close(): Promise<void> {
    await Promise.all(
      this.servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))),
    );
  }
}

/** Returns the address of one end of a connection. The interface name after a link-local address (`%eth0`) is removed. */
export function endOf(host = '', port = 0): NetAddress | null {
  const ip = parseHost(host.replace(/%.*$/, ''));
  return ip === null ? null : { ip, port };
}

/** Returns the error text of the operating system, without the call name and address that Node.js adds. */
function systemReason({ errno, code, message }: NodeJS.ErrnoException): string {
  const said = errno === undefined ? undefined : getSystemErrorMap().get(errno)?.[1];
  return said === undefined ? message : `${said} (${code})`;
}
