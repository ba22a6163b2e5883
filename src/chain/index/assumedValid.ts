/**
 * Assume-valid: scripts of the ancestors of a known good block are not verified, if the ancestors are deeply buried on a
 * chain with enough work. Source: lbrycrd validation.cpp `ConnectBlock` (`hashAssumeValid`).
 */
import { workEquivalentTimeSec } from '../../primitives/compactTarget.js';
import { NO_HEADER } from '../../store/files/headerTable.js';
import type { Bytes } from '../../util/bytes.js';
import type { BlockIndex } from './blockIndex.js';
import type { HeaderChain } from './headerChain.js';

/** Number of blocks that are checked together. Arbitrary. */
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
   * The scripts of all blocks on the branch of `assumed` and `bestHeader` up to this height may be skipped. Found for these two
   * blocks.
   */
  private holds = { assumed: NO_HEADER, bestHeader: NO_HEADER, upTo: -1 };

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
    const { holds, headerChain } = this;
    const isSame = holds.assumed === assumed && holds.bestHeader === bestHeader;
    if (isSame && headers.height(id) <= holds.upTo) return headerChain.isAncestor(id, assumed);
    if (headers.work(bestHeader) < minimumChainWork) return false;
    if (!headerChain.isAncestor(id, assumed) || !headerChain.isAncestor(id, bestHeader)) return false;
    if (!this.isBuried(id)) return false;
    // Work increases with the height, so that all lower blocks are buried too.
    const higher = headerChain.ancestorOf(
      assumed,
      Math.min(headers.height(id) + AHEAD_BLOCKS, headers.height(assumed)),
    );
    const isHigher = headerChain.isAncestor(higher, bestHeader) && this.isBuried(higher);
    this.holds = { assumed, bestHeader, upTo: headers.height(isHigher ? higher : id) };
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
