/** Declarations of the methods of the group transaction. */
import { t } from '../../../schema/schema.js';
import { declareMethod } from '../declaration.js';
import { page, pageSize } from './listParams.js';
import { accountId, walletId } from './params.js';
import { transaction, transactionPage } from './shapes.js';

export const transactionList = declareMethod({
  name: 'transaction_list',
  group: 'transaction',
  summary: 'List the transactions of a wallet.',
  usage: [
    '[<account_id> | --account_id=<account_id>] [--wallet_id=<wallet_id>] [--page=<page>]',
    '[--page_size=<page_size>]',
  ],
  params: [accountId, walletId, page, pageSize],
  result: transactionPage,
  needs: ['wallet'],
});

export const transactionShow = declareMethod({
  name: 'transaction_show',
  group: 'transaction',
  summary: 'Return a transaction.',
  usage: ['(<txid> | --txid=<txid>)'],
  params: [{ name: 'txid', type: 'str', description: 'id of the transaction', required: true }],
  result: t.union([
    { when: 'if the transaction is found', schema: transaction },
    {
      when: 'otherwise',
      schema: t.object(
        {
          success: t.bool('false'),
          code: t.int('404'),
          message: t.str('reason of the failure'),
        },
        'an error',
      ),
    },
  ]),
  needs: ['wallet'],
});
