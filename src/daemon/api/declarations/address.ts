/** Declarations of the methods of the group address. */
import { t } from '../../../schema/schema.js';
import { declareMethod } from '../declaration.js';
import { page, pageSize } from './listParams.js';
import { accountId, oneAccountId, walletId } from './params.js';
import { addressPage } from './shapes.js';

export const addressIsMine = declareMethod({
  name: 'address_is_mine',
  group: 'address',
  summary: 'Check whether an address belongs to an account.',
  usage: [
    '(<address> | --address=<address>) [<account_id> | --account_id=<account_id>]',
    '[--wallet_id=<wallet_id>]',
  ],
  params: [
    { name: 'address', type: 'str', description: 'the address', required: true },
    oneAccountId,
    walletId,
  ],
  result: t.bool('whether the address belongs to the account'),
  needs: ['wallet'],
});

export const addressList = declareMethod({
  name: 'address_list',
  group: 'address',
  summary: 'List addresses.',
  usage: [
    '[--address=<address>] [--account_id=<account_id>] [--wallet_id=<wallet_id>] [--page=<page>]',
    '[--page_size=<page_size>]',
  ],
  params: [
    { name: 'address', type: 'str', description: 'return only this address' },
    accountId,
    walletId,
    page,
    pageSize,
  ],
  result: addressPage,
  needs: ['wallet'],
});

export const addressUnused = declareMethod({
  name: 'address_unused',
  group: 'address',
  summary: 'Return a receiving address that has not received a payment yet.',
  usage: ['[--account_id=<account_id>] [--wallet_id=<wallet_id>]'],
  params: [oneAccountId, walletId],
  result: t.str('the address'),
  needs: ['wallet'],
});
