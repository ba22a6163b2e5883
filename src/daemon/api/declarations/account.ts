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
  oneAccountId,
  preview,
  singleKey,
  walletId,
} from './params.js';
import { account, accountPage, addedAccount, balance, transaction } from './shapes.js';

export const accountAdd = declareMethod({
  name: 'account_add',
  group: 'account',
  summary: 'Add an account from a seed or a private key, or a watch-only account from a public key.',
  details: [
    "A BIP39 or BIP32 seed of another wallet needs the path from its root to the account: m/44'/140'/0' for P2PKH addresses, " +
      "m/84'/140'/0' for witness addresses (P2WPKH). The field `form` of the result names the format of the seed or key.",
    'A witness account can send and receive payments, but cannot hold claims or supports. lbrynet reads the keys of such an ' +
      'account, but ignores the type of its addresses.',
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
      description: 'seed words of lbry-sdk; or BIP39 words or a BIP32 seed in hex, which both need a path',
    },
    { name: 'private_key', type: 'str', description: 'extended private key' },
    {
      name: 'public_key',
      type: 'str',
      description: 'extended public key of a watch-only account',
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
  params: [oneAccountId, walletId, confirmations],
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
    { name: 'txid', type: 'str', description: 'id of the transaction with the output', required: true },
    { name: 'nout', type: 'int', description: 'index of the output in the transaction', required: true },
    { name: 'redeem_script', type: 'str', description: 'redeem script of the output in hex', required: true },
    {
      name: 'private_key',
      type: 'str',
      description: 'private key in wallet import format',
      required: true,
    },
    {
      name: 'to_account',
      type: 'str',
      description: 'id of the account that gets the amount; default: the default account',
    },
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
  details: ['Without `broadcast` the transaction is only returned, not sent.'],
  usage: [
    '[<to_account> | --to_account=<to_account>] [<from_account> | --from_account=<from_account>]',
    '(<amount> | --amount=<amount> | --everything) [<outputs> | --outputs=<outputs>]',
    '[--wallet_id=<wallet_id>] [--broadcast]',
  ],
  params: [
    {
      name: 'to_account',
      type: 'str',
      description: 'id of the account that gets the amount; default: the default account',
    },
    {
      name: 'from_account',
      type: 'str',
      description: 'id of the account that pays; default: the default account',
    },
    { name: 'amount', type: 'lbc', description: 'amount to pay; required without `everything`' },
    {
      name: 'everything',
      type: 'bool',
      description: 'pay all spendable outputs; claims and supports stay',
      default: false,
    },
    {
      name: 'outputs',
      type: 'int',
      description: 'number of equal outputs into which the amount is split',
      default: 1,
    },
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
      description:
        'accepted for older clients, without effect; `account_balance` returns the amounts in claims',
      default: false,
    },
    { name: 'show_seed', type: 'bool', description: 'include the seed words', default: false },
    page,
    pageSize,
  ],
  result: accountPage,
  needs: ['wallet'],
});

export const accountMaxAddressGap = declareMethod({
  name: 'account_max_address_gap',
  group: 'account',
  summary: 'Find the longest run of consecutive unused addresses before a used address.',
  details: [
    'Another wallet that restores the seed finds all payments if its gap limits are larger than these numbers.',
  ],
  usage: ['(<account_id> | --account_id=<account_id>) [--wallet_id=<wallet_id>]'],
  params: [{ name: 'account_id', type: 'str', description: 'id of the account', required: true }, walletId],
  result: t.object({
    max_change_gap: t.int('longest run of unused change addresses'),
    max_receiving_gap: t.int('longest run of unused receiving addresses'),
  }),
  needs: ['wallet'],
});

export const accountRemove = declareMethod({
  name: 'account_remove',
  group: 'account',
  summary: 'Remove an account from the wallet.',
  usage: ['(<account_id> | --account_id=<account_id>) [--wallet_id=<wallet_id>]'],
  params: [{ name: 'account_id', type: 'str', description: 'id of the account', required: true }, walletId],
  result: account,
  needs: ['wallet'],
});

export const accountSend = declareMethod({
  name: 'account_send',
  group: 'account',
  summary: 'Send the same amount from one account to each address.',
  usage: [
    '<amount> <addresses>... [--account_id=<account_id>] [--wallet_id=<wallet_id>] [--preview]',
    '[--blocking]',
  ],
  params: [
    required(amount),
    required(addresses),
    {
      ...accountId,
      description:
        'id of the account that pays; default: all accounts of the wallet pay, and the default account gets the change',
    },
    walletId,
    preview,
    blocking,
  ],
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
    { name: 'account_id', type: 'str', description: 'id of the account', required: true },
    walletId,
    { name: 'default', type: 'bool', description: 'make it the default account', default: false },
    { name: 'new_name', type: 'str', description: 'new name of the account' },
    { name: 'change_gap', type: 'int', description: 'number of unused change addresses that are kept ahead' },
    {
      name: 'change_max_uses',
      type: 'int',
      description: 'maximum number of transactions per change address',
    },
    {
      name: 'receiving_gap',
      type: 'int',
      description: 'number of unused receiving addresses that are kept ahead',
    },
    {
      name: 'receiving_max_uses',
      type: 'int',
      description: 'maximum number of transactions per receiving address',
    },
  ],
  result: account,
  needs: ['wallet'],
});
