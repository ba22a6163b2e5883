/** `decoderawtransaction`: decodes a serialized transaction. */
import { decodeTransaction } from '../../format/decodeTransaction.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { scriptContextOf } from '../../format/scriptContext.js';
import { shownTransactionInSlices, transactionAnswer, TRANSACTION_SCHEMA } from '../../format/transaction.js';
import { defineMethod } from '../../declare/method.js';
import { inSlices } from '../../../scheduler/slices.js';

export const decodeRawTransaction = defineMethod({
  name: 'decoderawtransaction',
  category: 'rawtransactions',
  explorer: 'console',
  chainUse: 'none',
  summary: 'Return a JSON object representing the serialized, hex-encoded transaction.',
  params: [
    {
      name: 'hexstring',
      type: 'string',
      required: true,
      strict: true,
      description: 'The transaction hex string',
    },
    {
      name: 'iswitness',
      type: 'boolean',
      strict: true,
      defaultText: 'whichever form can be decoded',
      description:
        'Whether the transaction hex is a serialized witness transaction. By default both forms are tried',
    },
  ],
  result: TRANSACTION_SCHEMA,
  examples: [['"hexstring"']],
  async run({ services, profile }, { hexstring, iswitness }) {
    const tx = await decodeTransaction(hexstring, iswitness !== true, iswitness !== false);
    if (tx === null) throw rpcError(RPC_ERROR.DESERIALIZATION_ERROR, 'TX decode failed');
    const shown = await inSlices(shownTransactionInSlices(tx));
    return transactionAnswer(shown, scriptContextOf(services, profile));
  },
});
