/**
 * Checks the rate of new blocks. Far too few mean that the node may be cut off from the network; far too many may be an
 * attack. It only warns the operator. Source: Core 0.12 main.cpp `PartitionCheck`, which the reference does not have any
 * more.
 */
import type { Chain } from '../../chain/chain.js';
import { NO_HEADER } from '../../store/files/headerTable.js';

const HOUR_SEC = 60 * 60;
const SPAN_HOURS = 4;
const SPAN_SEC = SPAN_HOURS * HOUR_SEC;
/** Probability threshold of a warning: an event that occurs once in fifty years. */
const RARE = SPAN_SEC / (50 * 365 * 24 * HOUR_SEC);
const WARN_EVERY_SEC = 24 * HOUR_SEC;

export interface PartitionWatchOptions {
  readonly targetSpacingSec: number;
  /** Blocks are mined on demand (regtest), so no rate is unusual. */
  readonly mineBlocksOnDemand: boolean;
}

export interface PartitionWatchDeps {
  readonly chain: Pick<Chain, 'isInitialDownload' | 'index'>;
  readonly nowSec: () => number;
  /** Called at most once a day. */
  readonly warn: (message: string) => void;
}

export class PartitionWatch {
  private readonly options: PartitionWatchOptions;
  private readonly deps: PartitionWatchDeps;
  private readonly startSec: number;
  private lastWarningSec = 0;
  private message = '';

  constructor(options: PartitionWatchOptions, deps: PartitionWatchDeps) {
    this.options = options;
    this.deps = deps;
    this.startSec = deps.nowSec();
  }

  /** Present warnings; empty without one. */
  get warning(): string {
    return this.message;
  }

  /** Call it about once for each block interval. */
  check(): void {
    const { chain, nowSec, warn } = this.deps;
    const now = nowSec();
    if (this.options.mineBlocksOnDemand || chain.isInitialDownload()) return;
    this.message = this.judge(now);
    if (this.message === '' || now - this.lastWarningSec < WARN_EVERY_SEC) return;
    this.lastWarningSec = now;
    warn(this.message);
  }

  private judge(now: number): string {
    const expected = SPAN_SEC / this.options.targetSpacingSec;
    const count = this.blocksSince(now - SPAN_SEC);
    if (probability(count, expected) > RARE) return '';
    const what = `${count} blocks in the last ${SPAN_HOURS} hours, ${Math.round(expected)} were to be expected`;
    if (count > expected) return `Warning: ${what}. Another party may be mining against the network.`;
    // A node that was not running could not receive blocks and needs time to fetch them.
    if (now - this.startSec < HOUR_SEC) return '';
    return `Warning: only ${what}. Check the network connection: this node may be cut off from the others.`;
  }

  /** Number of blocks on the best header chain that are younger than `sinceSec`, up to the first older one. */
  private blocksSince(sinceSec: number): number {
    const { headers, bestHeader } = this.deps.chain.index;
    let count = 0;
    for (let id = bestHeader; id !== NO_HEADER && headers.timeSec(id) > sinceSec; id = headers.prev(id))
      count++;
    return count;
  }
}

/** Poisson probability of `count` events with mean `expected`. */
export function probability(count: number, expected: number): number {
  let logarithm = count * Math.log(expected) - expected;
  for (let i = 2; i <= count; i++) logarithm -= Math.log(i);
  return Math.exp(logarithm);
}
