/** Declarations of the methods of the group support. */
import { t } from '../../../schema/schema.js';
import { declareMethod, required } from '../declaration.js';
import { listing, page, pageSize, txoFilter } from './listParams.js';
import {
  amount,
  blocking,
  claimId,
  fundingAccountIds,
  holderAccountId,
  nout,
  preview,
  searchedAccountId,
  signing,
  txid,
  walletId,
} from './params.js';
import { pageOf, transaction, txoPage } from './shapes.js';

export const supportAbandon = declareMethod({
  name: 'support_abandon',
  group: 'support',
  summary: 'Spend supports and get their amounts back.',
  usage: [
    '[--claim_id=<claim_id>] [(--txid=<txid> --nout=<nout>)] [--keep=<keep>]',
    '[--account_id=<account_id>] [--wallet_id=<wallet_id>] [--preview] [--blocking]',
  ],
  params: [
    { ...claimId, description: 'id of the supported claim' },
    txid,
    nout,
    { name: 'keep', type: 'lbc', description: 'amount that stays staked, as one new support' },
    searchedAccountId,
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
  summary: 'Support a claim, or send a tip to its owner.',
  usage: [
    '(<claim_id> | --claim_id=<claim_id>) (<amount> | --amount=<amount>) [--tip]',
    '[--account_id=<account_id>] [--wallet_id=<wallet_id>]',
    '[--channel_id=<channel_id> | --channel_name=<channel_name>]',
    '[--channel_account_id=<channel_account_id>...] [--comment=<comment>] [--preview]',
    '[--blocking] [--funding_account_ids=<funding_account_ids>...]',
  ],
  params: [
    required(claimId),
    required({ ...amount, description: 'amount to stake in the claim or to send as a tip' }),
    {
      name: 'tip',
      type: 'bool',
      description: 'pay the amount to the owner of the claim instead of keeping it',
      default: false,
    },
    ...signing,
    holderAccountId,
    walletId,
    fundingAccountIds,
    { name: 'comment', type: 'str', description: 'comment to store in the support' },
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
    { name: 'received', type: 'bool', description: 'only tips that the wallet received' },
    { name: 'sent', type: 'bool', description: 'only tips that the wallet sent to others' },
    { name: 'staked', type: 'bool', description: 'only supports that the wallet created and owns' },
    ...txoFilter,
  ],
  result: txoPage,
  needs: ['wallet'],
});

export const supportSum = declareMethod({
  name: 'support_sum',
  group: 'support',
  summary: 'Sum up the supports of a claim by the channels that signed them.',
  usage: [
    '<claim_id> <new_sdk_server> [--include_channel_content] [--page=<page>]',
    '[--page_size=<page_size>]',
  ],
  params: [
    required(claimId),
    {
      name: 'new_sdk_server',
      type: 'str',
      description: 'accepted for older clients, without effect',
      required: true,
    },
    {
      name: 'include_channel_content',
      type: 'bool',
      description: 'if the claim is a channel, include the supports of all claims that it signed',
      default: false,
    },
    page,
    pageSize,
  ],
  result: pageOf(
    'SupportSum',
    t.object(
      {
        channel_id: t.claimId('id of the channel that signed the supports'),
        channel_name: t.str('name of the channel'),
        supporter: t.str('URL of the channel'),
        staked: t.str('sum of the supports (LBC as text)'),
        supports: t.int('number of the supports'),
      },
      'supports of one channel',
    ),
  ),
  needs: ['wallet'],
});
