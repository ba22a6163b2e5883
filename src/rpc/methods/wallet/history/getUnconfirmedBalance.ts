/** `getunconfirmedbalance`: the sum of unconfirmed outputs that are not trusted. Source: lbrycrd wallet/rpcwallet.cpp. */
import { coins } from '../../../../util/json/json.js';
import { pendingSat } from '../../../../wallet/ledger/balances.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { walletOf } from '../wallets/walletOf.js';

export const getUnconfirmedBalance = defineMethod({
  name: 'getunconfirmedbalance',
  category: 'wallet',
  needsWallet: 'one',
  summary: "Returns the server's total unconfirmed balance.",
  params: [],
  result: t.coins('the balance'),
  examples: [[]],
  run(ctx) {
    const wallet = walletOf(ctx);
    return coins(pendingSat(wallet.ledger, wallet.balanceOptions));
  },
});
