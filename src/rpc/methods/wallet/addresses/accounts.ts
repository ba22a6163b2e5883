/** Deprecated account methods, except those that share code with label methods. Source: lbrycrd wallet/rpcwallet.cpp. */
import { coins } from '../../../../util/json/json.js';
import { jsonArray, jsonObject, type JsonMember } from '../../../../util/json/jsonWrite.js';
import { accountBalances, moveBetweenAccounts } from '../../../../wallet/listing/accountBalances.js';
import { labelOf } from '../../../../wallet/listing/amounts.js';
import { labelAddress } from '../../../../wallet/listing/labelAddress.js';
import { ofOneState } from '../../../../wallet/listing/oneState.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { accountMethod } from './accountsOption.js';
import { checkLabel, ranOut } from './addressArguments.js';
import { addressKey } from './addressOf.js';
import { MIN_DEPTH_PARAM } from '../history/getReceivedByAddress.js';
import { filterOf, WATCHED_PARAM } from '../history/listedTransaction.js';
import { walletOf } from '../wallets/walletOf.js';

export const getAccount = defineMethod({
  name: 'getaccount',
  category: 'wallet',
  needsWallet: 'one',
  summary: 'DEPRECATED. Returns the account associated with the given address.',
  params: [{ name: 'address', type: 'string', required: true, description: 'The address' }],
  result: t.str('the account; empty for the default one'),
  examples: [['"bW5PZEvEBNPQRVhwpYXSjabFgbSw1oaHyR"']],
  deprecated: accountMethod('getaccount'),
  run(ctx, { address }) {
    const wallet = walletOf(ctx);
    return labelOf(wallet, addressKey(wallet, address));
  },
});

export const getAccountAddress = defineMethod({
  name: 'getaccountaddress',
  category: 'wallet',
  needsWallet: 'one',
  summary: 'DEPRECATED. Returns the current address for receiving payments to this account.',
  params: [
    {
      name: 'account',
      type: 'string',
      required: true,
      description: 'The account; empty for the default one. It need not exist',
    },
  ],
  result: t.str('the address; a new one is returned after the previous one has received a payment'),
  examples: [['""'], ['"myaccount"']],
  deprecated: accountMethod('getaccountaddress'),
  async run(ctx, { account }) {
    const wallet = walletOf(ctx);
    const address = await labelAddress(wallet, checkLabel(account));
    if (address === null) throw ranOut();
    return address;
  },
});

export const getAddressesByAccount = defineMethod({
  name: 'getaddressesbyaccount',
  category: 'wallet',
  needsWallet: 'one',
  summary: 'DEPRECATED. Returns the list of addresses for the given account.',
  params: [{ name: 'account', type: 'string', required: true, description: 'The account' }],
  result: t.array(t.str('an address')),
  examples: [['"tabby"']],
  deprecated: accountMethod('getaddressesbyaccount'),
  run(ctx, { account }) {
    const { book } = walletOf(ctx);
    checkLabel(account);
    return jsonArray(book.destinationsWithLabel(account).map((key) => book.destinations().get(key)!));
  },
});

export const listAccounts = defineMethod({
  name: 'listaccounts',
  category: 'wallet',
  needsWallet: 'one',
  summary: 'DEPRECATED. Returns Object that has account names as keys, account balances as values.',
  params: [MIN_DEPTH_PARAM, WATCHED_PARAM],
  result: t.map('account', t.coins('its balance')),
  examples: [[], ['6']],
  deprecated: accountMethod('listaccounts'),
  async run(ctx, { minconf, include_watchonly }) {
    const wallet = walletOf(ctx);
    const filter = filterOf(include_watchonly);
    const balances = await ofOneState(wallet, () => accountBalances(wallet, filter, minconf));
    return jsonObject(balances.map(([account, sat]): JsonMember => [account, coins(sat)]));
  },
});

export const moveMethod = defineMethod({
  name: 'move',
  category: 'wallet',
  needsWallet: 'one',
  summary: 'DEPRECATED. Move a specified amount from one account in your wallet to another.',
  params: [
    {
      name: 'fromaccount',
      type: 'string',
      required: true,
      description: 'The account to move funds from; empty for the default one',
    },
    {
      name: 'toaccount',
      type: 'string',
      required: true,
      description: 'The account to move funds to; empty for the default one',
    },
    { name: 'amount', type: 'amount', required: true, description: 'The amount to move, in coins' },
    { name: 'minconf', type: 'integer', description: 'Ignored' },
    { name: 'comment', type: 'string', default: '', description: 'A comment, kept in the wallet only' },
  ],
  result: t.bool('always true'),
  examples: [['""', '"tabby"', '0.01']],
  deprecated: accountMethod('move'),
  async run(ctx, { fromaccount, toaccount, amount, comment }) {
    const wallet = walletOf(ctx);
    checkLabel(fromaccount);
    checkLabel(toaccount);
    if (amount <= 0n) throw rpcError(RPC_ERROR.TYPE_ERROR, 'Invalid amount for send');
    await wallet.change((batch) =>
      moveBetweenAccounts(wallet, batch, fromaccount, toaccount, amount, comment),
    );
    return true;
  },
});
