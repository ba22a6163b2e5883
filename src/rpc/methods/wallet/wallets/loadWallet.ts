/** `loadwallet`: opens an existing wallet. Source: lbrycrd wallet/rpcwallet.cpp. */
import { defineMethod } from '../../../declare/method.js';
import { OPENED_WALLET, openedWallet } from './openedWallet.js';
import { walletsOf } from './walletOf.js';

export const loadWallet = defineMethod({
  name: 'loadwallet',
  category: 'wallet',
  needsWallet: 'any',
  summary: 'Loads a wallet from a wallet file or directory.',
  params: [{ name: 'filename', type: 'string', required: true, description: 'The wallet directory or file' }],
  result: OPENED_WALLET,
  examples: [['"savings"']],
  run(ctx, { filename }) {
    return openedWallet(walletsOf(ctx).openExisting(filename));
  },
});
