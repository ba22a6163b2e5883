/** `signmessage`: signs a message with the key of an address. Source: lbrycrd wallet/rpcwallet.cpp. */
import { decodeDestination } from '../../../../script/address.js';
import { signMessage as sign } from '../../../../signing/signedMessage.js';
import { inSlices } from '../../../../scheduler/slices.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { requireUnlocked, walletOf } from '../wallets/walletOf.js';

export const signMessage = defineMethod({
  name: 'signmessage',
  category: 'wallet',
  needsWallet: 'one',
  summary: 'Sign a message with the private key of an address.',
  params: [
    {
      name: 'address',
      type: 'string',
      required: true,
      late: true,
      description: 'The address to use for the private key',
    },
    {
      name: 'message',
      type: 'string',
      required: true,
      late: true,
      description: 'The message to create a signature of',
    },
  ],
  result: t.str('the signature of the message encoded in base 64'),
  examples: [['"bW5PZEvEBNPQRVhwpYXSjabFgbSw1oaHyR"', '"my message"']],
  async run(ctx, args) {
    const wallet = walletOf(ctx);
    const { keyring, prefixes } = wallet;
    requireUnlocked(wallet);
    const address = args.address();
    const message = args.message();
    const destination = decodeDestination(address, prefixes);
    if (destination === null) throw rpcError(RPC_ERROR.TYPE_ERROR, 'Invalid address');
    if (destination.type !== 'pubkeyhash')
      throw rpcError(RPC_ERROR.TYPE_ERROR, 'Address does not refer to key');
    const key = keyring.signingKey(destination.hash);
    if (key === null) throw rpcError(RPC_ERROR.WALLET_ERROR, 'Private key not available');
    // The key is copied, because if the wallet is locked during the hashing of a long message, the original is wiped.
    const copy = { ...key, privateKey: Buffer.from(key.privateKey) };
    const signature = await inSlices(sign(message, copy)).finally(() => copy.privateKey.fill(0));
    return signature.toString('base64');
  },
});
