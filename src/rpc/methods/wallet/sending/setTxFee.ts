/** `settxfee`: sets the fee rate of the wallet's transactions. Source: lbrycrd wallet/rpcwallet.cpp. */
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { walletOf } from '../wallets/walletOf.js';

export const setTxFee = defineMethod({
  name: 'settxfee',
  category: 'wallet',
  needsWallet: 'one',
  summary:
    'Set the transaction fee per kB for this wallet. Overrides the global -paytxfee command line parameter.',
  params: [
    {
      name: 'amount',
      type: 'amount',
      required: true,
      description: 'The fee in coins for 1,000 virtual bytes',
    },
  ],
  result: t.bool('true'),
  examples: [['0.00001']],
  run(ctx, { amount }) {
    walletOf(ctx).payTxFeeRatePerKb = amount;
    return true;
  },
});
