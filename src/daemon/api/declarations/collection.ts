/** Declarations of the methods of the group collection. */
import { t } from '../../../schema/schema.js';
import { declareMethod, required } from '../declaration.js';
import { page, pageSize, resolve } from './listParams.js';
import {
  accountId,
  allowDuplicateName,
  bid,
  blocking,
  claimId,
  claims,
  clearChannel,
  clearClaims,
  clearLanguages,
  clearing,
  coverUrl,
  creating,
  metadata,
  name,
  nout,
  preview,
  replace,
  searchedAccountId,
  signing,
  txid,
  updating,
  walletId,
} from './params.js';
import { pageOf, transaction, txo, txoPage } from './shapes.js';

export const collectionAbandon = declareMethod({
  name: 'collection_abandon',
  group: 'collection',
  summary: 'Abandon a collection.',
  usage: [
    '[<claim_id> | --claim_id=<claim_id>] [<txid> | --txid=<txid>] [<nout> | --nout=<nout>]',
    '[--account_id=<account_id>] [--wallet_id=<wallet_id>] [--preview] [--blocking]',
  ],
  params: [claimId, txid, nout, searchedAccountId, walletId, preview, blocking],
  result: transaction,
  needs: ['wallet'],
});

export const collectionCreate = declareMethod({
  name: 'collection_create',
  group: 'collection',
  summary: 'Create a collection.',
  usage: [
    '(<name> | --name=<name>) (<bid> | --bid=<bid>) (--claims=<claims>...)',
    '[--allow_duplicate_name] [--title=<title>] [--description=<description>] [--tags=<tags>...]',
    '[--languages=<languages>...] [--locations=<locations>...] [--thumbnail_url=<thumbnail_url>]',
    '[--channel_id=<channel_id> | --channel_name=<channel_name>]',
    '[--channel_account_id=<channel_account_id>...] [--account_id=<account_id>]',
    '[--wallet_id=<wallet_id>] [--claim_address=<claim_address>]',
    '[--funding_account_ids=<funding_account_ids>...] [--preview] [--blocking]',
  ],
  params: [
    required(name),
    required(bid),
    required(claims),
    allowDuplicateName,
    ...signing,
    ...creating,
    ...metadata,
    clearLanguages,
  ],
  result: transaction,
  needs: ['wallet'],
});

export const collectionList = declareMethod({
  name: 'collection_list',
  group: 'collection',
  summary: 'List your collections.',
  usage: [
    '[--resolve_claims=<resolve_claims>] [--resolve] [<account_id> | --account_id=<account_id>]',
    '[--wallet_id=<wallet_id>] [--page=<page>] [--page_size=<page_size>]',
  ],
  params: [
    {
      name: 'resolve_claims',
      type: 'int',
      description: 'include this many claims of each collection from the claim index',
      default: 0,
    },
    resolve,
    accountId,
    walletId,
    page,
    pageSize,
  ],
  result: txoPage,
  needs: ['wallet'],
});

export const collectionResolve = declareMethod({
  name: 'collection_resolve',
  group: 'collection',
  summary: 'Return the claims of a collection from the claim index.',
  usage: [
    '(--claim_id=<claim_id> | --url=<url>) [--wallet_id=<wallet_id>] [--page=<page>]',
    '[--page_size=<page_size>]',
  ],
  params: [
    {
      name: 'claim_id',
      type: 'str',
      description: 'id of the collection; either claim_id or url is required',
    },
    { name: 'url', type: 'str', description: 'URL of the collection' },
    walletId,
    { name: 'page', type: 'int', description: 'number of the page', default: 1 },
    {
      name: 'page_size',
      type: 'int',
      description: 'maximum number of items per page, at most 50',
      default: 20,
    },
  ],
  result: pageOf(
    'CollectedClaim',
    t.union([
      { when: 'if the claim is found', schema: txo },
      { when: 'otherwise', schema: t.none() },
    ]),
  ),
  needs: ['wallet'],
});

export const collectionUpdate = declareMethod({
  name: 'collection_update',
  group: 'collection',
  summary: 'Update a collection.',
  usage: [
    '(<claim_id> | --claim_id=<claim_id>) [--bid=<bid>] [--claims=<claims>...] [--clear_claims]',
    '[--title=<title>] [--description=<description>] [--tags=<tags>...] [--clear_tags]',
    '[--languages=<languages>...] [--clear_languages] [--locations=<locations>...]',
    '[--clear_locations] [--thumbnail_url=<thumbnail_url>] [--cover_url=<cover_url>]',
    '[--channel_id=<channel_id> | --channel_name=<channel_name>]',
    '[--channel_account_id=<channel_account_id>...] [--account_id=<account_id>]',
    '[--wallet_id=<wallet_id>] [--claim_address=<claim_address>]',
    '[--funding_account_ids=<funding_account_ids>...] [--preview] [--blocking] [--replace]',
  ],
  params: [
    required(claimId),
    { ...bid, description: 'amount to stake in the claim; default: the present amount' },
    ...signing,
    clearChannel,
    ...updating,
    replace,
    claims,
    clearClaims,
    ...metadata,
    coverUrl,
    ...clearing,
  ],
  result: transaction,
  needs: ['wallet'],
});
