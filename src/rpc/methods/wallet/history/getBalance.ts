/** `getbalance`: the spendable balance. Source: lbrycrd wallet/rpcwallet.cpp. */
import { coins } from '../../../../util/json/json.js';
import { balance } from '../../../../wallet/ledger/balances.js';
import { legacyBalanceSat } from '../../../../wallet/listing/accountBalances.js';
import { ofOneState } from '../../../../wallet/listing/oneState.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { ACCOUNTS } from '../addresses/accountsOption.js';
import { filterOf, WATCHED_PARAM } from './listedTransaction.js';
import { walletOf } from '../wallets/walletOf.js';

export const getBalance = defineMethod({
  name: 'getbalance',
  category: 'wallet',
  needsWallet: 'one',
  summary:
    'Returns the total available balance.\nThe available balance is what the wallet considers currently spendable, and is\n' +
    'thus affected by options which limit spendability such as -spendzeroconfchange.',
  params: [
    {
      name: 'account|dummy',
      type: 'string',
      description:
        'Must be omitted or "*". With -deprecatedrpc=accounts the account, or "*" for all: the balance is ' +
        'then the sum of all payments in and out, in which conflicting payments are counted twice',
    },
    {
      name: 'minconf',
      type: 'integer',
      defaultText: '0, or 1 with an account',
      description: 'Only include transactions confirmed at least this many times',
    },
    WATCHED_PARAM,
  ],
  result: t.coins('the balance'),
  examples: [[], ['"*"', '6']],
  async run(ctx, { account, minconf, include_watchonly }) {
    const wallet = walletOf(ctx);
    const filter = filterOf(include_watchonly);
    if (account !== undefined && ctx.isDeprecatedEnabled(ACCOUNTS)) {
      const named = account === '*' ? null : account;
      return coins(await ofOneState(wallet, () => legacyBalanceSat(wallet, named, filter, minconf ?? 1)));
    }
    if (account !== undefined && account !== '*') {
      throw rpcError(RPC_ERROR.METHOD_DEPRECATED, 'dummy first argument must be excluded or set to "*".');
    }
    return coins(balance(wallet.ledger, wallet.balanceOptions, filter, minconf ?? 0).trusted);
  },
});
