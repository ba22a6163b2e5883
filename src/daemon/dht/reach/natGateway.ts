/**
 * Finds the gateway of this network over UPnP or NAT-PMP, with the package `@silentbot1/nat-api`, which no other module
 * loads.
 */
import type { Gateway } from './portMapper.js';

/** Lifetime in seconds of a port mapping without renewal. */
const LEASE_SEC = 3600;
/** Timeout in milliseconds for HTTP requests to a gateway. The npm package for port mapping sets none. */
const TIMEOUT_MS = 10_000;

/** The used functions of the npm package for port mapping, which declares no types. */
interface NatApi {
  map(options: object): Promise<boolean>;
  unmap(options: object): Promise<boolean>;
  externalIp(): Promise<string>;
  destroy(): Promise<unknown>;
}

/** Returns the result of the promise, or `otherwise` if the promise takes too long or rejects. */
async function inTime<T>(promise: Promise<T>, otherwise: T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<T>((resolve) => {
    timer = setTimeout(() => resolve(otherwise), TIMEOUT_MS);
  });
  try {
    return await Promise.race([promise.catch(() => otherwise), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Finds the gateway of the network. Resolves to null if no gateway reports an external address. */
export async function findNatGateway(): Promise<Gateway | null> {
  // @ts-expect-error The package declares no types.
  const { default: Api } = (await import('@silentbot1/nat-api')) as {
    default: new (options: object) => NatApi;
  };
  const api = new Api({
    ttl: LEASE_SEC,
    autoUpdate: false,
    upnpPermanentFallback: true,
    description: 'LBRY',
  });
  const address = await inTime(api.externalIp(), '');
  if (address === '') {
    await inTime(api.destroy(), undefined);
    return null;
  }
  return {
    name: 'UPnP or NAT-PMP gateway',
    externalAddress: async () => (await inTime(api.externalIp(), '')) || null,
    map: (publicPort, privatePort, protocol, description) =>
      inTime(api.map({ publicPort, privatePort, protocol, description, ttl: LEASE_SEC }), false),
    unmap: async (publicPort, privatePort, protocol) => {
      await inTime(api.unmap({ publicPort, privatePort, protocol }), false);
    },
    close: async () => {
      await inTime(api.destroy(), undefined);
    },
  };
}
