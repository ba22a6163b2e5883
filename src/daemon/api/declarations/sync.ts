/** Declarations of the methods of the group sync. */
import { t } from '../../../schema/schema.js';
import { declareMethod } from '../declaration.js';
import { blocking, walletId } from './params.js';

export const syncApply = declareMethod({
  name: 'sync_apply',
  group: 'sync',
  summary: 'Join a wallet of another device into this one.',
  details: [
    'When the wallet is encrypted on disk, its password becomes <password>. A wallet that is not encrypted stays so.',
  ],
  usage: ['<password> [--data=<data>] [--wallet_id=<wallet_id>] [--blocking]'],
  params: [
    { name: 'password', type: 'str', description: 'under which the data is encrypted', required: true },
    { name: 'data', type: 'str', description: 'the other wallet; nothing is joined without it' },
    walletId,
    blocking,
  ],
  result: t.object({
    hash: t.str('hash of the joined wallet in hex'),
    data: t.str('the joined wallet, encrypted'),
  }),
  needs: ['wallet'],
});

export const syncHash = declareMethod({
  name: 'sync_hash',
  group: 'sync',
  summary: 'Show the hash by which wallets on several devices are compared.',
  usage: ['[<wallet_id> | --wallet_id=<wallet_id>]'],
  params: [walletId],
  result: t.str('the hash in hex'),
  needs: ['wallet'],
});
