/**
 * Targets of DHT datagrams: nodes with an id, and endpoints whose ids are not known yet. Source: lbry-sdk lbry/dht/peer.py
 * `KademliaPeer`.
 */
import { isPeerPort, isPublicAddress } from './addresses.js';
import { ID_BYTES } from './datagrams.js';

/** Address and UDP port of a node. */
export interface UdpEndpoint {
  /** IPv4. */
  readonly address: string;
  readonly udpPort: number;
}

/** A node of the DHT. Two contacts with the same `key` are the same node. */
export interface Contact extends UdpEndpoint {
  /** 48 bytes. */
  readonly nodeId: Buffer;
  readonly key: string;
}

/** Target of a request: a node, or an endpoint whose node id is learned from the reply. */
export type Target = Contact | (UdpEndpoint & { readonly nodeId: null });

export const endpointKey = (address: string, udpPort: number): string => `${address}:${udpPort}`;

/** Checks the address of a peer. Returns the error in the words of lbry-sdk, or null for a valid address. */
export function endpointFault(address: string, udpPort: number, allowLocalhost: boolean): string | null {
  if (!isPeerPort(udpPort)) return `invalid udp port: ${address}:${udpPort}`;
  return isPublicAddress(address, allowLocalhost) ? null : `invalid ip address: '${address}'`;
}

/** Creates a contact from an address that was checked before. */
export const contactAt = (nodeId: Buffer, address: string, udpPort: number): Contact => ({
  nodeId,
  address,
  udpPort,
  key: `${nodeId.toString('latin1')}@${endpointKey(address, udpPort)}`,
});

/** Creates a contact; null if the id, address or port is not valid for a peer. */
export function toContact(
  nodeId: Buffer,
  address: string,
  udpPort: number,
  allowLocalhost: boolean,
): Contact | null {
  if (nodeId.length !== ID_BYTES || endpointFault(address, udpPort, allowLocalhost) !== null) return null;
  return contactAt(nodeId, address, udpPort);
}
