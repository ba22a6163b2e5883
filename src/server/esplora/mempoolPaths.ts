/**
 * Esplora paths for the mempool and for fees. Source: Esplora API.md "Mempool", "Fee estimates"; mempool backend
 * bitcoin.routes.ts.
 */
import { t, type SchemaFields } from '../../schema/schema.js';
import { hashToHex, type Bytes } from '../../util/bytes.js';
import { jsonArray, type JsonOut } from '../../util/json/jsonWrite.js';
import { inSlices } from '../../scheduler/slices.js';
import { whenResolved } from '../../util/maybePromise.js';
import type { EsploraCall, EsploraNode, EsploraPath } from './declaration.js';
import type { ProjectedBlock, RecommendedFees } from './feeProjection.js';
import { jsonReply } from './reply.js';

/** Number of transactions in the list of recent transactions. Source: electrs `RECENT_TXS_SIZE`. */
const RECENT_TXS = 10;
/** Confirmation targets of the fee estimates, in blocks. Source: electrs `CONF_TARGETS`. */
const TARGETS = [...Array.from({ length: 25 }, (_, n) => n + 1), 144, 504, 1008];

const RECENT_SCHEMA = t.named(
  'EsploraRecent',
  t.object({
    txid: t.hash('the transaction'),
    fee: t.sats('its fee'),
    vsize: t.int('its virtual size'),
    value: t.sats('the sum of its outputs'),
  }),
);

const FEE_FIELDS: SchemaFields = {
  fastestFee: t.num('satoshis per virtual byte for the next block'),
  halfHourFee: t.num('for the second block'),
  hourFee: t.num('for the third block'),
  economyFee: t.num('at most twice the minimum rate'),
  minimumFee: t.num('the minimum rate of the mempool'),
};
const FEES_SCHEMA = t.named('EsploraFees', t.object(FEE_FIELDS));

const MEMPOOL_BLOCK_SCHEMA = t.named(
  'EsploraMempoolBlock',
  t.object({
    blockSize: t.int('the sum of virtual sizes'),
    blockVSize: t.num('a quarter of the weight'),
    nTx: t.int('the number of transactions'),
    totalFees: t.sats('their fees'),
    medianFee: t.num('the median rate of the block, in satoshis per virtual byte'),
    feeRange: t.array(t.num('a rate'), 'seven rates, from the lowest to the highest'),
  }),
);

export function feesAnswer(fees: RecommendedFees): JsonOut {
  return { ...fees };
}

export function mempoolBlockAnswer(block: ProjectedBlock): JsonOut {
  return { ...block, feeRange: [...block.feeRange] };
}

/** The latest mempool transactions, the newest first. */
function recentAnswer({ services }: EsploraNode, count = RECENT_TXS): JsonOut[] {
  const { mempool, waiting } = services;
  return waiting.summary.newest(count).map(({ txid, feeSat, sizeBytes }) => ({
    txid: hashToHex(txid),
    fee: feeSat,
    vsize: sizeBytes,
    value: (mempool.transaction(txid)?.outputs ?? []).reduce((sum, { value }) => sum + value, 0n),
  }));
}

/** Size and fees of the mempool, with the histogram in Electrum's format: the highest fee rate first. */
function backlogAnswer({ services }: EsploraNode): Record<string, JsonOut> {
  const { mempool, waiting } = services;
  return {
    count: mempool.size,
    vsize: mempool.totalSizeBytes,
    total_fee: mempool.totalFeeSat,
    fee_histogram: waiting.summary
      .buckets()
      .reverse()
      .map(({ fromRatePerKb, sizeBytes }) => [Number(fromRatePerKb) / 1000, sizeBytes]),
  };
}

function* shown(txids: readonly Bytes[]): Generator<JsonOut> {
  for (const txid of txids) yield hashToHex(txid);
}

function estimates({ services: { fees } }: EsploraCall): Record<string, number> {
  const answer: Record<string, number> = {};
  for (const target of TARGETS) {
    const { ratePerKb } = fees.estimateSmartFee(target, true);
    if (ratePerKb > 0n) answer[target] = Number(ratePerKb) / 1000;
  }
  return answer;
}

const BASE = { method: 'GET', source: 'Esplora', params: {}, needs: [], cost: 'memory' } as const;

export const MEMPOOL_PATHS: readonly EsploraPath[] = [
  {
    ...BASE,
    path: '/api/mempool',
    follows: 'chainAndMempool',
    summary: 'Size and fees of the mempool.',
    answer: {
      kind: 'json',
      schema: t.object({
        count: t.int('the number of transactions'),
        vsize: t.int('the sum of their virtual sizes'),
        total_fee: t.sats('their fees'),
        fee_histogram: t.array(
          t.tuple([
            t.num('satoshis per virtual byte'),
            t.int('virtual size of the transactions with this rate or a higher one'),
          ]),
          'descending by fee rate; each entry excludes the transactions of the entries before it',
        ),
      }),
    },
    run: (call) => jsonReply(backlogAnswer(call)),
  },
  {
    ...BASE,
    path: '/api/mempool/txids',
    summary: 'The ids of all transactions of the mempool.',
    cost: 'pool',
    answer: { kind: 'json', schema: t.array(t.hash('a transaction'), 'ancestors first') },
    run: async (call) => jsonReply(jsonArray(shown(await inSlices(call.services.mempool.txidsInSlices())))),
  },
  {
    ...BASE,
    path: '/api/mempool/recent',
    follows: 'chainAndMempool',
    summary: `The last ${RECENT_TXS} transactions that the mempool accepted.`,
    answer: { kind: 'json', schema: t.array(RECENT_SCHEMA, 'the newest first') },
    run: (call) => jsonReply(recentAnswer(call)),
  },
  {
    ...BASE,
    path: '/api/fee-estimates',
    summary:
      'Fee rates of estimatesmartfee in satoshis per virtual byte, by confirmation target (1 to 25, 144, 504, 1008 blocks). ' +
      'Targets without an estimate are omitted.',
    answer: { kind: 'json', schema: t.map('target', t.num('the rate')) },
    run: (call) => jsonReply(estimates(call)),
  },
  {
    ...BASE,
    source: 'mempool.space',
    path: '/api/v1/fees/recommended',
    summary:
      'Recommended fee rates by urgency, from the projected blocks of the mempool. If it holds less than half a block, they are the lowest rate.',
    cost: 'pool',
    answer: { kind: 'json', schema: FEES_SCHEMA },
    run: (call) => whenResolved(call.fees.recommended(), (fees) => jsonReply(feesAnswer(fees))),
  },
  {
    ...BASE,
    source: 'mempool.space',
    path: '/api/v1/fees/mempool-blocks',
    summary:
      'The projected blocks of the mempool, at most eight. The last one has all remaining transactions.',
    cost: 'pool',
    answer: { kind: 'json', schema: t.array(MEMPOOL_BLOCK_SCHEMA, 'the next block first') },
    run: (call) => whenResolved(call.fees.blocks(), (blocks) => jsonReply(blocks.map(mempoolBlockAnswer))),
  },
];
