/** `prioritisetransaction`: adds a fee delta to a transaction. Source: lbrycrd rpc/mining.cpp. */
import { isHex } from '../../../util/bytes.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { defineMethod } from '../../declare/method.js';
import { getReal, parseLooseHash } from '../../declare/paramTypes.js';
import { t } from '../../../schema/schema.js';

export const prioritiseTransaction = defineMethod({
  name: 'prioritisetransaction',
  category: 'mining',
  summary: 'Accepts the transaction into mined blocks at a higher (or lower) priority.',
  params: [
    { name: 'txid', type: 'string', required: true, description: 'The transaction id' },
    {
      name: 'dummy',
      type: 'any',
      required: true,
      description:
        'API-Compatibility for previous API. Must be zero or null. DEPRECATED. For forward compatibility use named ' +
        'arguments and omit this parameter',
    },
    {
      name: 'fee_delta',
      type: 'int64',
      required: true,
      description:
        'The fee value (in satoshis) to add (or subtract, if negative). It is not a fee rate but changes the absolute ' +
        'fee. The fee is not actually paid, only the algorithm for selecting transactions into a block considers the ' +
        'transaction as it would have paid a higher (or lower) fee',
    },
  ],
  result: t.bool('true'),
  examples: [['"txid"', '0.0', '10000']],
  run({ services: { mempoolGate } }, { txid, dummy, fee_delta }) {
    // The reference accepts hex of any length for this parameter. Source: `ParseHashStr`.
    if (txid === '' || !isHex(txid)) {
      throw rpcError(RPC_ERROR.MISC_ERROR, `txid must be hexadecimal string (not '${txid}')`);
    }
    if (dummy !== null && getReal(dummy) !== 0) {
      throw rpcError(
        RPC_ERROR.INVALID_PARAMETER,
        'Priority is no longer supported, dummy argument to prioritisetransaction must be 0.',
      );
    }
    mempoolGate.prioritise(parseLooseHash(txid), fee_delta);
    return true;
  },
});
