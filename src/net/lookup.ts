/**
 * Resolves host names with the system's resolver. Source: Core netbase.cpp `LookupIntern`, `Lookup`.
 */
import { ADDRCONFIG } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { splitHostPort } from '../util/network/hostPort.js';
import { isValid, parseHost, parseNetAddress, type NetAddress } from './netAddress.js';

/** Names of onion services, which are never sent to a name server. */
export const ONION_NAME = /\.onion\.?$/i;

/** Maximum length of a host name (RFC 1035, with a trailing dot). */
const MAX_NAME_CHARS = 254;

/** All numeric addresses of a host name, as text; rejects without one. */
export type LookUp = (host: string) => Promise<string[]>;

export const systemLookUp: LookUp = async (host) => {
  const found = await lookup(host, { all: true, hints: ADDRCONFIG });
  return found.map(({ address }) => address);
};

/**
 * Resolves `host` or `host:port` as written by the operator, to the first address. Null for an invalid host. With `lookUp`
 * null, names are not resolved (`-dns=0`).
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
