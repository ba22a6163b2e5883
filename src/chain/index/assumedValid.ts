/**
 * Assume-valid: scripts of the ancestors of a known good block are not verified, if the ancestors are deeply buried on a
 * chain with enough work. Source: lbrycrd validation.cpp `ConnectBlock` (`hashAssumeValid`).
 */
import { workEquivalentTimeSec } from '../../primitives/compactTarget.js';
import { NO_HEADER } from '../../store/files/headerTable.js';
import type { Bytes } from '../../util/bytes.js';
import type { BlockIndex } from './blockIndex.js';
import type { HeaderChain } from './headerChain.js';

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
  private readonly headerChain: Pick<HeaderChain, 'isAncestor'>;

  constructor(
    options: AssumedValidOptions,
    index: Pick<BlockIndex, 'headers' | 'bestHeader'>,
    headerChain: Pick<HeaderChain, 'isAncestor'>,
  ) {
    this.options = options;
    this.index = index;
    this.headerChain = headerChain;
  }

  /** Whether the scripts of a block may be skipped. Called for each block, so it does not iterate over headers. */
  holdsFor(id: number): boolean {
    const { assumeValid, minimumChainWork, assumeValidDepthSec, targetSpacingSec } = this.options;
    if (!assumeValid) return false;
    const { headers, bestHeader } = this.index;
    const assumed = headers.find(assumeValid);
    if (assumed === NO_HEADER || bestHeader === NO_HEADER) return false;
    if (headers.work(bestHeader) < minimumChainWork) return false;
    const { headerChain } = this;
    if (!headerChain.isAncestor(id, assumed) || !headerChain.isAncestor(id, bestHeader)) return false;
    const buriedSec = workEquivalentTimeSec(
      headers.work(bestHeader),
      headers.work(id),
      headers.bits(bestHeader),
      targetSpacingSec,
    );
    return buriedSec > BigInt(assumeValidDepthSec);
  }
}
