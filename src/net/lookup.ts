/**
 * Resolves host names with the system's resolver. Source: Core netbase.cpp `LookupIntern`, `Lookup`.
 */
import { ADDRCONFIG } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { splitHostPort } from '../util/network/hostPort.js';
import { isValid, parseHost, parseNetAddress, type NetAddress } from './netAddress.js';

/** Matches names of onion services. Such names are never sent to a DNS server. */
export const ONION_NAME = /\.onion\.?$/i;

/** Maximum length of a host name in characters, including a trailing dot (RFC 1035). */
const MAX_NAME_CHARS = 254;

/** Resolves a host name to all its numeric addresses, as text. Rejects if the name has no address. */
export type LookUp = (host: string) => Promise<string[]>;

export const systemLookUp: LookUp = async (host) => {
  const found = await lookup(host, { all: true, hints: ADDRCONFIG });
  return found.map(({ address }) => address);
};

/**
 * Resolves `host` or `host:port` from the operator to the first address found. Returns null for an invalid host. If `lookUp`
 * is null, host names are not resolved (`-dns=0`).
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
