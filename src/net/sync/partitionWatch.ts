/**
 * Watches the rate of new blocks. Far too few blocks mean that the node may be cut off from the network; far too many may
 * mean an attack. The only effect is a warning to the operator. Source: Core 0.12 main.cpp `PartitionCheck`, which later
 * versions and lbrycrd do not have.
 */
import type { Chain } from '../../chain/chain.js';
import { NO_HEADER } from '../../store/files/headerTable.js';

const HOUR_SEC = 60 * 60;
const SPAN_HOURS = 4;
const SPAN_SEC = SPAN_HOURS * HOUR_SEC;
/** Probability below which a block rate causes a warning: such a rate occurs by chance once in fifty years. */
const RARE = SPAN_SEC / (50 * 365 * 24 * HOUR_SEC);
const WARN_EVERY_SEC = 24 * HOUR_SEC;

export interface PartitionWatchOptions {
  readonly targetSpacingSec: number;
  /** Whether blocks are mined on demand (regtest). If so, no block rate counts as unusual. */
  readonly mineBlocksOnDemand: boolean;
}

export interface PartitionWatchDeps {
  readonly chain: Pick<Chain, 'isInitialDownload' | 'index'>;
  readonly nowSec: () => number;
  /** Shows a warning to the operator. Called at most once a day. */
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

  /** Current warning; empty if there is none. */
  get warning(): string {
    return this.message;
  }

  /** Checks the block rate. Must be called about once per block interval. */
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
    const what = `${count} blocks in the last ${SPAN_HOURS} hours, ${Math.round(expected)} expected`;
    if (count > expected) return `Warning: ${what}. Another party may be mining against the network.`;
    // In the first hour after a start no warning is given, because the node first downloads the blocks that it missed.
    if (now - this.startSec < HOUR_SEC) return '';
    return `Warning: only ${what}. Check the network connection: this node may be cut off from the others.`;
  }

  /** Counts the latest blocks of the best header chain whose time is later than `sinceSec`. Stops at the first older block. */
  private blocksSince(sinceSec: number): number {
    const { headers, bestHeader } = this.deps.chain.index;
    let count = 0;
    for (let id = bestHeader; id !== NO_HEADER && headers.timeSec(id) > sinceSec; id = headers.prev(id))
      count++;
    return count;
  }
}

/** Returns the Poisson probability of `count` events if `expected` events are expected. */
export function probability(count: number, expected: number): number {
  let logarithm = count * Math.log(expected) - expected;
  for (let i = 2; i <= count; i++) logarithm -= Math.log(i);
  return Math.exp(logarithm);
}
