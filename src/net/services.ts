/** Services of a node: the bits of its version message. Source: Core protocol.h `ServiceFlags`. */

export const NODE = {
  /** The node serves the whole block chain. */
  network: 1n,
  /** The node serves getutxo (BIP64). This program does not offer it. */
  getutxo: 2n,
  /** The node serves bloom filters (BIP111). */
  bloom: 4n,
  /** Serves blocks and transactions with witness (BIP144). */
  witness: 8n,
  /** Serves compact block filters (BIP157). Source: Core 0.21. */
  compactFilters: 64n,
  /** Serves Xtreme Thinblocks; not offered by this node. */
  xthin: 16n,
  /** Serves only the last 288 blocks (BIP159). */
  networkLimited: 1024n,
} as const;

/**
 * Services that an outbound peer must have. QUIRK: lbrycrd requires bloom filters and not witness, during and after the
 * initial download. Source: lbrycrd protocol.cpp `GetDesirableServiceFlags`. Test: test/unit/net/services.test.ts.
 */
export const DESIRABLE_SERVICES = NODE.network | NODE.bloom;

export function hasDesirableServices(services: bigint): boolean {
  return (services & DESIRABLE_SERVICES) === DESIRABLE_SERVICES;
}

/** Whether a node with these services may know many addresses. Source: `MayHaveUsefulAddressDB`. */
export function mayKnowAddresses(services: bigint): boolean {
  return (services & (NODE.network | NODE.networkLimited)) !== 0n;
}
