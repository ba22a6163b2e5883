/** `verifymessage`: verifies that the key of an address signed a message. Source: lbrycrd rpc/misc.cpp. */
import { decodeDestination } from '../../../script/address.js';
import { decodeBase64InSlices } from '../../../signing/base64.js';
import { verifyMessage as verify } from '../../../signing/signedMessage.js';
import { inSlices } from '../../../scheduler/slices.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { addressPrefixes } from '../../format/addresses.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';

export const verifyMessage = defineMethod({
  name: 'verifymessage',
  category: 'util',
  explorer: 'console',
  chainUse: 'none',
  summary: 'Verify a signed message.',
  params: [
    {
      name: 'address',
      type: 'string',
      required: true,
      description: 'The address to use for the signature',
    },
    {
      name: 'signature',
      type: 'string',
      required: true,
      description: 'The signature provided by the signer in base 64 encoding (see signmessage)',
    },
    { name: 'message', type: 'string', required: true, description: 'The message that was signed' },
  ],
  result: t.bool('whether the signature is valid'),
  examples: [['"bW5PZEvEBNPQRVhwpYXSjabFgbSw1oaHyR"', '"signature"', '"my message"']],
  async run({ services: { params } }, { address, signature, message }) {
    const destination = decodeDestination(address, addressPrefixes(params));
    if (destination === null) throw rpcError(RPC_ERROR.TYPE_ERROR, 'Invalid address');
    if (destination.type !== 'pubkeyhash') {
      throw rpcError(RPC_ERROR.TYPE_ERROR, 'Address does not refer to key');
    }
    const { bytes, valid } = await inSlices(decodeBase64InSlices(signature));
    if (!valid) throw rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, 'Malformed base64 encoding');
    return inSlices(verify(message, bytes, destination.hash));
  },
});
