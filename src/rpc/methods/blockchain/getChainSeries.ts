/** `getchainseries`: the history of a figure of the chain or of the claim trie, as points for a chart. */
import { requireClaimIndex } from '../claimindex/claimAnswer.js';
import { coins } from '../../../util/json/json.js';
import type { JsonOut } from '../../../util/json/jsonWrite.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { ofBlock, OF_BLOCK_FIELDS } from '../../format/claimsExplorer.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';
import type { RpcServices } from '../../../interfaces/services.js';
import { retryWhileGone, type QueriedBlock } from '../claimtrie/atBlock.js';

/**
 * Average number of hashes for a block of difficulty 1: 2^256 divided by the target of that difficulty, 0xffff * 2^224
 * (`difficultyOf`).
 */
const WORK_OF_DIFFICULTY_1 = 2 ** 32 / 0xffff;

const METRICS = {
  difficulty: { unit: 'mean difficulty', isOfClaims: false },
  hashrate: { unit: 'mean hashes per second', isOfClaims: false },
  interval: { unit: 'mean seconds between blocks', isOfClaims: false },
  transactions: { unit: 'mean transactions per block', isOfClaims: false },
  names: { unit: 'names with an active claim', isOfClaims: true },
  claims: { unit: 'active claims', isOfClaims: true },
  amount: { unit: 'LBC in active claims', isOfClaims: true },
} as const;
type Metric = keyof typeof METRICS;

const DEFAULT_POINTS = 600;
const MAX_POINTS = 2000;

/**
 * Divides the blocks `from` to `to` into up to `points` sections of equal length. Returns the height of the last block of
 * each section.
 */
function heightsOf(from: number, to: number, points: number): number[] {
  const count = Math.min(points, to - from + 1);
  if (count === 1) return [to];
  return Array.from({ length: count }, (_, i) => from + Math.round((i * (to - from)) / (count - 1)));
}

/**
 * Returns the value of a metric for the section that starts after block `before` and ends with block `last`. `before` is -1 for a
 * section that starts with the genesis block. Null if the section has no value: no block precedes the genesis block, so no time
 * passed until it, and times of blocks may decrease.
 */
function headerValue({ chain }: RpcServices, metric: Metric, before: number, last: number): number | null {
  const { headers } = chain;
  const { active } = chain.chain.index;
  const end = active.at(last);
  const start = before < 0 ? null : active.at(before);
  const blocks = last - before;
  if (metric === 'transactions') {
    const earlier = start === null ? 0 : headers.chainTxCount(start);
    return (headers.chainTxCount(end) - earlier) / blocks;
  }
  const earlierWork = start === null ? 0n : BigInt(`0x${headers.workHex(start)}`);
  const work = Number(BigInt(`0x${headers.workHex(end)}`) - earlierWork);
  if (metric === 'difficulty') return work / blocks / WORK_OF_DIFFICULTY_1;
  if (start === null) return null;
  const seconds = headers.timeSec(end) - headers.timeSec(start);
  if (metric === 'interval') return seconds / blocks;
  return seconds > 0 ? work / seconds : null;
}

async function valuesOf(
  services: RpcServices,
  metric: Metric,
  from: number,
  heights: readonly number[],
): Promise<(JsonOut | null)[]> {
  if (!METRICS[metric].isOfClaims)
    return heights.map((height, i) =>
      headerValue(services, metric, i === 0 ? from - 1 : heights[i - 1]!, height),
    );
  const series = await requireClaimIndex(services).series(heights);
  if (series === null)
    throw rpcError(
      RPC_ERROR.MISC_ERROR,
      'Totals of past blocks are not available yet: the claim index was written by an older version, and ' +
        'an upgrade runs in the background. Retry later',
    );
  return series.map(({ names, claims, amount }) =>
    metric === 'names' ? names : metric === 'claims' ? claims : coins(amount),
  );
}

interface Request {
  readonly metric: Metric;
  readonly from: number;
  readonly to: number | undefined;
  readonly points: number;
}

async function seriesAt(
  services: RpcServices,
  { id, height }: QueriedBlock,
  { metric, from, to = height, points }: Request,
): Promise<JsonOut> {
  const { chain } = services;
  if (to > height || from > to)
    throw rpcError(
      RPC_ERROR.INVALID_PARAMETER,
      `from and to must be heights of at most ${height}, with from not above to`,
    );
  const heights = heightsOf(from, to, points);
  const { active } = chain.chain.index;
  const times = heights.map((at) => chain.headers.timeSec(active.at(at)));
  const values = await valuesOf(services, metric, from, heights);
  return {
    metric,
    unit: METRICS[metric].unit,
    from,
    to,
    ...ofBlock(chain, id, height),
    points: heights.flatMap((at, i) => {
      const value = values[i]!;
      return value === null ? [] : [{ height: at, time: times[i]!, value }];
    }),
  };
}

export const getChainSeries = defineMethod({
  name: 'getchainseries',
  category: 'blockchain',
  explorer: 'console',
  follows: 'chain',
  summary:
    'Returns the development of a metric over a range of blocks, as points for a chart. Metrics of the ' +
    'chain: difficulty, hashrate, interval, transactions. Metrics of the claim trie: names, claims, ' +
    'amount (need -claimindex).',
  params: [
    {
      name: 'metric',
      type: 'string',
      required: true,
      description: `One of ${Object.keys(METRICS).join(', ')}`,
    },
    {
      name: 'from',
      type: 'integer',
      default: 0,
      range: { min: 0, max: 0x7fffffff },
      description: 'The height of the first block',
    },
    {
      name: 'to',
      type: 'integer',
      range: { min: 0, max: 0x7fffffff },
      defaultText: 'the tip',
      description: 'The height of the last block',
    },
    {
      name: 'points',
      type: 'integer',
      default: DEFAULT_POINTS,
      range: { min: 2, max: MAX_POINTS },
      description: 'Maximum number of points; there are fewer if the range has fewer blocks',
    },
  ],
  result: t.object({
    metric: t.str('the metric'),
    unit: t.str('the unit of the values'),
    from: t.int('the first block'),
    to: t.int('the last block of the range'),
    ...OF_BLOCK_FIELDS,
    points: t.array(
      t.object({
        height: t.int('the height of the block'),
        time: t.time('the time of the block'),
        value: t.num('the mean over the blocks since the previous point, or the value after this block'),
      }),
      'in order of height; without the points that have no value, such as the interval at the genesis block',
    ),
  }),
  examples: [['"difficulty"'], ['"claims"', '0', '1000', '100']],
  run({ services }, { metric, from, to, points }) {
    if (!Object.hasOwn(METRICS, metric))
      throw rpcError(RPC_ERROR.INVALID_PARAMETER, `metric must be one of ${Object.keys(METRICS).join(', ')}`);
    const request = { metric: metric as Metric, from, to, points };
    const { chain } = services.chain;
    const find = (): QueriedBlock => ({ id: chain.tip, height: chain.height });
    return retryWhileGone(services, find, (queried) => seriesAt(services, queried, request));
  },
});
