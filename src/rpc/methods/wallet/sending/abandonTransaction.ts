/**
 * `abandontransaction`: marks an unconfirmed transaction as abandoned, so that its inputs can be spent again. Source:
 * lbrycrd wallet/rpcwallet.cpp.
 */
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { walletOf } from '../wallets/walletOf.js';

export const abandonTransaction = defineMethod({
  name: 'abandontransaction',
  category: 'wallet',
  needsWallet: 'one',
  summary:
    'Mark in-wallet transaction <txid> as abandoned.\nThis will mark this transaction and all its in-wallet descendants ' +
    'as abandoned which will allow for their inputs to be respent. It can be used to replace "stuck" or evicted ' +
    'transactions.\nIt only works on transactions which are not included in a block and are not currently in the ' +
    'mempool.\nIt has no effect on transactions which are already abandoned.',
  params: [{ name: 'txid', type: 'looseHash', required: true, description: 'The transaction id' }],
  result: t.none(),
  examples: [['"1075db55d416d3ca199f55b6084e2115b9345e16c5cf302fc80e9d5fbf5d48d"']],
  async run(ctx, { txid }) {
    const wallet = walletOf(ctx);
    const { ledger } = wallet;
    const entry = ledger.find(txid);
    if (entry === undefined)
      throw rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, 'Invalid or non-wallet transaction id');
    if (entry.state === 'abandoned') return null;
    if (!ledger.canAbandon(entry))
      throw rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, 'Transaction not eligible for abandonment');
    await wallet.change((batch) => ledger.abandon(batch, entry));
    return null;
  },
});
