/**
 * Targets over UDP: nodes with an id, and endpoints before their ids are known. Source: lbry-sdk lbry/dht/peer.py
 * `KademliaPeer`.
 */
import { isPeerPort, isPublicAddress } from './addresses.js';
import { ID_BYTES } from './datagrams.js';

/** Address of a node. */
export interface Endpoint {
  /** IPv4. */
  readonly address: string;
  readonly udpPort: number;
}

/** A node of the DHT. Two contacts with the same `key` are the same node. */
export interface Contact extends Endpoint {
  /** 48 bytes. */
  readonly nodeId: Buffer;
  readonly key: string;
}

/** Target of a request: a node, or an endpoint whose node reports its id. */
export type Target = Contact | (Endpoint & { readonly nodeId: null });

export const endpointKey = (address: string, udpPort: number): string => `${address}:${udpPort}`;

/** Error of a peer address in the words of lbry-sdk, or null. */
export function endpointFault(address: string, udpPort: number, allowLocalhost: boolean): string | null {
  if (!isPeerPort(udpPort)) return `invalid udp port: ${address}:${udpPort}`;
  return isPublicAddress(address, allowLocalhost) ? null : `invalid ip address: '${address}'`;
}

/** Creates a contact without checks, for checked addresses. */
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
