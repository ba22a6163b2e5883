/** `getnewaddress`: an address to receive at. Source: lbrycrd wallet/rpcwallet.cpp. */
import { newAddress } from '../../../wallet/keys/newAddress.js';
import { defineMethod } from '../../method.js';
import { t } from '../../../schema/schema.js';
import { addressTypeOf, checkLabel, ranOut } from './addressArguments.js';
import { requirePrivateKeys, walletOf } from './walletOf.js';

export const getNewAddress = defineMethod({
  name: 'getnewaddress',
  category: 'wallet',
  needsWallet: true,
  summary:
    "Returns a new address for receiving payments.\nIf 'label' is specified, it is added to the address book\n" +
    "so payments received with the address will be associated with 'label'.",
  params: [
    {
      name: 'label|account',
      type: 'string',
      default: '',
      description: 'The label of the address; it need not exist',
    },
    {
      name: 'address_type',
      type: 'string',
      defaultText: '-addresstype',
      description: 'The kind of address: legacy, p2sh-segwit or bech32',
    },
  ],
  result: t.str('the new address'),
  examples: [[]],
  async run(ctx, { label, address_type }) {
    const wallet = walletOf(ctx);
    requirePrivateKeys(wallet);
    checkLabel(label);
    const type = addressTypeOf(address_type, wallet.options.addressType);
    const address = await newAddress(wallet, type, { label });
    if (address === null) throw ranOut();
    return address;
  },
});
