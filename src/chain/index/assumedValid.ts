/**
 * Assume-valid: scripts of the ancestors of a known good block are not verified, if the ancestors are deeply buried on a
 * chain with enough work. Source: lbrycrd validation.cpp `ConnectBlock` (`hashAssumeValid`).
 */
import { workEquivalentTimeSec } from '../../primitives/compactTarget.js';
import { NO_HEADER } from '../../store/files/headerTable.js';
import type { Bytes } from '../../util/bytes.js';
import type { BlockIndex } from './blockIndex.js';
import type { HeaderChain } from './headerChain.js';

/** Number of further blocks that one check covers. Arbitrary. */
const AHEAD_BLOCKS = 1000;

export interface AssumedValidOptions {
  readonly minimumChainWork: bigint;
  /** Hash (wire order) of the block whose ancestors' scripts are assumed valid; null: all scripts are verified. */
  readonly assumeValid: Bytes | null;
  /** Minimum time in seconds that the work above a block must represent. */
  readonly assumeValidDepthSec: number;
  readonly targetSpacingSec: number;
}

export class AssumedValid {
  private readonly options: AssumedValidOptions;
  private readonly index: Pick<BlockIndex, 'headers' | 'bestHeader'>;
  private readonly headerChain: Pick<HeaderChain, 'isAncestor' | 'ancestorOf'>;
  /**
   * Cached result for the headers `assumed` and `bestHeader`: the scripts of all ancestors of `assumed` up to `maxHeight` may be
   * skipped.
   */
  private cached = { assumed: NO_HEADER, bestHeader: NO_HEADER, maxHeight: -1 };

  constructor(
    options: AssumedValidOptions,
    index: Pick<BlockIndex, 'headers' | 'bestHeader'>,
    headerChain: Pick<HeaderChain, 'isAncestor' | 'ancestorOf'>,
  ) {
    this.options = options;
    this.index = index;
    this.headerChain = headerChain;
  }

  /** Whether the scripts of a block may be skipped. Called for each block, so it does not iterate over headers. */
  holdsFor(id: number): boolean {
    const { assumeValid, minimumChainWork } = this.options;
    if (!assumeValid) return false;
    const { headers, bestHeader } = this.index;
    const assumed = headers.find(assumeValid);
    if (assumed === NO_HEADER || bestHeader === NO_HEADER) return false;
    const { cached, headerChain } = this;
    const isSame = cached.assumed === assumed && cached.bestHeader === bestHeader;
    if (isSame && headers.height(id) <= cached.maxHeight) return headerChain.isAncestor(id, assumed);
    if (headers.work(bestHeader) < minimumChainWork) return false;
    if (!headerChain.isAncestor(id, assumed) || !headerChain.isAncestor(id, bestHeader)) return false;
    if (!this.isBuried(id)) return false;
    // The work above a block is greater for its ancestors, so they are buried too.
    const higher = headerChain.ancestorOf(
      assumed,
      Math.min(headers.height(id) + AHEAD_BLOCKS, headers.height(assumed)),
    );
    const isHigher = headerChain.isAncestor(higher, bestHeader) && this.isBuried(higher);
    this.cached = { assumed, bestHeader, maxHeight: headers.height(isHigher ? higher : id) };
    return true;
  }

  /** Whether the work above the block represents the required time. */
  private isBuried(id: number): boolean {
    const { assumeValidDepthSec, targetSpacingSec } = this.options;
    const { headers, bestHeader } = this.index;
    const buriedSec = workEquivalentTimeSec(
      headers.work(bestHeader),
      headers.work(id),
      headers.bits(bestHeader),
      targetSpacingSec,
    );
    return buriedSec > BigInt(assumeValidDepthSec);
  }
}
