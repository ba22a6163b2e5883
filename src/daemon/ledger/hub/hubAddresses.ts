/**
 * Addresses in requests to hubs. lbryio/hub accepts base58 addresses directly. For a witness address it accepts only the hash of
 * the script. Source: lbryio/hub herald/session.py `address_subscribe`, `scripthash_subscribe`.
 */
import { sha256 } from '../../../crypto/hash.js';
import { decodeDestination, type AddressPrefixes } from '../../../script/address.js';
import { scriptForDestination } from '../../../script/standard.js';
import { hashToHex } from '../../../util/bytes.js';
import type { HubSession } from './hubSession.js';

/** Hash of the address's script in the hex form that programs print; null for a base58 address. */
export function scriptHashOf(address: string, prefixes: AddressPrefixes): string | null {
  if (!address.startsWith(`${prefixes.bech32Hrp}1`)) return null;
  const destination = decodeDestination(address, prefixes);
  return destination && hashToHex(sha256(scriptForDestination(destination)));
}

/** Subscribes to addresses. Resolves to their statuses in order. The hub then sends notifications of changes. */
export async function subscribeAddresses(
  session: HubSession,
  addresses: readonly string[],
  prefixes: AddressPrefixes,
): Promise<unknown> {
  const hashes = addresses.map((address) => scriptHashOf(address, prefixes));
  const plain = addresses.filter((_, n) => hashes[n] === null);
  if (plain.length === addresses.length) return session.call('blockchain.address.subscribe', addresses);
  const [statuses, ...others] = await Promise.all([
    plain.length > 0 ? session.call('blockchain.address.subscribe', plain) : [],
    ...hashes.flatMap((hash) =>
      hash === null ? [] : [session.call('blockchain.scripthash.subscribe', [hash])],
    ),
  ]);
  if (!Array.isArray(statuses) || statuses.length !== plain.length) return null;
  const ofPlain = statuses[Symbol.iterator]();
  const ofHashes = others[Symbol.iterator]();
  return hashes.map((hash): unknown => (hash === null ? ofPlain : ofHashes).next().value);
}

export function unsubscribeAddress(
  session: HubSession,
  address: string,
  prefixes: AddressPrefixes,
): Promise<unknown> {
  return callAbout(session, 'unsubscribe', address, prefixes);
}

export function addressHistory(
  session: HubSession,
  address: string,
  prefixes: AddressPrefixes,
): Promise<unknown> {
  return callAbout(session, 'get_history', address, prefixes);
}

function callAbout(
  session: HubSession,
  method: 'unsubscribe' | 'get_history',
  address: string,
  prefixes: AddressPrefixes,
): Promise<unknown> {
  const hash = scriptHashOf(address, prefixes);
  return hash === null
    ? session.call(`blockchain.address.${method}`, [address])
    : session.call(`blockchain.scripthash.${method}`, [hash]);
}
