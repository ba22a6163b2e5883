/**
 * Host names to addresses, by the system's resolver. Source: Core netbase.cpp `LookupIntern`, `Lookup`.
 */
import { ADDRCONFIG } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { splitHostPort } from '../util/network/hostPort.js';
import { isValid, parseHost, parseNetAddress, type NetAddress } from './netAddress.js';

/** Names of onion services are never asked of a name server. */
export const ONION_NAME = /\.onion\.?$/i;

/** No name server knows a longer name (RFC 1035, with a dot at its end). */
const MAX_NAME_CHARS = 254;

/** All numeric addresses of a host name, as text; rejects when there are none. */
export type LookUp = (host: string) => Promise<string[]>;

export const systemLookUp: LookUp = async (host) => {
  const found = await lookup(host, { all: true, hints: ADDRCONFIG });
  return found.map(({ address }) => address);
};

/**
 * What `host` or `host:port`, as the operator writes it, stands for: of several addresses the first. Null when it cannot
 * be one of a host. `lookUp` null looks up no names (`-dns=0`).
 */
export async function lookUpAddress(
  text: string,
  defaultPort: number,
  lookUp: LookUp | null,
): Promise<NetAddress | null> {
  const numeric = parseNetAddress(text, defaultPort);
  if (numeric !== null) return isValid(numeric) ? numeric : null;
  const { host, port } = splitHostPort(text, defaultPort);
  if (lookUp === null || host === '' || host.length > MAX_NAME_CHARS || ONION_NAME.test(host)) return null;
  const [first = ''] = await lookUp(host).catch(() => []);
  const ip = parseHost(first);
  return ip !== null && isValid({ ip }) ? { ip, port } : null;
}
