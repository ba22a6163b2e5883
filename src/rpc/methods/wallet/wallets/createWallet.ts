/** `createwallet`: creates a wallet and opens it. Source: lbrycrd wallet/rpcwallet.cpp. */
import { defineMethod } from '../../../declare/method.js';
import { OPENED_WALLET, openedWallet } from './openedWallet.js';
import { walletsOf } from './walletOf.js';

export const createWallet = defineMethod({
  name: 'createwallet',
  category: 'wallet',
  needsWallet: 'any',
  summary: 'Creates and loads a new wallet.',
  params: [
    {
      name: 'wallet_name',
      type: 'string',
      required: true,
      description: 'The name of the new wallet; a path creates it at that location',
    },
    {
      name: 'disable_private_keys',
      type: 'boolean',
      default: false,
      description: 'Create a wallet without private keys, only to watch addresses',
    },
  ],
  result: OPENED_WALLET,
  examples: [['"testwallet"']],
  run(ctx, { wallet_name, disable_private_keys }) {
    return openedWallet(walletsOf(ctx).create(wallet_name, !disable_private_keys));
  },
});
