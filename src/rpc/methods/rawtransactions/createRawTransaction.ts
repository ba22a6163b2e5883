/** `createrawtransaction`: creates an unsigned transaction from inputs and outputs. */
import { formatTransactionInSlices } from '../../../primitives/transactionSlices.js';
import { hexOf } from '../../../util/json/jsonWrite.js';
import { inSlices } from '../../../scheduler/slices.js';
import { addressPrefixes } from '../../format/addresses.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';
import { constructLbcdTransaction } from './constructLbcdTransaction.js';
import { CONSTRUCT_PARAMS, constructTransaction } from './constructTransaction.js';

export const createRawTransaction = defineMethod({
  name: 'createrawtransaction',
  category: 'rawtransactions',
  chainUse: 'none',
  summary:
    'Create a transaction spending the given inputs and creating new outputs.\nOutputs can be addresses or data. Returns ' +
    "hex-encoded raw transaction.\nNote that the transaction's inputs are not signed, and it is not stored in the wallet " +
    'or transmitted to the network.',
  params: CONSTRUCT_PARAMS,
  result: t.hex('the unsigned transaction'),
  examples: [
    ['[{"txid":"myid","vout":0}]', '[{"address":0.01}]'],
    ['[{"txid":"myid","vout":0}]', '[{"data":"00010203"}]'],
  ],
  async run({ services: { params }, profile }, args) {
    const construct = profile === 'lbcd' ? constructLbcdTransaction : constructTransaction;
    const made = construct(args, addressPrefixes(params));
    return hexOf(await inSlices(formatTransactionInSlices(await inSlices(made))));
  },
});
