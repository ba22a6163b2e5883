/** `walletlock`: locks the private keys. Source: lbrycrd wallet/rpcwallet.cpp. */
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { requireEncrypted } from './passphraseArgument.js';
import { walletOf } from './walletOf.js';

export const walletLock = defineMethod({
  name: 'walletlock',
  category: 'wallet',
  needsWallet: 'one',
  summary:
    'Locks the wallet and removes its key from memory. Calls that need private keys require ' +
    'walletpassphrase afterwards.',
  params: [],
  result: t.none(),
  examples: [[]],
  run(ctx) {
    const wallet = walletOf(ctx);
    requireEncrypted(wallet, 'walletlock');
    wallet.lock();
    return null;
  },
});
