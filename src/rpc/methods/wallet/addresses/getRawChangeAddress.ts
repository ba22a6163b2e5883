/** `getrawchangeaddress`: creates a change address for manually created transactions. Source: lbrycrd wallet/rpcwallet.cpp. */
import { newAddress } from '../../../../wallet/keys/newAddress.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { addressTypeOf, ranOut } from './addressArguments.js';
import { requirePrivateKeys, walletOf } from '../wallets/walletOf.js';

export const getRawChangeAddress = defineMethod({
  name: 'getrawchangeaddress',
  category: 'wallet',
  needsWallet: 'one',
  summary:
    'Returns a new address, for receiving change.\nThis is for use with raw transactions, NOT normal use.',
  params: [
    {
      name: 'address_type',
      type: 'string',
      defaultText: '-changetype',
      late: true,
      description: 'The kind of address: legacy, p2sh-segwit or bech32',
    },
  ],
  result: t.str('the address'),
  examples: [[]],
  async run(ctx, { address_type }) {
    const wallet = walletOf(ctx);
    requirePrivateKeys(wallet);
    const { changeType, addressType } = wallet.options;
    const type = addressTypeOf(address_type(), changeType ?? addressType);
    const address = await newAddress(wallet, type, 'change');
    if (address === null) throw ranOut();
    return address;
  },
});
