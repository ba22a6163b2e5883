/** Declarations of the methods of the group stream. */
import { t } from '../../../schema/schema.js';
import { declareMethod, required } from '../declaration.js';
import { listing, txoFilter, uri } from './listParams.js';
import {
  allowDuplicateName,
  bid,
  blocking,
  claimId,
  clearChannel,
  clearFee,
  clearing,
  creating,
  filePath,
  metadata,
  name,
  nout,
  optimizeFile,
  preview,
  replace,
  searchedAccountId,
  signing,
  streamFields,
  txid,
  updating,
  validateFile,
  walletId,
} from './params.js';
import { transaction, txoPage } from './shapes.js';

export const streamAbandon = declareMethod({
  name: 'stream_abandon',
  group: 'stream',
  summary: 'Abandon a stream.',
  usage: [
    '[<claim_id> | --claim_id=<claim_id>] [<txid> | --txid=<txid>] [<nout> | --nout=<nout>]',
    '[--account_id=<account_id>] [--wallet_id=<wallet_id>] [--preview] [--blocking]',
  ],
  params: [claimId, txid, nout, searchedAccountId, walletId, preview, blocking],
  result: transaction,
  needs: ['wallet'],
});

export const streamCostEstimate = declareMethod({
  name: 'stream_cost_estimate',
  group: 'stream',
  summary: 'Estimate the price of a stream.',
  usage: ['(<uri> | --uri=<uri>)'],
  params: [required(uri)],
  result: t.num('price in LBC; 0.0 if the stream is free'),
  needs: ['wallet'],
});

export const streamCreate = declareMethod({
  name: 'stream_create',
  group: 'stream',
  summary: 'Publish a stream.',
  usage: [
    '(<name> | --name=<name>) (<bid> | --bid=<bid>) [<file_path> | --file_path=<file_path>]',
    '[--file_name=<file_name>] [--file_hash=<file_hash>] [--validate_file] [--optimize_file]',
    '[--allow_duplicate_name=<allow_duplicate_name>] [--fee_currency=<fee_currency>]',
    '[--fee_amount=<fee_amount>] [--fee_address=<fee_address>] [--title=<title>]',
    '[--description=<description>] [--author=<author>] [--tags=<tags>...]',
    '[--languages=<languages>...] [--locations=<locations>...] [--license=<license>]',
    '[--license_url=<license_url>] [--thumbnail_url=<thumbnail_url>]',
    '[--release_time=<release_time>] [--width=<width>] [--height=<height>]',
    '[--duration=<duration>] [--sd_hash=<sd_hash>]',
    '[--channel_id=<channel_id> | --channel_name=<channel_name>]',
    '[--channel_account_id=<channel_account_id>...] [--account_id=<account_id>]',
    '[--wallet_id=<wallet_id>] [--claim_address=<claim_address>]',
    '[--funding_account_ids=<funding_account_ids>...] [--preview] [--blocking]',
  ],
  params: [
    required(name),
    required(bid),
    filePath,
    allowDuplicateName,
    ...signing,
    ...creating,
    validateFile,
    optimizeFile,
    ...streamFields,
    ...metadata,
  ],
  result: transaction,
  needs: ['wallet'],
});

export const streamList = declareMethod({
  name: 'stream_list',
  group: 'stream',
  summary: 'List your streams.',
  usage: [
    '[<account_id> | --account_id=<account_id>] [--wallet_id=<wallet_id>] [--name=<name>...]',
    '[--claim_id=<claim_id>...] [--is_spent] [--page=<page>] [--page_size=<page_size>]',
    '[--resolve] [--no_totals]',
  ],
  params: [...listing, ...txoFilter],
  result: txoPage,
  needs: ['wallet'],
});

export const streamRepost = declareMethod({
  name: 'stream_repost',
  group: 'stream',
  summary: 'Repost a claim.',
  usage: [
    '(<name> | --name=<name>) (<bid> | --bid=<bid>) (<claim_id> | --claim_id=<claim_id>)',
    '[--allow_duplicate_name=<allow_duplicate_name>] [--title=<title>]',
    '[--description=<description>] [--tags=<tags>...]',
    '[--channel_id=<channel_id> | --channel_name=<channel_name>]',
    '[--channel_account_id=<channel_account_id>...] [--account_id=<account_id>]',
    '[--wallet_id=<wallet_id>] [--claim_address=<claim_address>]',
    '[--funding_account_ids=<funding_account_ids>...] [--preview] [--blocking]',
  ],
  params: [
    required(name),
    required(bid),
    { name: 'claim_id', type: 'str', description: 'id of the claim to repost', required: true },
    allowDuplicateName,
    ...signing,
    ...creating,
    ...metadata,
  ],
  result: transaction,
  needs: ['wallet'],
});

export const streamUpdate = declareMethod({
  name: 'stream_update',
  group: 'stream',
  summary: 'Update a stream or a repost.',
  usage: [
    '(<claim_id> | --claim_id=<claim_id>) [--bid=<bid>] [--file_path=<file_path>]',
    '[--validate_file] [--optimize_file] [--file_name=<file_name>] [--file_size=<file_size>]',
    '[--file_hash=<file_hash>] [--fee_currency=<fee_currency>] [--fee_amount=<fee_amount>]',
    '[--fee_address=<fee_address>] [--clear_fee] [--title=<title>] [--description=<description>]',
    '[--author=<author>] [--tags=<tags>...] [--clear_tags] [--languages=<languages>...]',
    '[--clear_languages] [--locations=<locations>...] [--clear_locations] [--license=<license>]',
    '[--license_url=<license_url>] [--thumbnail_url=<thumbnail_url>]',
    '[--release_time=<release_time>] [--width=<width>] [--height=<height>]',
    '[--duration=<duration>] [--sd_hash=<sd_hash>]',
    '[--channel_id=<channel_id> | --channel_name=<channel_name> | --clear_channel]',
    '[--channel_account_id=<channel_account_id>...] [--account_id=<account_id>]',
    '[--wallet_id=<wallet_id>] [--claim_address=<claim_address>]',
    '[--funding_account_ids=<funding_account_ids>...] [--preview] [--blocking] [--replace]',
  ],
  params: [
    required(claimId),
    { ...bid, description: 'amount to stake in the claim; default: the present amount' },
    filePath,
    ...signing,
    clearChannel,
    ...updating,
    replace,
    validateFile,
    optimizeFile,
    ...streamFields,
    ...metadata,
    ...clearing,
    clearFee,
  ],
  result: transaction,
  needs: ['wallet'],
});
