/**
 * `getreceivedbylabel` and `getreceivedbyaccount`: the total amount that the addresses with a label have received. Source:
 * lbrycrd wallet/rpcwallet.cpp.
 */
import { coins } from '../../../../util/json/json.js';
import type { JsonOut } from '../../../../util/json/jsonWrite.js';
import { ofOneState } from '../../../../wallet/listing/oneState.js';
import { receivedByLabelSat } from '../../../../wallet/listing/received.js';
import { defineMethod, type RpcContext } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { accountMethod } from '../addresses/accountsOption.js';
import { checkLabel } from '../addresses/addressArguments.js';
import { MIN_DEPTH_PARAM } from './getReceivedByAddress.js';
import { walletOf } from '../wallets/walletOf.js';

const RESULT = t.coins('the total amount received, without mined coins');

async function received(ctx: RpcContext, label: string, minDepth: number): Promise<JsonOut> {
  const wallet = walletOf(ctx);
  checkLabel(label);
  return coins(await ofOneState(wallet, () => receivedByLabelSat(wallet, label, minDepth)));
}

export const getReceivedByLabel = defineMethod({
  name: 'getreceivedbylabel',
  category: 'wallet',
  needsWallet: 'one',
  summary:
    'Returns the total amount received by addresses with <label> in transactions with at least [minconf] confirmations.',
  params: [
    {
      name: 'label',
      type: 'string',
      required: true,
      description: 'The label; may be empty for addresses without one',
    },
    MIN_DEPTH_PARAM,
  ],
  result: RESULT,
  examples: [['"tabby"', '6']],
  run: (ctx, { label, minconf }) => received(ctx, label, minconf),
});

export const getReceivedByAccount = defineMethod({
  name: 'getreceivedbyaccount',
  category: 'wallet',
  needsWallet: 'one',
  summary:
    'DEPRECATED. Returns the total amount received by addresses with <account> in transactions with at least [minconf] confirmations.',
  params: [{ name: 'account', type: 'string', required: true, description: 'The account' }, MIN_DEPTH_PARAM],
  result: RESULT,
  examples: [['"tabby"', '6']],
  deprecated: accountMethod('getreceivedbyaccount'),
  run: (ctx, { account, minconf }) => received(ctx, account, minconf),
});
