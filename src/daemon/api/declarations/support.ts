/** Declarations of the methods of the group support. */
import { t } from '../../../schema/schema.js';
import { declareMethod, required } from '../declaration.js';
import { listing, page, pageSize, txoFilter } from './listParams.js';
import {
  accountId,
  amount,
  blocking,
  claimId,
  fundingAccountIds,
  nout,
  preview,
  signing,
  txid,
  walletId,
} from './params.js';
import { pageOf, transaction, txoPage } from './shapes.js';

export const supportAbandon = declareMethod({
  name: 'support_abandon',
  group: 'support',
  summary: 'Take supports back.',
  usage: [
    '[--claim_id=<claim_id>] [(--txid=<txid> --nout=<nout>)] [--keep=<keep>]',
    '[--account_id=<account_id>] [--wallet_id=<wallet_id>] [--preview] [--blocking]',
  ],
  params: [
    claimId,
    txid,
    nout,
    { name: 'keep', type: 'lbc', description: 'amount that stays as support' },
    accountId,
    walletId,
    preview,
    blocking,
  ],
  result: transaction,
  needs: ['wallet'],
});

export const supportCreate = declareMethod({
  name: 'support_create',
  group: 'support',
  summary: 'Support a claim, or tip it.',
  usage: [
    '(<claim_id> | --claim_id=<claim_id>) (<amount> | --amount=<amount>) [--tip]',
    '[--account_id=<account_id>] [--wallet_id=<wallet_id>]',
    '[--channel_id=<channel_id> | --channel_name=<channel_name>]',
    '[--channel_account_id=<channel_account_id>...] [--comment=<comment>] [--preview]',
    '[--blocking] [--funding_account_ids=<funding_account_ids>...]',
  ],
  params: [
    required(claimId),
    required(amount),
    { name: 'tip', type: 'bool', description: 'give the amount away instead of keeping it', default: false },
    ...signing,
    accountId,
    walletId,
    fundingAccountIds,
    { name: 'comment', type: 'str', description: 'words to go with it' },
    preview,
    blocking,
  ],
  result: transaction,
  needs: ['wallet'],
});

export const supportList = declareMethod({
  name: 'support_list',
  group: 'support',
  summary: 'List supports.',
  usage: [
    '[<account_id> | --account_id=<account_id>] [--wallet_id=<wallet_id>] [--name=<name>...]',
    '[--claim_id=<claim_id>...] [--received | --sent | --staked] [--is_spent] [--page=<page>]',
    '[--page_size=<page_size>] [--no_totals]',
  ],
  params: [
    ...listing,
    { name: 'received', type: 'bool', description: 'that you were given' },
    { name: 'sent', type: 'bool', description: 'that you gave to claims of others' },
    { name: 'staked', type: 'bool', description: 'that you gave to your own claims' },
    ...txoFilter,
  ],
  result: txoPage,
  needs: ['wallet'],
});

export const supportSum = declareMethod({
  name: 'support_sum',
  group: 'support',
  summary: 'Sum up the supports of a claim by the channels that gave them.',
  usage: [
    '<claim_id> <new_sdk_server> [--include_channel_content] [--page=<page>]',
    '[--page_size=<page_size>]',
  ],
  params: [
    required(claimId),
    {
      name: 'new_sdk_server',
      type: 'str',
      description: 'taken for the sake of older clients; the hub is asked',
      required: true,
    },
    {
      name: 'include_channel_content',
      type: 'bool',
      description: 'with the supports of all claims in the channel',
      default: false,
    },
    page,
    pageSize,
  ],
  result: pageOf(
    'SupportSum',
    t.object(
      {
        channel_id: t.claimId('the channel'),
        channel_name: t.str('its name'),
        supporter: t.str('its URL'),
        staked: t.str('sum of its supports (LBC as text)'),
        supports: t.int('number of its supports'),
      },
      'the sum of one channel',
    ),
  ),
  needs: ['wallet'],
});
