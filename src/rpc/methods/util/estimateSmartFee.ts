/** `estimatesmartfee`: estimates the fee rate for confirmation within a number of blocks. Source: lbrycrd rpc/mining.cpp. */
import type { FeeEstimates } from '../../../mempool/fees/feeEstimator.js';
import { coins } from '../../../util/json/json.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';

/**
 * Checks that a confirmation target is in the range that the estimator tracks. Throws error -8 otherwise. Source:
 * `ParseConfirmTarget`.
 */
export function requireConfirmTarget(fees: FeeEstimates, target: number): void {
  const highest = fees.highestTarget('long');
  if (target >= 1 && target <= highest) return;
  throw rpcError(RPC_ERROR.INVALID_PARAMETER, `Invalid conf_target, must be between 1 - ${highest}`);
}

const MODES = ['UNSET', 'ECONOMICAL', 'CONSERVATIVE'];

export const estimateSmartFee = defineMethod({
  name: 'estimatesmartfee',
  category: 'util',
  explorer: 'console',
  chainUse: 'none',
  summary:
    'Estimates the approximate fee per kilobyte needed for a transaction to begin confirmation within conf_target ' +
    'blocks if possible and return the number of blocks for which the estimate is valid. Uses virtual transaction size ' +
    'as defined in BIP 141 (witness data is discounted).\n' +
    'The request target will be clamped between 2 and the highest target fee estimation is able to return based on how ' +
    'long it has been running. An error is returned if not enough transactions and blocks have been observed to make an ' +
    'estimate for any number of blocks.',
  params: [
    {
      name: 'conf_target',
      type: 'integer',
      required: true,
      strict: true,
      description: 'Confirmation target in blocks (1 - 1008)',
    },
    {
      name: 'estimate_mode',
      type: 'string',
      strict: true,
      defaultText: 'CONSERVATIVE',
      description:
        'The fee estimate mode: "UNSET" (as CONSERVATIVE), "ECONOMICAL" or "CONSERVATIVE". A conservative estimate also ' +
        'satisfies a longer history: it may be higher and is more likely to be sufficient for the desired target, but ' +
        'is not as responsive to short term drops in the prevailing fee market',
    },
  ],
  result: t.object({
    feerate: t.optional(t.coins('estimated fee per 1,000 virtual bytes'), 'when there is an estimate'),
    errors: t.optional(t.array(t.str('description of the error')), 'if there is no estimate'),
    blocks: t.int('the confirmation target for which the estimate is valid'),
  }),
  examples: [['6']],
  run({ services: { fees } }, { conf_target, estimate_mode = 'UNSET' }) {
    requireConfirmTarget(fees, conf_target);
    if (!MODES.includes(estimate_mode)) {
      throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'Invalid estimate_mode parameter');
    }
    const { ratePerKb, blocks } = fees.estimateSmartFee(conf_target, estimate_mode !== 'ECONOMICAL');
    if (ratePerKb === 0n) return { errors: ['Insufficient data or no feerate found'], blocks };
    return { feerate: coins(ratePerKb), blocks };
  },
});
