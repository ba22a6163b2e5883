/** `getmempoolsummary`: fee rates, claim operations and the newest transactions of the mempool. */
import { hashToHex } from '../../../../util/bytes.js';
import { coins } from '../../../../util/json/json.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';

/** Maximum number of newest transactions in the result. Arbitrary: one screen. */
const NEWEST = 25;

const FEERATE = 'fee rate per 1,000 virtual bytes';

export const getMempoolSummary = defineMethod({
  name: 'getmempoolsummary',
  category: 'blockchain',
  explorer: 'console',
  chainUse: 'reads',
  summary:
    'Returns a histogram of the fee rates in the mempool, the number of pending claim operations, and ' +
    'the newest transactions. The data is kept up to date with each change of the mempool, so that the ' +
    'call takes the same time for any mempool size.',
  params: [],
  result: t.object({
    size: t.int('the number of transactions'),
    bytes: t.int('the sum of their virtual sizes'),
    totalFee: t.coins('total fees of all transactions'),
    minFeeRate: t.coins(`minimum ${FEERATE} at which a transaction is accepted now`),
    operations: t.object({
      claim: t.int('number of outputs that create a claim'),
      update: t.int('number of outputs that update a claim'),
      support: t.int('number of outputs that create a support'),
      abandon: t.int('number of claims and supports that are spent without an update'),
    }),
    histogram: t.array(
      t.object({
        feerate: t.coins(
          `lower bound of the ${FEERATE} of this bucket; the next bucket's bound is its upper bound`,
        ),
        count: t.int('number of transactions in the bucket'),
        bytes: t.int('the sum of their virtual sizes'),
        fees: t.coins('total fees of the bucket'),
      }),
      'buckets by fee rate, lowest first; empty buckets are left out',
    ),
    newest: t.array(
      t.object({
        txid: t.hash('the transaction'),
        time: t.time('the time at which it entered the mempool'),
        vsize: t.int('the virtual size in bytes'),
        fee: t.coins('the fee of the transaction'),
        feerate: t.coins(FEERATE),
      }),
      `the ${NEWEST} transactions that entered last, newest first`,
    ),
  }),
  examples: [[]],
  run({ services: { mempool, waiting } }) {
    const { summary, claims } = waiting;
    return {
      size: mempool.size,
      bytes: mempool.totalSizeBytes,
      totalFee: coins(mempool.totalFeeSat),
      minFeeRate: coins(mempool.minFeeRatePerKb),
      operations: { ...claims.counts },
      histogram: summary.buckets().map(({ fromRatePerKb, count, sizeBytes, feesSat }) => ({
        feerate: coins(fromRatePerKb),
        count,
        bytes: sizeBytes,
        fees: coins(feesSat),
      })),
      newest: summary.newest(NEWEST).map(({ txid, timeSec, sizeBytes, feeSat }) => ({
        txid: hashToHex(txid),
        time: timeSec,
        vsize: sizeBytes,
        fee: coins(feeSat),
        feerate: coins((feeSat * 1000n) / BigInt(sizeBytes)),
      })),
    };
  },
});
