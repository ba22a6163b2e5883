/** Declarations of the methods of the group channel. */
import { t } from '../../../schema/schema.js';
import { declareMethod, required } from '../declaration.js';
import { listing, txoFilter } from './listParams.js';
import {
  allowDuplicateName,
  bid,
  blocking,
  channelAccountId,
  channelId,
  channelName,
  claimId,
  clearFeatured,
  clearing,
  coverUrl,
  creating,
  email,
  featured,
  fundingAccountIds,
  metadata,
  nout,
  preview,
  replace,
  searchedAccountId,
  txid,
  updatedClaimAddress,
  walletId,
  websiteUrl,
} from './params.js';
import { transaction, txoPage } from './shapes.js';

export const channelAbandon = declareMethod({
  name: 'channel_abandon',
  group: 'channel',
  summary: 'Abandon a channel.',
  usage: [
    '[<claim_id> | --claim_id=<claim_id>] [<txid> | --txid=<txid>] [<nout> | --nout=<nout>]',
    '[--account_id=<account_id>] [--wallet_id=<wallet_id>] [--preview] [--blocking]',
  ],
  params: [
    claimId,
    txid,
    nout,
    searchedAccountId,
    walletId,
    preview,
    {
      name: 'blocking',
      type: 'bool',
      description: 'wait until the wallet has processed the transaction',
      default: true,
    },
  ],
  result: transaction,
  needs: ['wallet'],
});

export const channelCreate = declareMethod({
  name: 'channel_create',
  group: 'channel',
  summary: 'Create a channel.',
  usage: [
    '(<name> | --name=<name>) (<bid> | --bid=<bid>)',
    '[--allow_duplicate_name=<allow_duplicate_name>] [--title=<title>]',
    '[--description=<description>] [--email=<email>] [--website_url=<website_url>]',
    '[--featured=<featured>...] [--tags=<tags>...] [--languages=<languages>...]',
    '[--locations=<locations>...] [--thumbnail_url=<thumbnail_url>] [--cover_url=<cover_url>]',
    '[--account_id=<account_id>] [--wallet_id=<wallet_id>] [--claim_address=<claim_address>]',
    '[--funding_account_ids=<funding_account_ids>...] [--preview] [--blocking]',
  ],
  params: [
    { name: 'name', type: 'str', description: 'name of the channel, which begins with @', required: true },
    required(bid),
    allowDuplicateName,
    ...creating,
    ...metadata,
    email,
    websiteUrl,
    featured,
    coverUrl,
  ],
  result: transaction,
  needs: ['wallet'],
});

export const channelExport = declareMethod({
  name: 'channel_export',
  group: 'channel',
  summary: 'Export the signing key of a channel.',
  usage: [
    '(<channel_id> | --channel_id=<channel_id> | --channel_name=<channel_name>)',
    '[--account_id=<account_id>...] [--wallet_id=<wallet_id>]',
  ],
  params: [
    { name: 'channel_id', type: 'str', description: 'id of the channel' },
    { name: 'channel_name', type: 'str', description: 'name of the channel' },
    {
      name: 'account_id',
      type: 'strOrList',
      description: 'ids of the accounts to search for the channel; default: all accounts',
      emptyIsAbsent: true,
    },
    walletId,
  ],
  result: t.str('the key with the data that another wallet needs, as one line of text'),
  needs: ['wallet'],
});

export const channelImport = declareMethod({
  name: 'channel_import',
  group: 'channel',
  summary: 'Import the signing key of a channel.',
  usage: ['(<channel_data> | --channel_data=<channel_data>) [--wallet_id=<wallet_id>]'],
  params: [
    { name: 'channel_data', type: 'str', description: 'text that channel_export returned', required: true },
    walletId,
  ],
  result: t.str('a sentence with the name of the channel'),
  needs: ['wallet'],
});

export const channelList = declareMethod({
  name: 'channel_list',
  group: 'channel',
  summary: 'List your channels.',
  usage: [
    '[<account_id> | --account_id=<account_id>] [--wallet_id=<wallet_id>] [--name=<name>...]',
    '[--claim_id=<claim_id>...] [--is_spent] [--page=<page>] [--page_size=<page_size>]',
    '[--resolve] [--no_totals]',
  ],
  params: [...listing, ...txoFilter],
  result: txoPage,
  needs: ['wallet'],
});

export const channelSign = declareMethod({
  name: 'channel_sign',
  group: 'channel',
  summary: 'Sign data with the signing key of a channel.',
  usage: [
    '[<channel_name> | --channel_name=<channel_name>] [<channel_id> | --channel_id=<channel_id>]',
    '[<hexdata> | --hexdata=<hexdata>] [<salt> | --salt=<salt>]',
    '[--channel_account_id=<channel_account_id>...] [--wallet_id=<wallet_id>]',
  ],
  params: [
    channelName,
    channelId,
    { name: 'hexdata', type: 'str', description: 'data to sign, in hex; required' },
    {
      name: 'salt',
      type: 'str',
      description: 'text that is signed together with the data; default: the current Unix time',
    },
    channelAccountId,
    walletId,
  ],
  result: t.object({
    signature: t.str('the signature in hex'),
    signing_ts: t.str('same as salt'),
    salt: t.str('text that was signed together with the data'),
  }),
  needs: ['wallet'],
});

export const channelUpdate = declareMethod({
  name: 'channel_update',
  group: 'channel',
  summary: 'Update a channel.',
  usage: [
    '(<claim_id> | --claim_id=<claim_id>) [<bid> | --bid=<bid>] [--title=<title>]',
    '[--description=<description>] [--email=<email>] [--website_url=<website_url>]',
    '[--featured=<featured>...] [--clear_featured] [--tags=<tags>...] [--clear_tags]',
    '[--languages=<languages>...] [--clear_languages] [--locations=<locations>...]',
    '[--clear_locations] [--thumbnail_url=<thumbnail_url>] [--cover_url=<cover_url>]',
    '[--account_id=<account_id>] [--wallet_id=<wallet_id>] [--claim_address=<claim_address>]',
    '[--new_signing_key] [--funding_account_ids=<funding_account_ids>...] [--preview]',
    '[--blocking] [--replace]',
  ],
  params: [
    required(claimId),
    { ...bid, description: 'amount to stake in the claim; default: the present amount' },
    searchedAccountId,
    walletId,
    updatedClaimAddress,
    fundingAccountIds,
    {
      name: 'new_signing_key',
      type: 'bool',
      description:
        'replace the signing key with a new key, which invalidates all earlier signatures of the channel',
      default: false,
    },
    preview,
    blocking,
    replace,
    ...metadata,
    email,
    websiteUrl,
    featured,
    coverUrl,
    clearFeatured,
    ...clearing,
  ],
  result: transaction,
  needs: ['wallet'],
});
