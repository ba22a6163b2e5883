/** `getmempoolsummary`: fee rates, claim operations and the newest transactions of the mempool. */
import { hashToHex } from '../../../../util/bytes.js';
import { coins } from '../../../../util/json/json.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';

/** Maximum number of newest transactions in the result. Arbitrary: one screen. */
const NEWEST = 25;

const FEERATE = 'fee for 1,000 virtual bytes';

export const getMempoolSummary = defineMethod({
  name: 'getmempoolsummary',
  category: 'blockchain',
  explorer: 'console',
  chainUse: 'reads',
  summary:
    'Returns how many transactions of the mempool pay which fee rate, how many claim operations wait, and the newest ' +
    'transactions. Kept as the mempool changes, so that it takes the same time however full that is.',
  params: [],
  result: t.object({
    size: t.int('the number of transactions'),
    bytes: t.int('the sum of their virtual sizes'),
    totalFee: t.coins('all fees'),
    minFeeRate: t.coins(`${FEERATE} that a transaction must pay to be accepted now`),
    operations: t.object({
      claim: t.int('claims that are made'),
      update: t.int('claims that are updated'),
      support: t.int('supports that are made'),
      abandon: t.int('claims and supports that are spent and not updated'),
    }),
    histogram: t.array(
      t.object({
        feerate: t.coins(`${FEERATE} that these pay at least; less than the next entry's bound`),
        count: t.int('how many they are'),
        bytes: t.int('the sum of their virtual sizes'),
        fees: t.coins('their fees'),
      }),
      'by fee rate, the lowest first; rates that nothing pays are left out',
    ),
    newest: t.array(
      t.object({
        txid: t.hash('the transaction'),
        time: t.time('when it came'),
        vsize: t.int('its virtual size'),
        fee: t.coins('its fee'),
        feerate: t.coins(FEERATE),
      }),
      `the ${NEWEST} that came last, the newest first`,
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
