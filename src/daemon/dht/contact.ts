/** Who is reached over UDP: nodes with an id and, before their ids are known, places. Source: lbry-sdk lbry/dht/peer.py `KademliaPeer`. */
import { isPeerPort, isPublicAddress } from './addresses.js';
import { ID_BYTES } from './datagrams.js';

/** Address of a node. */
export interface Endpoint {
  /** IPv4. */
  readonly address: string;
  readonly udpPort: number;
}

/** A node of the DHT. Two contacts are the same when their `key` is. */
export interface Contact extends Endpoint {
  /** 48 bytes. */
  readonly nodeId: Buffer;
  readonly key: string;
}

/** A request goes to a node, or to a place whose node will tell its id. */
export type Target = Contact | (Endpoint & { readonly nodeId: null });

export const endpointKey = (address: string, udpPort: number): string => `${address}:${udpPort}`;

/** Error of a peer address in the words of lbry-sdk, or null. */
export function endpointFault(address: string, udpPort: number, allowLocalhost: boolean): string | null {
  if (!isPeerPort(udpPort)) return `invalid udp port: ${address}:${udpPort}`;
  return isPublicAddress(address, allowLocalhost) ? null : `invalid ip address: '${address}'`;
}

/** Unchecked, for addresses that were checked before. */
export const contactAt = (nodeId: Buffer, address: string, udpPort: number): Contact => ({
  nodeId,
  address,
  udpPort,
  key: `${nodeId.toString('latin1')}@${endpointKey(address, udpPort)}`,
});

/** Null if a peer cannot have the id, address or port. */
export function toContact(
  nodeId: Buffer,
  address: string,
  udpPort: number,
  allowLocalhost: boolean,
): Contact | null {
  if (nodeId.length !== ID_BYTES || endpointFault(address, udpPort, allowLocalhost) !== null) return null;
  return contactAt(nodeId, address, udpPort);
}
