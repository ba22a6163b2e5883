/** `dumpprivkey`: the private key of an address. Source: lbrycrd wallet/rpcdump.cpp. */
import { COMPRESSED_KEY_SIZE } from '../../../../crypto/ecdsaEncoding.js';
import { decodeDestination } from '../../../../script/address.js';
import { encodeSecret } from '../../../../script/wif.js';
import { keyIdOfDestination } from '../../../../wallet/keys/keyOfDestination.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { requireUnlocked, walletOf } from '../wallets/walletOf.js';

export const dumpPrivKey = defineMethod({
  name: 'dumpprivkey',
  category: 'wallet',
  needsWallet: 'one',
  summary:
    "Reveals the private key corresponding to 'address'.\nThen the importprivkey can be used with this output.",
  params: [
    {
      name: 'address',
      type: 'string',
      required: true,
      late: true,
      description: 'The address for the private key',
    },
  ],
  result: t.str('the private key'),
  examples: [['"myaddress"']],
  run(ctx, args) {
    const wallet = walletOf(ctx);
    const { keyring, prefixes } = wallet;
    requireUnlocked(wallet);
    const address = args.address();
    const destination = decodeDestination(address, prefixes);
    if (destination === null) throw rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, 'Invalid Bitcoin address');
    const keyId = keyIdOfDestination(keyring, destination);
    if (keyId === null) throw rpcError(RPC_ERROR.TYPE_ERROR, 'Address does not refer to a key');
    const key = keyring.signingKey(keyId);
    if (key === null)
      throw rpcError(RPC_ERROR.WALLET_ERROR, `Private key for address ${address} is not known`);
    return encodeSecret(key.privateKey, key.publicKey.length === COMPRESSED_KEY_SIZE, prefixes);
  },
});
