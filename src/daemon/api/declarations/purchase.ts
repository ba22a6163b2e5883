/** Declarations of the methods of the group purchase. */
import { declareMethod } from '../declaration.js';
import { page, pageSize } from './listParams.js';
import { accountId, blocking, claimId, fundingAccountIds, preview, walletId } from './params.js';
import { transaction, txoPage } from './shapes.js';

export const purchaseCreate = declareMethod({
  name: 'purchase_create',
  group: 'purchase',
  summary: 'Buy a claim.',
  usage: [
    '(--claim_id=<claim_id> | --url=<url>) [--wallet_id=<wallet_id>]',
    '[--funding_account_ids=<funding_account_ids>...] [--allow_duplicate_purchase]',
    '[--override_max_key_fee] [--preview] [--blocking]',
  ],
  params: [
    claimId,
    { name: 'url', type: 'str', description: 'URL of the claim' },
    walletId,
    fundingAccountIds,
    {
      name: 'allow_duplicate_purchase',
      type: 'bool',
      description: 'buy the claim even if the wallet has already bought it',
      default: false,
    },
    {
      name: 'override_max_key_fee',
      type: 'bool',
      description: 'allow a price above the setting `max_key_fee`',
      default: false,
    },
    preview,
    blocking,
  ],
  result: transaction,
  needs: ['wallet'],
});

export const purchaseList = declareMethod({
  name: 'purchase_list',
  group: 'purchase',
  summary: 'List purchases of the wallet.',
  usage: [
    '[<claim_id> | --claim_id=<claim_id>] [--resolve] [--account_id=<account_id>]',
    '[--wallet_id=<wallet_id>] [--page=<page>] [--page_size=<page_size>]',
  ],
  params: [
    {
      name: 'claim_id',
      type: 'strOrList',
      description: 'only purchases of the claims with these ids',
      emptyIsAbsent: true,
    },
    {
      name: 'resolve',
      type: 'bool',
      description: 'include the purchased claims from the claim index',
      default: false,
    },
    accountId,
    walletId,
    page,
    pageSize,
  ],
  result: txoPage,
  needs: ['wallet'],
});
