/** `getmempoolinfo`: statistics of the mempool. */
import { coins } from '../../../../util/json/json.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';

export const getMempoolInfo = defineMethod({
  name: 'getmempoolinfo',
  category: 'blockchain',
  explorer: 'console',
  chainUse: 'reads',
  summary: 'Returns details on the active state of the TX memory pool.',
  params: [],
  result: t.object({
    size: t.int('the number of transactions'),
    bytes: t.int('the sum of their virtual sizes'),
    usage: t.int('bytes of memory in use'),
    maxmempool: t.int('the most that may be in use'),
    mempoolminfee: t.coins('fee per 1,000 virtual bytes for a transaction to be accepted now'),
    minrelaytxfee: t.coins('fee per 1,000 virtual bytes for a transaction to be relayed at all'),
    total_fee: t.optional(t.coins('all fees'), 'but in the lbrycrd profile'),
    unbroadcastcount: t.optional(
      t.int('transactions sent through this node that no peer has asked for'),
      'but in the lbrycrd profile',
    ),
  }),
  examples: [[]],
  run({ services: { mempool }, profile }) {
    return {
      size: mempool.size,
      bytes: mempool.totalSizeBytes,
      usage: mempool.usageBytes,
      maxmempool: mempool.maxUsageBytes,
      mempoolminfee: coins(mempool.minFeeRatePerKb),
      minrelaytxfee: coins(mempool.minRelayFeeRatePerKb),
      total_fee: profile === 'lbrycrd' ? undefined : coins(mempool.totalFeeSat),
      unbroadcastcount: profile === 'lbrycrd' ? undefined : mempool.unbroadcastCount,
    };
  },
});
