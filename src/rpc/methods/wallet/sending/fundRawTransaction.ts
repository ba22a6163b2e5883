/** `fundrawtransaction`: adds inputs and change to a transaction. Source: lbrycrd wallet/rpcwallet.cpp. */
import { formatTransactionInSlices } from '../../../../primitives/transactionSlices.js';
import { coins } from '../../../../util/json/json.js';
import { hexOf } from '../../../../util/json/jsonWrite.js';
import { inSlices } from '../../../../scheduler/slices.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import { decodeTransaction } from '../../../format/decodeTransaction.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { FUND_OPTIONS_TEXT, fundByOptions } from './fundOptions.js';
import { walletOf } from '../wallets/walletOf.js';

export const fundRawTransaction = defineMethod({
  name: 'fundrawtransaction',
  category: 'rawtransactions',
  needsWallet: 'one',
  summary:
    'Add inputs to a transaction until it has enough in value to meet its out value.\nThis will not modify existing ' +
    'inputs, and will add at most one change output to the outputs.\nNo existing outputs will be modified unless ' +
    '"subtractFeeFromOutputs" is specified.\nNote that inputs which were signed may need to be resigned after completion ' +
    'since in/outputs have been added.\nThe inputs added will not be signed, use signrawtransactionwithwallet for that.\n' +
    'Note that all existing inputs must have their previous output transaction be in the wallet.\nNote that all inputs ' +
    'selected must be of standard form and P2SH scripts must be in the wallet using importaddress or addmultisigaddress ' +
    '(to calculate fees).',
  params: [
    {
      name: 'hexstring',
      type: 'string',
      required: true,
      strict: true,
      description: 'The hex string of the raw transaction',
    },
    {
      name: 'options',
      type: 'any',
      description: `${FUND_OPTIONS_TEXT}. For backward compatibility a boolean, as includeWatching`,
    },
    {
      name: 'iswitness',
      type: 'boolean',
      strict: true,
      defaultText: 'detected automatically',
      description: 'Whether the transaction hex is a serialized witness transaction',
    },
  ],
  result: t.object({
    hex: t.hex('the resulting raw transaction'),
    fee: t.coins('the fee that it pays'),
    changepos: t.int('the position of the added change output, or -1'),
  }),
  examples: [['"rawtransactionhex"']],
  async run(ctx, { hexstring, options, iswitness }) {
    const wallet = walletOf(ctx);
    const tx = await decodeTransaction(hexstring, iswitness !== true, iswitness !== false);
    if (tx === null) throw rpcError(RPC_ERROR.DESERIALIZATION_ERROR, 'TX decode failed');
    const funded = await fundByOptions(wallet, tx, options);
    const hex = hexOf(await inSlices(formatTransactionInSlices(funded.tx)));
    return { hex, fee: coins(funded.feeSat), changepos: funded.changePosition };
  },
});
