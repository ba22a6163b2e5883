/** `signmessagewithprivkey`: signs a message with the key in the arguments. Source: lbrycrd rpc/misc.cpp. */
import { decodeSecret } from '../../../script/wif.js';
import { signMessage } from '../../../signing/signedMessage.js';
import { signingKeyOf } from '../../../signing/signingProvider.js';
import { inSlices } from '../../../scheduler/slices.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { addressPrefixes } from '../../format/addresses.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';

export const signMessageWithPrivKey = defineMethod({
  name: 'signmessagewithprivkey',
  category: 'util',
  chainUse: 'none',
  summary: 'Sign a message with the private key of an address.',
  params: [
    {
      name: 'privkey',
      type: 'string',
      required: true,
      description: 'The private key to sign the message with',
    },
    {
      name: 'message',
      type: 'string',
      required: true,
      description: 'The message to create a signature of',
    },
  ],
  result: t.str('the signature of the message encoded in base 64'),
  examples: [['"privkey"', '"my message"']],
  async run({ services: { params } }, { privkey, message }) {
    const secret = decodeSecret(privkey, addressPrefixes(params));
    if (secret === null) throw rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, 'Invalid private key');
    const key = signingKeyOf(secret.privateKey, secret.compressed);
    return (await inSlices(signMessage(message, key))).toString('base64');
  },
});
