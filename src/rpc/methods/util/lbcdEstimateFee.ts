/** lbcd's `estimatefee`: a fee rate, estimated like `estimatesmartfee`. Source: lbcd rpcserver.go. */
import { coins } from '../../../util/json/json.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';

export const lbcdEstimateFee = defineMethod({
  name: 'estimatefee',
  category: 'util',
  chainUse: 'none',
  summary:
    'Estimates the fee per kilobyte needed for a transaction to begin confirmation within numblocks blocks.',
  params: [
    { name: 'numblocks', type: 'int64', required: true, description: 'Number of blocks until confirmation' },
  ],
  result: t.coins('estimated fee per 1,000 virtual bytes'),
  examples: [['6']],
  profiles: ['lbcd'],
  run({ services: { fees } }, { numblocks }) {
    if (numblocks <= 0n) throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'Parameter NumBlocks must be positive');
    const highest = fees.highestTarget('long');
    const target = numblocks > BigInt(highest) ? highest : Number(numblocks);
    const { ratePerKb } = fees.estimateSmartFee(target, true);
    if (ratePerKb === 0n)
      throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'not enough transactions seen for estimation');
    return coins(ratePerKb);
  },
});
