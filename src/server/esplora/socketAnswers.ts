/**
 * WebSocket messages about the state of the chain and the mempool, in the formats of mempool.space. Source: mempool backend
 * websocket-handler.ts, difficulty-adjustment.ts (LBRYFoundation's fork: each block has its own target).
 */
import { difficultyOf } from '../../primitives/compactTarget.js';
import { NO_HEADER } from '../../store/files/headerTable.js';
import { hashToHex } from '../../util/bytes.js';
import { coins } from '../../util/json/json.js';
import type { JsonOut } from '../../util/json/jsonWrite.js';
import { programVersion } from '../../util/project.js';
import { blocksFrom } from './blockPaths.js';
import type { EsploraNode } from './declaration.js';
import { feesAnswer, mempoolBlockAnswer } from './mempoolPaths.js';

/** Source: `INITIAL_BLOCKS_AMOUNT`. */
const BLOCKS = 8;
/** Number of transactions in the list of the latest transactions. Source: mempool.ts `latestTransactions`. */
const LATEST = 6;
/** Period in seconds over which the arrival rate is measured. Source: `TX_PER_SECOND_SAMPLE_PERIOD`. */
const SAMPLE_SEC = 150;
/** Maximum number of transactions that are read for the computation of the arrival rate. */
const MAX_SAMPLED = 5000;

export type Message = Record<string, JsonOut | undefined>;

/** Mempool state like that of `getmempoolinfo`, with the sum of the fees. Amounts are in coins. */
export function mempoolInfo({ services: { mempool } }: EsploraNode): JsonOut {
  return {
    loaded: mempool.isLoaded,
    size: mempool.size,
    bytes: mempool.totalSizeBytes,
    usage: mempool.usageBytes,
    total_fee: coins(mempool.totalFeeSat),
    maxmempool: mempool.maxUsageBytes,
    mempoolminfee: coins(mempool.minFeeRatePerKb),
    minrelaytxfee: coins(mempool.minRelayFeeRatePerKb),
  };
}

/** Average number of virtual bytes per second that entered the mempool in the last `SAMPLE_SEC`. */
function vBytesPerSecond({ services }: EsploraNode): number {
  const since = services.clock.nowSec() - SAMPLE_SEC;
  let bytes = 0;
  for (const { timeSec, sizeBytes } of services.waiting.summary.newest(MAX_SAMPLED)) {
    if (timeSec < since) break;
    bytes += sizeBytes;
  }
  return Math.round(bytes / SAMPLE_SEC);
}

function latestTransactions({ services: { mempool, waiting } }: EsploraNode): JsonOut[] {
  return waiting.summary.newest(LATEST).map(({ txid, feeSat, sizeBytes, timeSec }) => ({
    txid: hashToHex(txid),
    fee: feeSat,
    vsize: sizeBytes,
    value: (mempool.transaction(txid)?.outputs ?? []).reduce((sum, { value }) => sum + value, 0n),
    rate: Number(feeSat) / sizeBytes,
    time: timeSec,
  }));
}

/** Data about the next difficulty, which changes with each block. Times are in milliseconds, changes in percent. */
function difficultyAdjustment({ services }: EsploraNode): JsonOut {
  const { chain, params, clock } = services;
  const { headers } = chain;
  const { tip, height } = chain.chain;
  const nowSec = clock.nowSec();
  const tipSec = headers.timeSec(tip);
  const since = Math.max(1, nowSec - tipSec);
  const bounded = (percent: number): number => Math.min(300, Math.max(-75, percent));
  const before = headers.prev(tip);
  const change =
    before === NO_HEADER
      ? 0
      : (difficultyOf(headers.bits(tip)) / difficultyOf(headers.bits(before)) - 1) * 100;
  const timeAvg = since * 1000;
  return {
    progressPercent: 100,
    difficultyChange: bounded((params.targetSpacingSec / since - 1) * 100),
    estimatedRetargetDate: nowSec * 1000 + timeAvg,
    remainingBlocks: 1,
    remainingTime: timeAvg,
    previousRetarget: bounded(change),
    previousTime: tipSec,
    nextRetargetHeight: height + 1,
    timeAvg,
    adjustedTimeAvg: timeAvg,
    timeOffset: 0,
    expectedBlocks: since / params.targetSpacingSec,
  };
}

/** The latest blocks, in ascending order of height. */
export async function latestBlocks(node: EsploraNode): Promise<JsonOut[]> {
  const blocks = await blocksFrom(node, node.services.chain.chain.height, BLOCKS);
  return blocks.reverse();
}

export async function mempoolBlocks(node: EsploraNode): Promise<JsonOut[]> {
  return (await node.fees.blocks()).map(mempoolBlockAnswer);
}

/** The message for clients that subscribed to `stats`. */
export async function statsMessage(node: EsploraNode): Promise<Message> {
  return {
    mempoolInfo: mempoolInfo(node),
    vBytesPerSecond: vBytesPerSecond(node),
    transactions: latestTransactions(node),
    fees: feesAnswer(await node.fees.recommended()),
    da: difficultyAdjustment(node),
  };
}

/** The response to a client's `init` request. */
export async function initMessage(node: EsploraNode): Promise<Message> {
  return {
    backend: 'esplora',
    ...(await statsMessage(node)),
    blocks: await latestBlocks(node),
    'mempool-blocks': await mempoolBlocks(node),
    backendInfo: {
      hostname: 'lbcnode',
      version: programVersion(),
      gitCommit: '',
      lightning: false,
      backend: 'esplora',
      coreVersion: node.services.network.userAgent,
    },
    loadingIndicators: {},
  };
}
