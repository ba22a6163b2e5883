/**
 * Opens TCP connections to peers: directly, or through the proxy of the peer's network. It resolves names, unless a proxy
 * does that or resolving is disabled. An onion service is reachable only through a proxy, and its name is never sent to a
 * name server. Source: Core net.cpp `CConnman::ConnectNode`, netbase.cpp `Lookup`, `ConnectSocketDirectly`,
 * `ConnectThroughProxy`.
 */
import { connect as netConnect, type Socket } from 'node:net';
import { getSystemErrorMap } from 'node:util';
import { joinHostPort, splitHostPort } from '../util/network/hostPort.js';
import type { Logger } from '../util/logging.js';
import { ONION_NAME, systemLookUp, type LookUp } from './lookup.js';
import {
  formatHost,
  formatNetAddress,
  isIpv4,
  isIpv6,
  isValid,
  parseHost,
  parseNetAddress,
  type NetAddress,
} from './netAddress.js';
import type { Networks, Proxy } from './networks.js';
import type { RandomSource } from './messageHandler.js';
import { SOCKS5_TIMEOUT_MS, socks5Connect, Socks5Error } from './socks5.js';

/** Maximum number of addresses that are accepted from a name server for one name. */
const MAX_LOOKUP_ADDRESSES = 256;

/** Destination of a connection: an address, or a host name together with the proxy that resolves it. */
export type DialTarget =
  | { readonly address: NetAddress }
  | { readonly address: null; readonly host: string; readonly port: number; readonly proxy: Proxy };

export interface DialerOptions {
  /** Port to use if the text of the operator contains no port. */
  readonly defaultPort: number;
  /** Milliseconds for opening the TCP connection (`-timeout`). */
  readonly connectTimeoutMs: number;
  /** Milliseconds for each response of a proxy. */
  readonly proxyTimeoutMs?: number;
  /** Whether names may be resolved (`-dns`). */
  readonly allowsLookup: boolean;
}

export interface DialerDeps {
  readonly networks: Networks;
  readonly random: RandomSource;
  readonly log: Logger;
  /** Resolves a host name to all its numeric addresses; rejects if there are none. By default the system's resolver is used. */
  readonly lookUp?: LookUp;
  /** Starts a TCP connection, like `net.connect`. */
  readonly connect?: (to: { host: string; port: number }) => Socket;
}

export interface DialContext {
  readonly signal: AbortSignal;
  /** Whether the operator requested this connection. If so, failures are logged. */
  readonly isManual?: boolean;
}

/** Thrown if a connection to a peer failed. */
export class DialError extends Error {
  override readonly name = 'DialError';
  /** Whether the proxy could not be reached or failed. If so, the error does not show whether the destination can be reached. */
  readonly isProxyFailure: boolean;

  constructor(message: string, isProxyFailure = false) {
    super(message);
    this.isProxyFailure = isProxyFailure;
  }
}

export class Dialer {
  private readonly options: DialerOptions;
  private readonly deps: DialerDeps;
  private readonly credentialPrefix: string;
  private credentialCount = 0;

  constructor(options: DialerOptions, deps: DialerDeps) {
    this.options = options;
    this.deps = deps;
    this.credentialPrefix = deps.random.bytes(8).toString('hex');
  }

  /**
   * Resolves `host:port` as the operator wrote it. If the name has several addresses, a random address is chosen. Rejects
   * with `DialError` if the name has no address.
   */
  async locate(text: string, { signal }: DialContext): Promise<DialTarget> {
    const { defaultPort, allowsLookup } = this.options;
    const { networks, random } = this.deps;
    const numeric = parseNetAddress(text, defaultPort);
    if (numeric !== null) {
      if (!isValid(numeric)) throw new DialError(`Invalid address ${text}`);
      return { address: numeric };
    }
    const { host, port } = splitHostPort(text, defaultPort);
    const isOnion = ONION_NAME.test(host);
    const proxy = isOnion ? networks.route('onion').proxy : networks.nameProxy;
    if (proxy !== null) return { address: null, host, port, proxy };
    if (isOnion) throw new DialError(`Cannot connect to ${text}: an onion service needs a proxy`);
    if (!allowsLookup) throw new DialError(`Cannot look up ${text}: -dns=0`);
    const found = (await this.lookUpAll(host, signal)).map((ip) => ({ ip, port }));
    if (found.length === 0) throw new DialError(`Cannot look up ${text}`);
    const address = found[random.int(found.length)]!;
    if (!isValid(address)) {
      throw new DialError(`Resolver returned invalid address ${formatNetAddress(address)} for ${text}`);
    }
    return { address };
  }

  /**
   * Resolves the host name of a DNS seed to IP addresses of 16 bytes, at most `MAX_LOOKUP_ADDRESSES`. Empty if the name has
   * no address, or if a proxy resolves names. `-dns` does not apply to seeds. Source: `LookupHost`.
   */
  async resolve(host: string, signal: AbortSignal): Promise<Buffer[]> {
    const numeric = parseHost(host);
    if (numeric !== null) return [numeric];
    return this.deps.networks.nameProxy === null ? this.lookUpAll(host, signal) : [];
  }

  private async lookUpAll(host: string, signal: AbortSignal): Promise<Buffer[]> {
    if (host === '' || ONION_NAME.test(host)) return [];
    const { lookUp = systemLookUp, log } = this.deps;
    try {
      const found = await orAborted(lookUp(host), signal);
      return found
        .map(parseHost)
        .filter((ip) => ip !== null)
        .slice(0, MAX_LOOKUP_ADDRESSES);
    } catch (error) {
      log.debug('net', `lookup of ${host} failed: ${(error as Error).message}`);
      return [];
    }
  }

  /**
   * Connects to a destination. Resolves to a socket whose data nothing reads yet, with a listener that ignores errors. If
   * the connection fails or is aborted, the failure is logged and the promise rejects with `DialError`.
   */
  async connect(target: DialTarget, context: DialContext): Promise<Socket> {
    try {
      return await this.open(target, context);
    } catch (error) {
      if (!(error instanceof DialError)) throw error;
      const { log } = this.deps;
      if (!context.signal.aborted && (context.isManual || error.isProxyFailure)) log.info(error.message);
      else log.debug('net', error.message);
      throw error;
    }
  }

  private open(target: DialTarget, context: DialContext): Promise<Socket> {
    const { address } = target;
    if (address === null) return this.openThroughProxy(target.proxy, target.host, target.port, context);
    const proxy = this.deps.networks.proxyFor(address);
    if (proxy !== null) return this.openThroughProxy(proxy, formatHost(address), address.port, context);
    if (!isIpv4(address) && !isIpv6(address)) {
      throw new DialError(`Cannot create socket for ${formatNetAddress(address)}: unsupported network`);
    }
    return this.openDirectly(formatHost(address), address.port, context.signal);
  }

  private async openThroughProxy(
    proxy: Proxy,
    host: string,
    port: number,
    { signal }: DialContext,
  ): Promise<Socket> {
    const { log } = this.deps;
    const socket = await this.openDirectly(proxy.host, proxy.port, signal).catch((error: unknown) => {
      throw error instanceof DialError ? new DialError(error.message, true) : error;
    });
    const credentials = proxy.randomizesCredentials ? this.nextCredentials() : null;
    const timeoutMs = this.options.proxyTimeoutMs ?? SOCKS5_TIMEOUT_MS;
    try {
      await socks5Connect(socket, { host, port, credentials, timeoutMs, log, signal });
      return socket;
    } catch (error) {
      socket.destroy();
      throw error instanceof Socks5Error ? new DialError(error.message, !error.isDestinationFailure) : error;
    }
  }

  /**
   * Creates new credentials for each connection, because Tor uses different circuits for connections with different
   * credentials.
   */
  private nextCredentials(): { user: string; password: string } {
    const text = `${this.credentialPrefix}${this.credentialCount++}`;
    return { user: text, password: text };
  }

  private openDirectly(host: string, port: number, signal: AbortSignal): Promise<Socket> {
    const name = joinHostPort({ host, port });
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(new DialError(`connection to ${name} interrupted`));
        return;
      }
      const socket = (this.deps.connect ?? netConnect)({ host, port });
      const finish = (error: DialError | null): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        socket.off('error', onError).off('connect', onConnect);
        // Errors after this point are ignored, because the event `close` follows them.
        socket.on('error', () => undefined);
        if (error === null) {
          resolve(socket);
          return;
        }
        socket.destroy();
        reject(error);
      };
      const onConnect = (): void => finish(null);
      const onError = (error: NodeJS.ErrnoException): void =>
        finish(new DialError(`connect() to ${name} failed: ${errorText(error)}`));
      const onAbort = (): void => finish(new DialError(`connection to ${name} interrupted`));
      const timer = setTimeout(
        () => finish(new DialError(`connection to ${name} timeout`)),
        this.options.connectTimeoutMs,
      );
      socket.on('error', onError).on('connect', onConnect);
      signal.addEventListener('abort', onAbort);
    });
  }
}

/** Returns the text of a system error, such as `connection refused (111)`. Source: `NetworkErrorString`. */
function errorText(error: NodeJS.ErrnoException): string {
  const known = error.errno === undefined ? undefined : getSystemErrorMap().get(error.errno)?.[1];
  return known === undefined ? error.message || String(error.code) : `${known} (${-error.errno!})`;
}

/** Resolves to the result of the promise. Rejects as soon as the signal aborts. */
function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(new Error('interrupted'));
    if (signal.aborted) {
      promise.catch(() => undefined);
      onAbort();
      return;
    }
    signal.addEventListener('abort', onAbort);
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
