/** `removeprunedfunds`: removes a transaction from the wallet. Source: lbrycrd wallet/rpcdump.cpp. */
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { walletOf } from '../wallets/walletOf.js';

export const removePrunedFunds = defineMethod({
  name: 'removeprunedfunds',
  category: 'wallet',
  needsWallet: 'one',
  summary:
    'Deletes the specified transaction from the wallet. Meant for use with pruned wallets and as a companion to ' +
    'importprunedfunds. This will affect wallet balances.',
  params: [
    {
      name: 'txid',
      type: 'looseHash',
      required: true,
      description: 'The hex-encoded id of the transaction you are deleting',
    },
  ],
  result: t.none(),
  examples: [['"a8d0c0184dde994a09ec054286f1ce581bebf46446a512166eae7628734ea0a5"']],
  async run(ctx, { txid }) {
    const wallet = walletOf(ctx);
    const entry = wallet.ledger.find(txid);
    if (entry === undefined)
      throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'Transaction does not exist in wallet.');
    await wallet.change((batch) => wallet.ledger.remove(batch, entry));
    return null;
  },
});
