/** Determines the addresses on which the server listens. Source: `HTTPBindAddresses`. */
import { splitHostPort, type HostPort } from '../util/network/hostPort.js';

export type Endpoint = HostPort;

/**
 * Selects the endpoints to bind: only loopback unless `-rpcallowip` is set. Without `-rpcallowip` the option `-rpcbind` is
 * ignored.
 */
export function chooseEndpoints(port: number, binds: readonly string[], allowsOthers: boolean): Endpoint[] {
  if (!allowsOthers) {
    return [
      { host: '::1', port },
      { host: '127.0.0.1', port },
    ];
  }
  if (binds.length > 0) return binds.map((bind) => splitHostPort(bind, port));
  return [
    { host: '::', port },
    { host: '0.0.0.0', port },
  ];
}

/** Whether an address of `-rpcbind` is one of the local host. */
export function isLoopbackPlace(bind: string): boolean {
  return /^(localhost|127\.[0-9.]+|::1)$/.test(splitHostPort(bind, 0).host);
}
