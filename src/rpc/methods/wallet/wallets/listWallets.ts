/** `listwallets`: the names of the open wallets. Source: lbrycrd wallet/rpcwallet.cpp. */
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { walletsOf } from './walletOf.js';

export const listWallets = defineMethod({
  name: 'listwallets',
  category: 'wallet',
  needsWallet: 'any',
  summary:
    'Returns a list of currently loaded wallets.\nFor full information on the wallet, use "getwalletinfo"',
  params: [],
  result: t.array(t.str('the name of a wallet')),
  examples: [[]],
  run(ctx) {
    return walletsOf(ctx)
      .all()
      .map(({ name }) => name);
  },
});
