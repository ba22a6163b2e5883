/** `getnewaddress`: creates a receiving address. Source: lbrycrd wallet/rpcwallet.cpp. */
import { newAddress } from '../../../../wallet/keys/newAddress.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { addressTypeOf, checkLabel, ranOut } from './addressArguments.js';
import { requirePrivateKeys, walletOf } from '../wallets/walletOf.js';

export const getNewAddress = defineMethod({
  name: 'getnewaddress',
  category: 'wallet',
  needsWallet: 'one',
  summary:
    "Returns a new address for receiving payments.\nIf 'label' is specified, it is added to the address book\n" +
    "so payments received with the address will be associated with 'label'.",
  params: [
    {
      name: 'label|account',
      type: 'string',
      default: '',
      late: true,
      description: 'The label of the address; it need not exist',
    },
    {
      name: 'address_type',
      type: 'string',
      defaultText: '-addresstype',
      late: true,
      description: 'The kind of address: legacy, p2sh-segwit or bech32',
    },
  ],
  result: t.str('the new address'),
  examples: [[]],
  async run(ctx, args) {
    const wallet = walletOf(ctx);
    requirePrivateKeys(wallet);
    const label = checkLabel(args.label());
    const type = addressTypeOf(args.address_type(), wallet.options.addressType);
    const address = await newAddress(wallet, type, { label });
    if (address === null) throw ranOut();
    return address;
  },
});
