/** `addwitnessaddress`: adds the witness address of a key or script. Source: lbrycrd wallet/rpcwallet.cpp `Witnessifier`. */
import { hash160 } from '../../../../crypto/hash.js';
import { decodeDestination, encodeDestination } from '../../../../script/address.js';
import { isWitnessProgram } from '../../../../script/script.js';
import {
  extractDestination,
  scriptForDestination,
  scriptForWitness,
  type Destination,
} from '../../../../script/standard.js';
import { isSolvable } from '../../../../signing/produceSignature.js';
import type { Bytes } from '../../../../util/bytes.js';
import type { Keyring } from '../../../../wallet/keys/keyring.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { runImport } from './importing.js';
import { walletOf } from '../wallets/walletOf.js';

interface Program {
  readonly destination: Destination;
  /** Whether the given address is already that of a witness program. */
  readonly isWitness: boolean;
}

/**
 * Returns the witness program for an address. Null if the wallet lacks a script or a public key that an input needs to spend
 * an output to the program.
 */
function programOf(keyring: Keyring, destination: Destination): Program | null {
  const programFor = (script: Bytes): Program | null => {
    const program = scriptForWitness(script);
    if (!isSolvable(keyring, program)) return null;
    return { destination: extractDestination(program)!, isWitness: false };
  };
  switch (destination.type) {
    case 'pubkeyhash':
      return programFor(scriptForDestination(destination));
    case 'scripthash': {
      const script = keyring.script(destination.hash);
      if (script === null) return null;
      if (!isWitnessProgram(script)) return programFor(script);
      const inner = extractDestination(script);
      return inner === null ? null : { destination: inner, isWitness: true };
    }
    case 'witness_v0_keyhash':
    case 'witness_v0_scripthash':
      return { destination, isWitness: true };
    case 'witness_unknown':
      return null;
  }
}

export const addWitnessAddress = defineMethod({
  name: 'addwitnessaddress',
  category: 'hidden',
  needsWallet: 'one',
  summary:
    'DEPRECATED: set the address_type argument of getnewaddress, or option -addresstype=[bech32|p2sh-segwit] ' +
    'instead.\nAdd a witness address for a script (with pubkey or redeemscript known). Requires a new wallet backup.',
  params: [
    { name: 'address', type: 'string', required: true, description: 'An address known to the wallet' },
    { name: 'p2sh', type: 'boolean', default: true, description: 'Embed inside P2SH' },
  ],
  deprecated: {
    option: 'addwitnessaddress',
    message:
      'addwitnessaddress is deprecated and will be fully removed in v0.17. To use addwitnessaddress in v0.16, restart ' +
      'with -deprecatedrpc=addwitnessaddress.\nProjects should transition to using the address_type argument of ' +
      'getnewaddress, or option -addresstype=[bech32|p2sh-segwit] instead.\n',
  },
  result: t.str('the new address (P2SH or BIP173)'),
  examples: [['"bW5PZEvEBNPQRVhwpYXSjabFgbSw1oaHyR"']],
  async run(ctx, { address, p2sh }) {
    const wallet = walletOf(ctx);
    const { keyring, prefixes } = wallet;
    const given = decodeDestination(address, prefixes);
    if (given === null) throw rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, 'Invalid Bitcoin address');
    const found = programOf(keyring, given);
    if (found === null) {
      throw rpcError(
        RPC_ERROR.WALLET_ERROR,
        'Public key or redeemscript not known to wallet, or the key is uncompressed',
      );
    }
    const program = scriptForDestination(found.destination);
    const wrapped: Destination = { type: 'scripthash', hash: hash160(program) };
    const text = encodeDestination(p2sh ? wrapped : found.destination, prefixes);
    if (found.isWitness) {
      if (text !== encodeDestination(given, prefixes))
        throw rpcError(RPC_ERROR.WALLET_ERROR, 'Cannot convert between witness address types');
      return text;
    }
    await runImport(wallet, (batch) => {
      keyring.addScript(batch, program);
      wallet.book.set(batch, text, '', 'receive');
    });
    return text;
  },
});
