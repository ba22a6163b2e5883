/** `testmempoolaccept`: tests whether `sendrawtransaction` would accept a transaction. Source: lbrycrd rpc/rawtransaction.cpp. */
import { txidInSlices } from '../../../primitives/transactionSlices.js';
import { hashToHex } from '../../../util/bytes.js';
import { inSlices } from '../../../scheduler/slices.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { defineMethod } from '../../declare/method.js';
import { getString } from '../../declare/paramTypes.js';
import { t } from '../../../schema/schema.js';
import { requireTransaction } from './sendRawTransaction.js';

export const testMempoolAccept = defineMethod({
  name: 'testmempoolaccept',
  category: 'rawtransactions',
  chainUse: 'reads',
  summary:
    'Returns if raw transaction (serialized, hex-encoded) would be accepted by mempool.\nThis checks if the transaction ' +
    'violates the consensus or policy rules.\nSee sendrawtransaction call.',
  params: [
    {
      name: 'rawtxs',
      type: 'array',
      required: true,
      strict: true,
      description: 'An array of hex strings of raw transactions. Its length must be one for now',
    },
    {
      name: 'allowhighfees',
      type: 'boolean',
      default: false,
      strict: true,
      description: 'Allow high fees',
    },
  ],
  result: t.array(
    t.object({
      txid: t.hash('the transaction hash'),
      allowed: t.bool('whether the mempool allows this transaction to be inserted'),
      'reject-reason': t.optional(t.str('the rejection: code and reason'), "when 'allowed' is false"),
    }),
    'one result for each raw transaction',
  ),
  examples: [['["signedhex"]']],
  async run({ services: { mempoolGate, options } }, { rawtxs, allowhighfees }) {
    const [first] = rawtxs;
    if (first === undefined || rawtxs.length !== 1) {
      throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'Array must contain exactly one raw transaction for now');
    }
    const tx = await requireTransaction(getString(first));
    const { accepted, error } = await mempoolGate.acceptToMempool(tx, {
      maxFeeSat: allowhighfees ? 0n : options.maxTxFeeSat,
      testOnly: true,
    });
    const reason = error ? `${error.rejectCode}: ${error.reason}` : 'missing-inputs';
    const txid = hashToHex(await inSlices(txidInSlices(tx)));
    return [accepted ? { txid, allowed: true } : { txid, allowed: false, 'reject-reason': reason }];
  },
});
