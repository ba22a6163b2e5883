/** Formats and parses addresses and keys of the node's network. */
import type { NetworkParams } from '../../params/network.js';
import type { AddressPrefixes } from '../../script/address.js';

/** Cache of the address prefixes by network parameters. */
const known = new WeakMap<object, AddressPrefixes>();

/** Returns the network's address prefixes in the form that `script/address.ts` needs. */
export function addressPrefixes(params: Pick<NetworkParams, 'base58' | 'bech32Hrp'>): AddressPrefixes {
  let prefixes = known.get(params);
  if (prefixes === undefined) known.set(params, (prefixes = readPrefixes(params)));
  return prefixes;
}

function readPrefixes({ base58, bech32Hrp }: Pick<NetworkParams, 'base58' | 'bech32Hrp'>): AddressPrefixes {
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
