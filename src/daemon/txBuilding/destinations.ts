/**
 * Addresses for payments and claims. The wallet pays to key hashes; only functions that say so pay to script hashes. Source:
 * lbry-sdk lbry/extras/daemon/daemon.py `valid_address_or_error`.
 */
import { decodeDestination } from '../../script/address.js';
import type { Bytes } from '../../util/bytes.js';
import { failure } from '../base/daemonError.js';
import type { LedgerParams } from '../base/ledgerParams.js';
import { scriptForDestination } from '../../script/standard.js';
import { payKeyHash, payScriptHash, type NewOutput } from '../wallet/tx/newOutputs.js';

const notAnAddress = (address: string): Error => failure(`'${address}' is not a valid address`);

/**
 * Key hash of a P2PKH address, for outputs with claims and supports. Throws for any other text, such as a P2SH address.
 */
export function keyHashOf(address: string, { addressPrefixes }: LedgerParams): Bytes {
  const destination = decodeDestination(address, addressPrefixes);
  if (destination?.type === 'witness_v0_keyhash')
    throw failure(
      `'${address}' is a witness address, which cannot hold a claim or a support here. Choose an account or address of ` +
        'another kind; a witness account can still pay.',
    );
  if (destination?.type !== 'pubkeyhash') throw notAnAddress(address);
  return destination.hash;
}

/** Output that pays a P2PKH, P2SH or version 0 witness address. */
export function payTo(amountDewies: bigint, address: string, { addressPrefixes }: LedgerParams): NewOutput {
  const destination = decodeDestination(address, addressPrefixes);
  if (destination?.type === 'pubkeyhash') return payKeyHash(amountDewies, destination.hash);
  if (destination?.type === 'scripthash') return payScriptHash(amountDewies, destination.hash);
  if (destination?.type === 'witness_v0_keyhash' || destination?.type === 'witness_v0_scripthash')
    return { amountDewies, script: scriptForDestination(destination) };
  throw notAnAddress(address);
}
