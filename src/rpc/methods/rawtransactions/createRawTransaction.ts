/** `createrawtransaction`: an unsigned transaction from inputs and outputs. */
import { formatTransaction } from '../../../primitives/transaction.js';
import { hexOf } from '../../../util/jsonWrite.js';
import { addressPrefixes } from '../../format/addresses.js';
import { defineMethod } from '../../method.js';
import { t } from '../../schema.js';
import { CONSTRUCT_PARAMS, constructTransaction } from './constructTransaction.js';

export const createRawTransaction = defineMethod({
  name: 'createrawtransaction',
  category: 'rawtransactions',
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
  run({ services: { params } }, args) {
    return hexOf(formatTransaction(constructTransaction(args, addressPrefixes(params))));
  },
});
