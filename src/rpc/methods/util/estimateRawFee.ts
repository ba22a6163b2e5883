/** `estimaterawfee`: internal statistics of the fee estimator for each time horizon. Source: lbrycrd rpc/mining.cpp. */
import type { BucketRange } from '../../../mempool/fees/confirmStats.js';
import { FEE_HORIZONS, type FeeEstimates, type FeeHorizon } from '../../../mempool/fees/feeEstimator.js';
import { coins } from '../../../util/json/json.js';
import type { JsonOut } from '../../../util/json/jsonWrite.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';
import { requireConfirmTarget } from './estimateSmartFee.js';

const RANGE_SCHEMA = t.object({
  startrange: t.num('start of the range of fee rates'),
  endrange: t.num('end of the range of fee rates'),
  withintarget: t.num('transactions over the horizon that confirmed within the target'),
  totalconfirmed: t.num('transactions over the horizon that confirmed at any time'),
  inmempool: t.num('unconfirmed transactions that have waited for at least the target'),
  leftmempool: t.num('transactions over the horizon that left the mempool unconfirmed after the target'),
});

const HORIZON_SCHEMA = t.object({
  feerate: t.optional(t.coins('estimated fee per 1,000 virtual bytes'), 'when there is an estimate'),
  decay: t.num('exponential decay factor of an observation per block'),
  scale: t.int('the resolution of confirmation targets in blocks'),
  pass: t.optional(RANGE_SCHEMA, 'the lowest range of fee rates that meets the threshold'),
  fail: t.optional(RANGE_SCHEMA, 'the highest range of fee rates that does not meet the threshold'),
  errors: t.optional(t.array(t.str('description of the error')), 'if there is no estimate'),
});

/**
 * Rounds to two decimals. C++ `round` rounds halves away from zero. `Math.round` differs only for negative numbers, and
 * negative values here are integers.
 */
function hundredths(value: number): number {
  return Math.round(value * 100) / 100;
}

function rangeAnswer(range: BucketRange): JsonOut {
  return {
    startrange: Math.round(range.startRate),
    endrange: Math.round(range.endRate),
    withintarget: hundredths(range.withinTarget),
    totalconfirmed: hundredths(range.totalConfirmed),
    inmempool: hundredths(range.inMempool),
    leftmempool: hundredths(range.leftMempool),
  };
}

function horizonAnswer(fees: FeeEstimates, target: number, threshold: number, horizon: FeeHorizon): JsonOut {
  const { ratePerKb, detail } = fees.estimateRawFee(target, threshold, horizon);
  const { decay, scale, pass, fail } = detail;
  if (ratePerKb === 0n) {
    const errors = ['Insufficient data or no feerate found which meets threshold'];
    return { decay, scale, fail: rangeAnswer(fail), errors };
  }
  const failed = fail.startRate === -1 ? {} : { fail: rangeAnswer(fail) };
  return { feerate: coins(ratePerKb), decay, scale, pass: rangeAnswer(pass), ...failed };
}

export const estimateRawFee = defineMethod({
  name: 'estimaterawfee',
  category: 'hidden',
  chainUse: 'none',
  summary:
    'WARNING: This interface is unstable and may disappear or change!\n' +
    'WARNING: This is an advanced API call that is tightly coupled to the specific implementation of fee estimation. The ' +
    'parameters it can be called with and the results it returns will change if the internal implementation changes.\n' +
    'Estimates the approximate fee per kilobyte needed for a transaction to begin confirmation within conf_target ' +
    'blocks if possible. Uses virtual transaction size as defined in BIP 141 (witness data is discounted).\n' +
    'Results are returned for any horizon which tracks blocks up to the confirmation target.',
  params: [
    {
      name: 'conf_target',
      type: 'integer',
      required: true,
      strict: true,
      description: 'Confirmation target in blocks (1 - 1008)',
    },
    {
      name: 'threshold',
      type: 'number',
      strict: 'nullable',
      default: 0.95,
      description:
        'The proportion of transactions in a given feerate range that must have been confirmed within conf_target in ' +
        'order to consider those feerates as high enough and proceed to check lower buckets',
    },
  ],
  result: t.object({
    short: t.optional(HORIZON_SCHEMA, 'up to 12 blocks'),
    medium: t.optional(HORIZON_SCHEMA, 'up to 48 blocks'),
    long: HORIZON_SCHEMA,
  }),
  examples: [['6', '0.9']],
  run({ services: { fees } }, { conf_target, threshold }) {
    requireConfirmTarget(fees, conf_target);
    if (threshold < 0 || threshold > 1) throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'Invalid threshold');
    const horizons = FEE_HORIZONS.filter((horizon) => conf_target <= fees.highestTarget(horizon));
    return Object.fromEntries(
      horizons.map((horizon) => [horizon, horizonAnswer(fees, conf_target, threshold, horizon)]),
    );
  },
});
