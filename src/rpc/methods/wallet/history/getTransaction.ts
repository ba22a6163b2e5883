/** `gettransaction`: details of a wallet transaction. Source: lbrycrd wallet/rpcwallet.cpp. */
import { coins } from '../../../../util/json/json.js';
import { creditSat } from '../../../../wallet/listing/amounts.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import { rawTransactionAnswer } from '../../../format/transaction.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { ACCOUNTS } from '../addresses/accountsOption.js';
import {
  filterOf,
  LISTED_DETAIL,
  TRANSACTION_FIELDS,
  transactionFields,
  transactionItems,
  WATCHED_PARAM,
} from './listedTransaction.js';
import { walletOf } from '../wallets/walletOf.js';

export const getTransaction = defineMethod({
  name: 'gettransaction',
  category: 'wallet',
  needsWallet: 'one',
  summary: 'Get detailed information about in-wallet transaction <txid>.',
  params: [
    { name: 'txid', type: 'looseHash', required: true, description: 'The transaction id' },
    WATCHED_PARAM,
  ],
  result: t.openObject({
    amount: t.coins('the net amount without the fee; negative if the wallet sent more than it received'),
    fee: t.optional(t.coins('the fee; negative'), 'if the wallet sent it'),
    ...TRANSACTION_FIELDS,
    details: t.array(LISTED_DETAIL, 'the outputs that concern the wallet'),
    hex: t.hex('the serialized transaction'),
  }),
  examples: [['"1075db55d416d3ca199f55b6084e2115b9345e16c5cf302fc80e9d5fbf5d48d"']],
  run(ctx, { txid, include_watchonly }) {
    const wallet = walletOf(ctx);
    const { ledger } = wallet;
    const filter = filterOf(include_watchonly);
    const entry = ledger.find(txid);
    if (entry === undefined) {
      throw rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, 'Invalid or non-wallet transaction id');
    }
    const record = ledger.record(entry);
    const debitSat = ledger.debit(entry, filter);
    const valueOutSat = record.tx.outputs.reduce((sum, { value }) => sum + value, 0n);
    const isSent = debitSat > 0n;
    const feeSat = isSent ? valueOutSat - debitSat : 0n;
    const selection = { filter, label: null, withAccounts: ctx.isDeprecatedEnabled(ACCOUNTS), minDepth: 0 };
    return {
      amount: coins(creditSat(wallet, entry, filter) - debitSat - feeSat),
      ...(isSent ? { fee: coins(feeSat) } : {}),
      ...transactionFields(wallet, entry, record),
      details: transactionItems(wallet, selection, entry, record, false),
      hex: rawTransactionAnswer(record.tx, ctx.services.options.serializeWitness),
    };
  },
});
