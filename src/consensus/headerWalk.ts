/**
 * Checks headers along a chain that is not stored: the rules for the next header depend on the last eleven headers, and only
 * those are remembered. The caller checks work and links. Source: as in checkHeader.ts.
 */
import type { NetworkParams } from '../params/network.js';
import type { BlockHeader } from '../primitives/header.js';
import { assert } from '../util/assert.js';
import { contextualCheckHeader } from './checkHeader.js';
import { blockWork } from '../primitives/compactTarget.js';
import { medianTime, MEDIAN_TIME_SPAN, type HeaderId, type HeaderTree } from './headerTree.js';
import type { ValidationError } from './reject.js';
import { nextWorkRequired, retargetIntervalBlocks } from '../primitives/retarget.js';

type WalkParams = Parameters<typeof nextWorkRequired>[3] & Parameters<typeof contextualCheckHeader>[2];
type WalkedHeader = Pick<BlockHeader, 'version' | 'timeSec' | 'bits'>;

export interface WalkContext {
  readonly params: Pick<NetworkParams, keyof WalkParams>;
  /** Returns the node's clock in seconds, adjusted by the clocks of its peers. */
  readonly adjustedTimeSec: () => number;
  /** See `HeaderContext`. */
  readonly lastCheckpointHeight: number | null;
}

export class HeaderWalk {
  /** Height of the last accepted header. */
  height: number;
  /** Total work of the chain up to the last header. */
  work: bigint;
  private readonly context: WalkContext;
  /** Times of the last eleven headers, by height modulo eleven. */
  private readonly times: number[] = [];
  private readonly bits: number[] = [];
  private readonly tree: Pick<HeaderTree, 'heightOf' | 'ancestorOf' | 'timeOf' | 'bitsOf'>;
  private lastBits = -1;
  private lastBitsWork = 0n;

  /** Starts after the header `start` of a tree; `work` is the total work of its chain. */
  constructor(tree: HeaderTree, start: HeaderId, work: bigint, context: WalkContext) {
    assert(retargetIntervalBlocks(context.params) < MEDIAN_TIME_SPAN, 'a retarget looks back on few blocks');
    this.context = context;
    this.work = work;
    this.height = tree.heightOf(start);
    for (let height = this.height; height > this.height - MEDIAN_TIME_SPAN && height >= 0; height--) {
      const id = tree.ancestorOf(start, height);
      this.times[height % MEDIAN_TIME_SPAN] = tree.timeOf(id);
      this.bits[height % MEDIAN_TIME_SPAN] = tree.bitsOf(id);
    }
    this.tree = {
      heightOf: (height) => height,
      ancestorOf: (_, height) => height,
      timeOf: (height) => this.times[height % MEDIAN_TIME_SPAN]!,
      bitsOf: (height) => this.bits[height % MEDIAN_TIME_SPAN]!,
    };
  }

  /** Median time past of the last header. */
  get medianTimeSec(): number {
    return medianTime(this.times.filter((time) => time !== undefined));
  }

  /** Checks the next header; advances to it if it is valid. */
  next(header: WalkedHeader): ValidationError | null {
    const { height, context, tree, times, bits } = this;
    const { params, lastCheckpointHeight } = context;
    const error = contextualCheckHeader(
      header,
      {
        height: height + 1,
        requiredBits: nextWorkRequired(tree, height, header.timeSec, params),
        parentMedianTimeSec: this.medianTimeSec,
        adjustedTimeSec: context.adjustedTimeSec(),
        lastCheckpointHeight,
      },
      params,
    );
    if (error) return error;
    this.height++;
    times[this.height % MEDIAN_TIME_SPAN] = header.timeSec;
    bits[this.height % MEDIAN_TIME_SPAN] = header.bits;
    this.work += this.workOf(header.bits);
    return null;
  }

  /** Caches the work of the last `bits`, because consecutive headers often have the same difficulty. */
  private workOf(bits: number): bigint {
    if (bits !== this.lastBits) {
      this.lastBits = bits;
      this.lastBitsWork = blockWork(bits);
    }
    return this.lastBitsWork;
  }
}
