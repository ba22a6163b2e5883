/**
 * `listreceivedbylabel` and `listreceivedbyaccount`: the received amount of each label. Source: lbrycrd wallet/rpcwallet.cpp
 * `ListReceived`.
 */
import { coins } from '../../../../util/json/json.js';
import type { JsonOut } from '../../../../util/json/jsonWrite.js';
import { ofOneState } from '../../../../wallet/listing/oneState.js';
import { receiptsByLabel, type ReceiptOptions } from '../../../../wallet/listing/received.js';
import { defineMethod, type RpcContext } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { accountMethod } from '../addresses/accountsOption.js';
import { MIN_DEPTH_PARAM } from './getReceivedByAddress.js';
import { filterOf, WATCHED_PARAM } from './listedTransaction.js';
import { INCLUDE_EMPTY_PARAM, WATCHED_FIELD } from './listReceivedByAddress.js';
import { walletOf } from '../wallets/walletOf.js';

const PARAMS = [MIN_DEPTH_PARAM, INCLUDE_EMPTY_PARAM, WATCHED_PARAM] as const;

const RESULT = t.array(
  t.object({
    involvesWatchonly: WATCHED_FIELD,
    account: t.str('DEPRECATED. The label'),
    amount: t.coins('the total amount received, without mined coins'),
    confirmations: t.int('number of confirmations of the latest transaction'),
    label: t.str('the label'),
  }),
);

async function received(ctx: RpcContext, options: ReceiptOptions): Promise<JsonOut> {
  const wallet = walletOf(ctx);
  const receipts = await ofOneState(wallet, () => receiptsByLabel(wallet, options));
  return receipts.map(({ label, amountSat, confirmations, isWatched }) => ({
    ...(isWatched ? { involvesWatchonly: true } : {}),
    account: label,
    amount: coins(amountSat),
    confirmations,
    label,
  }));
}

interface Args {
  readonly minconf: number;
  readonly include_empty: boolean;
  readonly include_watchonly: boolean;
}

const optionsOf = ({ minconf, include_empty, include_watchonly }: Args): ReceiptOptions => ({
  minDepth: minconf,
  includesEmpty: include_empty,
  filter: filterOf(include_watchonly),
});

export const listReceivedByLabel = defineMethod({
  name: 'listreceivedbylabel',
  category: 'wallet',
  needsWallet: 'one',
  summary: 'List received transactions by label.',
  params: PARAMS,
  result: RESULT,
  examples: [[], ['6', 'true']],
  run: (ctx, args) => received(ctx, optionsOf(args)),
});

export const listReceivedByAccount = defineMethod({
  name: 'listreceivedbyaccount',
  category: 'wallet',
  needsWallet: 'one',
  summary: 'DEPRECATED. List received transactions by account.',
  params: PARAMS,
  result: RESULT,
  examples: [[], ['6', 'true']],
  deprecated: accountMethod('listreceivedbyaccount'),
  run: (ctx, args) => received(ctx, optionsOf(args)),
});
