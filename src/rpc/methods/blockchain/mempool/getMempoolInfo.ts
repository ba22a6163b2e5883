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
    usage: t.int('memory usage in bytes'),
    maxmempool: t.int('maximum memory usage in bytes'),
    mempoolminfee: t.coins('minimum fee rate per 1,000 virtual bytes at which a transaction is accepted now'),
    minrelaytxfee: t.coins('minimum fee rate per 1,000 virtual bytes at which a transaction is relayed'),
    total_fee: t.optional(t.coins('total fees of all transactions'), 'absent in the lbrycrd profile'),
    unbroadcastcount: t.optional(
      t.int('number of transactions submitted to this node that no peer has requested yet'),
      'absent in the lbrycrd profile',
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
