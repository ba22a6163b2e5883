/** Declarations of the methods of the group wallet. */
import { t } from '../../../schema/schema.js';
import { declareMethod, required } from '../declaration.js';
import { page, pageSize } from './listParams.js';
import {
  addresses,
  amount,
  blocking,
  confirmations,
  data,
  fundingAccountIds,
  password,
  preview,
  singleKey,
  walletId,
} from './params.js';
import { balance, transaction, wallet, walletPage } from './shapes.js';

export const walletAdd = declareMethod({
  name: 'wallet_add',
  group: 'wallet',
  summary: 'Open a wallet file of the wallet folder.',
  usage: ['(<wallet_id> | --wallet_id=<wallet_id>)'],
  params: [{ name: 'wallet_id', type: 'str', description: 'file name of the wallet', required: true }],
  result: wallet,
  needs: ['wallet'],
});

export const walletBalance = declareMethod({
  name: 'wallet_balance',
  group: 'wallet',
  summary: 'Show the balance of a wallet.',
  usage: ['[--wallet_id=<wallet_id>] [--confirmations=<confirmations>]'],
  params: [walletId, confirmations],
  result: balance,
  needs: ['wallet'],
});

export const walletCreate = declareMethod({
  name: 'wallet_create',
  group: 'wallet',
  summary: 'Create a wallet.',
  usage: ['(<wallet_id> | --wallet_id=<wallet_id>) [--skip_on_startup] [--create_account]', '[--single_key]'],
  params: [
    { name: 'wallet_id', type: 'str', description: 'file name of the wallet', required: true },
    {
      name: 'skip_on_startup',
      type: 'bool',
      description: 'do not open the wallet at the next start of the daemon',
      default: false,
    },
    {
      name: 'create_account',
      type: 'bool',
      description: 'also create an account in the wallet',
      default: false,
    },
    singleKey,
  ],
  result: wallet,
  needs: ['wallet'],
});

export const walletDecrypt = declareMethod({
  name: 'wallet_decrypt',
  group: 'wallet',
  summary: 'Remove the encryption of a wallet.',
  usage: ['[--wallet_id=<wallet_id>]'],
  params: [walletId],
  result: t.bool('true'),
  needs: ['wallet'],
});

export const walletEncrypt = declareMethod({
  name: 'wallet_encrypt',
  group: 'wallet',
  summary: 'Encrypt a wallet, or change its password.',
  usage: ['(<new_password> | --new_password=<new_password>) [--wallet_id=<wallet_id>]'],
  params: [{ name: 'new_password', type: 'str', description: 'the new password', required: true }, walletId],
  result: t.bool('true'),
  needs: ['wallet'],
});

export const walletExport = declareMethod({
  name: 'wallet_export',
  group: 'wallet',
  summary: 'Export a wallet as text.',
  usage: ['[--password=<password>] [--wallet_id=<wallet_id>]'],
  params: [
    {
      name: 'password',
      type: 'str',
      description: 'password that encrypts the text; default: no encryption, the text is JSON',
    },
    walletId,
  ],
  result: t.str('the wallet, encrypted or as JSON'),
  needs: ['wallet'],
});

export const walletImport = declareMethod({
  name: 'wallet_import',
  group: 'wallet',
  summary: 'Add the accounts and preferences of an exported wallet to a wallet.',
  usage: [
    '(<data> | --data=<data>) [<password> | --password=<password>] [--wallet_id=<wallet_id>]',
    '[--blocking]',
  ],
  params: [
    required(data),
    { name: 'password', type: 'str', description: 'password with which the wallet was exported' },
    walletId,
    blocking,
  ],
  result: t.str('the merged wallet, exported in the same form'),
  needs: ['wallet'],
});

export const walletList = declareMethod({
  name: 'wallet_list',
  group: 'wallet',
  summary: 'List the open wallets.',
  usage: ['[--wallet_id=<wallet_id>] [--page=<page>] [--page_size=<page_size>]'],
  params: [{ ...walletId, description: 'return only the wallet with this id' }, page, pageSize],
  result: walletPage,
  needs: ['wallet'],
});

export const walletLock = declareMethod({
  name: 'wallet_lock',
  group: 'wallet',
  summary: 'Lock an unlocked wallet.',
  usage: ['[--wallet_id=<wallet_id>]'],
  params: [walletId],
  result: t.bool('true'),
  needs: ['wallet'],
});

export const walletReconnect = declareMethod({
  name: 'wallet_reconnect',
  group: 'wallet',
  summary: 'Disconnect from the hub and connect again.',
  usage: [],
  params: [],
  result: t.none(),
  // The component `wallet` starts only when a hub is connected. This method must work earlier, because it can open a
  // connection to another hub.
  needs: [],
});

export const walletRemove = declareMethod({
  name: 'wallet_remove',
  group: 'wallet',
  summary: 'Close a wallet. Its file is kept.',
  usage: ['(<wallet_id> | --wallet_id=<wallet_id>)'],
  params: [{ name: 'wallet_id', type: 'str', description: 'id of the wallet', required: true }],
  result: wallet,
  needs: ['wallet'],
});

export const walletSend = declareMethod({
  name: 'wallet_send',
  group: 'wallet',
  summary: 'Send the same amount from a wallet to each address.',
  usage: [
    '<amount> <addresses>... [--wallet_id=<wallet_id>] [--preview] [--change_account_id=None]',
    '[--funding_account_ids=<funding_account_ids>...] [--blocking]',
  ],
  params: [
    required(amount),
    required(addresses),
    walletId,
    {
      name: 'change_account_id',
      type: 'str',
      description: 'id of the account that gets the change; default: the default account',
    },
    fundingAccountIds,
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

export const walletStatus = declareMethod({
  name: 'wallet_status',
  group: 'wallet',
  summary: 'Check whether a wallet is encrypted, locked, and syncing.',
  usage: ['[<wallet_id> | --wallet_id=<wallet_id>]'],
  params: [walletId],
  result: t.object({
    is_encrypted: t.any('whether the wallet is encrypted; null before the wallet component has started'),
    is_locked: t.any('whether the wallet is locked; null before the wallet component has started'),
    is_syncing: t.any(
      'whether transactions of the wallet are still being fetched; null before the wallet component has started',
    ),
  }),
  needs: [],
});

export const walletUnlock = declareMethod({
  name: 'wallet_unlock',
  group: 'wallet',
  summary: 'Unlock an encrypted wallet.',
  usage: ['(<password> | --password=<password>) [--wallet_id=<wallet_id>]'],
  params: [required(password), walletId],
  result: t.bool('whether the password was right'),
  needs: ['wallet'],
});
