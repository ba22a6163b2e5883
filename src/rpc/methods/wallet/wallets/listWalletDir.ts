/** `listwalletdir`: the wallets in the wallet folder. Source: Bitcoin Core 0.18 wallet/rpcwallet.cpp. */
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { walletsOf } from './walletOf.js';

export const listWalletDir = defineMethod({
  name: 'listwalletdir',
  category: 'wallet',
  needsWallet: 'any',
  summary: 'Returns a list of wallets in the wallet directory.',
  params: [],
  result: t.object({ wallets: t.array(t.object({ name: t.str('the name of the wallet') })) }),
  examples: [[]],
  run(ctx) {
    return {
      wallets: walletsOf(ctx)
        .names()
        .map((name) => ({ name })),
    };
  },
});
