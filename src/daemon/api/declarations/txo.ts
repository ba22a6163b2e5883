/** Declarations of the methods of the groups txo and utxo. */
import { t } from '../../../schema/schema.js';
import { declareMethod } from '../declaration.js';
import { listing, txoFilter } from './listParams.js';
import { accountId, blocking, preview, walletId } from './params.js';
import { transaction, txoPage } from './shapes.js';

export const txoList = declareMethod({
  name: 'txo_list',
  group: 'txo',
  summary: 'List transaction outputs.',
  usage: [
    '[--account_id=<account_id>] [--type=<type>...] [--txid=<txid>...] [--claim_id=<claim_id>...]',
    '[--channel_id=<channel_id>...] [--not_channel_id=<not_channel_id>...] [--name=<name>...]',
    '[--is_spent | --is_not_spent]',
    '[--is_my_input_or_output | [[--is_my_output | --is_not_my_output] [--is_my_input | --is_not_my_input]] ]',
    '[--exclude_internal_transfers] [--include_received_tips] [--wallet_id=<wallet_id>]',
    '[--page=<page>] [--page_size=<page_size>] [--resolve] [--order_by=<order_by>][--no_totals]',
  ],
  params: [...listing, ...txoFilter],
  result: txoPage,
  needs: ['wallet'],
});

export const txoPlot = declareMethod({
  name: 'txo_plot',
  group: 'txo',
  summary: 'Sum up transaction outputs per day.',
  usage: [
    '[--account_id=<account_id>] [--type=<type>...] [--txid=<txid>...] [--claim_id=<claim_id>...]',
    '[--name=<name>...] [--is_spent] [--is_not_spent] [--channel_id=<channel_id>...]',
    '[--not_channel_id=<not_channel_id>...]',
    '[--is_my_input_or_output | [[--is_my_output | --is_not_my_output] [--is_my_input | --is_not_my_input]] ]',
    '[--exclude_internal_transfers] [--wallet_id=<wallet_id>]',
    '[--days_back=<days_back> | [--start_day=<start_day> [--days_after=<days_after> | --end_day=<end_day>]] ]',
  ],
  params: [
    accountId,
    walletId,
    {
      name: 'days_back',
      type: 'int',
      description: 'first day as a number of days before today, without start_day',
      default: 0,
    },
    { name: 'start_day', type: 'str', description: 'first day (`YYYY-MM-DD`)' },
    { name: 'days_after', type: 'int', description: 'last day as a number of days after start_day' },
    { name: 'end_day', type: 'str', description: 'last day (`YYYY-MM-DD`)' },
    ...txoFilter,
  ],
  result: t.array(
    t.object({ day: t.str('day (`YYYY-MM-DD`)'), total: t.str('sum of the outputs (LBC as text)') }),
  ),
  needs: ['wallet'],
});

export const txoSpend = declareMethod({
  name: 'txo_spend',
  group: 'txo',
  summary: 'Spend all matching outputs into change, in batches.',
  usage: [
    '[--account_id=<account_id>] [--type=<type>...] [--txid=<txid>...] [--claim_id=<claim_id>...]',
    '[--channel_id=<channel_id>...] [--not_channel_id=<not_channel_id>...] [--name=<name>...]',
    '[--is_my_input | --is_not_my_input] [--exclude_internal_transfers] [--wallet_id=<wallet_id>]',
    '[--preview] [--blocking] [--batch_size=<batch_size>] [--include_full_tx]',
  ],
  params: [
    accountId,
    walletId,
    {
      name: 'batch_size',
      type: 'int',
      description: 'maximum number of outputs that one transaction spends',
      default: 100,
    },
    {
      name: 'include_full_tx',
      type: 'bool',
      description: 'return whole transactions instead of their ids',
      default: false,
    },
    preview,
    blocking,
    ...txoFilter,
  ],
  result: t.array(
    t.union([
      { when: 'with `include_full_tx`', schema: transaction },
      { when: 'otherwise', schema: t.object({ txid: t.hash('id of the transaction') }) },
    ]),
  ),
  needs: ['wallet'],
});

export const txoSum = declareMethod({
  name: 'txo_sum',
  group: 'txo',
  summary: 'Sum up transaction outputs.',
  usage: [
    '[--account_id=<account_id>] [--type=<type>...] [--txid=<txid>...]',
    '[--channel_id=<channel_id>...] [--not_channel_id=<not_channel_id>...]',
    '[--claim_id=<claim_id>...] [--name=<name>...] [--is_spent] [--is_not_spent]',
    '[--is_my_input_or_output | [[--is_my_output | --is_not_my_output] [--is_my_input | --is_not_my_input]] ]',
    '[--exclude_internal_transfers] [--wallet_id=<wallet_id>]',
  ],
  params: [accountId, walletId, ...txoFilter],
  result: t.int('the sum in dewies'),
  needs: ['wallet'],
});

export const utxoList = declareMethod({
  name: 'utxo_list',
  group: 'utxo',
  summary: 'List spendable outputs.',
  usage: [
    '[<account_id> | --account_id=<account_id>] [--wallet_id=<wallet_id>] [--page=<page>]',
    '[--page_size=<page_size>]',
  ],
  params: [...listing, ...txoFilter],
  result: txoPage,
  needs: ['wallet'],
});

export const utxoRelease = declareMethod({
  name: 'utxo_release',
  group: 'utxo',
  summary: 'Release all reserved outputs, for example after a transaction failed.',
  usage: ['[<account_id> | --account_id=<account_id>] [--wallet_id=<wallet_id>]'],
  params: [accountId, walletId],
  result: t.none(),
  needs: ['wallet'],
});
