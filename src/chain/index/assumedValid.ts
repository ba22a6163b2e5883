/**
 * Assume-valid: ancestors of a block that is known to be good, well buried on a chain with enough work, need no script checks.
 * Source: lbrycrd validation.cpp `ConnectBlock` (`hashAssumeValid`).
 */
import { workEquivalentTimeSec } from '../../primitives/compactTarget.js';
import { NO_HEADER } from '../../store/files/headerTable.js';
import type { Bytes } from '../../util/bytes.js';
import type { BlockIndex } from './blockIndex.js';
import type { HeaderChain } from './headerChain.js';

/** How long the best chain must have been worked on above a block. Source: `ConnectBlock`. */
const BURIED_SEC = 60n * 60n * 24n * 7n * 2n;

export interface AssumedValidOptions {
  readonly minimumChainWork: bigint;
  /** Wire order; null checks every script. */
  readonly assumeValid: Bytes | null;
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

  /** Whether the scripts of a block may go unchecked. Asked of each block: costs no walk over headers. */
  holdsFor(id: number): boolean {
    const { assumeValid, minimumChainWork, targetSpacingSec } = this.options;
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
    return buriedSec > BURIED_SEC;
  }
}
