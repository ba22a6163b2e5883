/** Declarations of the methods of the group sync. */
import { t } from '../../../schema/schema.js';
import { declareMethod } from '../declaration.js';
import { blocking, walletId } from './params.js';

export const syncApply = declareMethod({
  name: 'sync_apply',
  group: 'sync',
  summary: 'Merge the wallet of another device into this wallet.',
  details: [
    'If the wallet is encrypted on disk, <password> becomes its password. An unencrypted wallet stays unencrypted.',
  ],
  usage: ['<password> [--data=<data>] [--wallet_id=<wallet_id>] [--blocking]'],
  params: [
    { name: 'password', type: 'str', description: 'password that encrypts the data', required: true },
    {
      name: 'data',
      type: 'str',
      description: 'encrypted data of the other wallet; without it, nothing is merged',
    },
    walletId,
    blocking,
  ],
  result: t.object({
    hash: t.str('hash of the merged wallet in hex'),
    data: t.str('the merged wallet, encrypted with the password'),
  }),
  needs: ['wallet'],
});

export const syncHash = declareMethod({
  name: 'sync_hash',
  group: 'sync',
  summary: 'Return the hash of a wallet, which sync clients compare between devices.',
  usage: ['[<wallet_id> | --wallet_id=<wallet_id>]'],
  params: [walletId],
  result: t.str('the hash in hex'),
  needs: ['wallet'],
});
