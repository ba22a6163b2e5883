/** Declarations of the methods of the group account. */
import { t } from '../../../schema/schema.js';
import { declareMethod, required } from '../declaration.js';
import { page, pageSize } from './listParams.js';
import {
  accountId,
  accountName,
  addresses,
  amount,
  blocking,
  confirmations,
  preview,
  singleKey,
  walletId,
} from './params.js';
import { account, accountPage, addedAccount, balance, transaction } from './shapes.js';

export const accountAdd = declareMethod({
  name: 'account_add',
  group: 'account',
  summary: 'Add an account from a seed, a private key or, to watch only, a public key.',
  details: [
    "A BIP39 or BIP32 seed of another wallet needs the path from its root to the account: m/44'/140'/0' for P2PKH addresses, " +
      "m/84'/140'/0' for witness addresses (P2WPKH). The answer names the form of seed or key in `form`.",
    'A witness account pays and is paid, but cannot hold claims or supports. lbrynet reads its keys, but not the type of ' +
      'its addresses.',
  ],
  usage: [
    '(<account_name> | --account_name=<account_name>)',
    '(--seed=<seed> | --private_key=<private_key> | --public_key=<public_key>) [--single_key]',
    '[--path=<path>] [--passphrase=<passphrase>]',
    '[--wallet_id=<wallet_id>]',
  ],
  params: [
    required(accountName),
    walletId,
    singleKey,
    {
      name: 'seed',
      type: 'str',
      description:
        'words of the seed: of lbry-sdk, or of BIP39 with a path; or a BIP32 seed in hex with a path',
    },
    { name: 'private_key', type: 'str', description: 'extended private key' },
    {
      name: 'public_key',
      type: 'str',
      description: 'extended public key, for an account that can only watch',
    },
    {
      name: 'path',
      type: 'str',
      description: 'derivation path from the root of the BIP39 seed or key to the account',
    },
    { name: 'passphrase', type: 'str', description: 'passphrase of the BIP39 seed' },
  ],
  result: addedAccount,
  needs: ['wallet'],
});

export const accountBalance = declareMethod({
  name: 'account_balance',
  group: 'account',
  summary: 'Show the balance of an account.',
  usage: [
    '[<account_id>] [<address> | --address=<address>] [--wallet_id=<wallet_id>]',
    '[<confirmations> | --confirmations=<confirmations>]',
  ],
  params: [accountId, walletId, confirmations],
  result: balance,
  needs: ['wallet'],
});

export const accountCreate = declareMethod({
  name: 'account_create',
  group: 'account',
  summary: 'Create an account with a new seed.',
  usage: ['(<account_name> | --account_name=<account_name>) [--single_key] [--wallet_id=<wallet_id>]'],
  params: [required(accountName), singleKey, walletId],
  result: account,
  needs: ['wallet'],
});

export const accountDeposit = declareMethod({
  name: 'account_deposit',
  group: 'account',
  summary: 'Spend a time-locked output into an account.',
  usage: [
    '<txid> <nout> <redeem_script> <private_key> [<to_account> | --to_account=<to_account>]',
    '[--wallet_id=<wallet_id>] [--preview] [--blocking]',
  ],
  params: [
    { name: 'txid', type: 'str', description: 'the transaction', required: true },
    { name: 'nout', type: 'int', description: 'its output', required: true },
    { name: 'redeem_script', type: 'str', description: 'the redeem script in hex', required: true },
    {
      name: 'private_key',
      type: 'str',
      description: 'the private key, in wallet import format',
      required: true,
    },
    { name: 'to_account', type: 'str', description: 'account that is paid' },
    walletId,
    preview,
    blocking,
  ],
  result: transaction,
  needs: ['wallet'],
});

export const accountFund = declareMethod({
  name: 'account_fund',
  group: 'account',
  summary: 'Pay from one account to another.',
  details: ['The transaction is made, and sent with `broadcast`.'],
  usage: [
    '[<to_account> | --to_account=<to_account>] [<from_account> | --from_account=<from_account>]',
    '(<amount> | --amount=<amount> | --everything) [<outputs> | --outputs=<outputs>]',
    '[--wallet_id=<wallet_id>] [--broadcast]',
  ],
  params: [
    { name: 'to_account', type: 'str', description: 'account that is paid' },
    { name: 'from_account', type: 'str', description: 'account that pays' },
    { name: 'amount', type: 'lbc', description: 'how much' },
    { name: 'everything', type: 'bool', description: 'all that can be spent; claims stay', default: false },
    { name: 'outputs', type: 'int', description: 'equal outputs to split the amount into', default: 1 },
    { name: 'broadcast', type: 'bool', description: 'send the transaction', default: false },
    walletId,
  ],
  result: transaction,
  needs: ['wallet'],
});

export const accountList = declareMethod({
  name: 'account_list',
  group: 'account',
  summary: 'List the accounts of a wallet.',
  usage: [
    '[<account_id>] [--wallet_id=<wallet_id>] [--confirmations=<confirmations>]',
    '[--include_claims] [--show_seed] [--page=<page>] [--page_size=<page_size>]',
  ],
  params: [
    accountId,
    walletId,
    confirmations,
    {
      name: 'include_claims',
      type: 'bool',
      description: 'taken for the sake of older clients; `account_balance` shows the amounts in claims',
      default: false,
    },
    { name: 'show_seed', type: 'bool', description: 'show seeds', default: false },
    page,
    pageSize,
  ],
  result: accountPage,
  needs: ['wallet'],
});

export const accountMaxAddressGap = declareMethod({
  name: 'account_max_address_gap',
  group: 'account',
  summary: 'Find the longest runs of unused addresses before a used one.',
  details: ['A wallet made from the seed elsewhere finds all payments if its gaps are larger than these.'],
  usage: ['(<account_id> | --account_id=<account_id>) [--wallet_id=<wallet_id>]'],
  params: [{ name: 'account_id', type: 'str', description: 'the account', required: true }, walletId],
  result: t.object({
    max_change_gap: t.int('of change addresses'),
    max_receiving_gap: t.int('of receiving addresses'),
  }),
  needs: ['wallet'],
});

export const accountRemove = declareMethod({
  name: 'account_remove',
  group: 'account',
  summary: 'Remove an account from the wallet.',
  usage: ['(<account_id> | --account_id=<account_id>) [--wallet_id=<wallet_id>]'],
  params: [{ name: 'account_id', type: 'str', description: 'the account', required: true }, walletId],
  result: account,
  needs: ['wallet'],
});

export const accountSend = declareMethod({
  name: 'account_send',
  group: 'account',
  summary: 'Send the same amount to each address, from one account.',
  usage: [
    '<amount> <addresses>... [--account_id=<account_id>] [--wallet_id=<wallet_id>] [--preview]',
    '[--blocking]',
  ],
  params: [required(amount), required(addresses), accountId, walletId, preview, blocking],
  result: transaction,
  needs: ['wallet'],
});

export const accountSet = declareMethod({
  name: 'account_set',
  group: 'account',
  summary: 'Change the settings of an account.',
  usage: [
    '(<account_id> | --account_id=<account_id>) [--wallet_id=<wallet_id>] [--default]',
    '[--new_name=<new_name>] [--change_gap=<change_gap>] [--change_max_uses=<change_max_uses>]',
    '[--receiving_gap=<receiving_gap>] [--receiving_max_uses=<receiving_max_uses>]',
  ],
  params: [
    { name: 'account_id', type: 'str', description: 'the account', required: true },
    walletId,
    { name: 'default', type: 'bool', description: 'make it the default account', default: false },
    { name: 'new_name', type: 'str', description: 'new name' },
    { name: 'change_gap', type: 'int', description: 'unused change addresses ahead' },
    { name: 'change_max_uses', type: 'int', description: 'uses of a change address' },
    { name: 'receiving_gap', type: 'int', description: 'unused receiving addresses ahead' },
    { name: 'receiving_max_uses', type: 'int', description: 'uses of a receiving address' },
  ],
  result: account,
  needs: ['wallet'],
});
