/** Addresses and keys as the network of the node writes them. */
import type { NetworkParams } from '../../params/network.js';
import type { AddressPrefixes } from '../../script/address.js';

/** What `script/address.ts` wants to know of a network. */
export function addressPrefixes(params: Pick<NetworkParams, 'base58' | 'bech32Hrp'>): AddressPrefixes {
  const { base58, bech32Hrp } = params;
  const number = (bytes: Uint8Array): number => Buffer.from(bytes).readUIntBE(0, bytes.length);
  return {
    pubkeyHash: number(base58.pubkeyHash),
    scriptHash: number(base58.scriptHash),
    secretKey: number(base58.secretKey),
    extPublic: number(base58.extPublic),
    extSecret: number(base58.extSecret),
    bech32Hrp,
  };
}
