/**
 * Terms of claims and supports: after this many blocks without an update they have no effect, although their outputs can
 * still be spent. Source: lbrycrd claimtrieforks.cpp `forkForExpirationChange`, consensus/params.h `GetExpirationTime`.
 */
import { expirationHeight } from '../../claimtrie/rules.js';
import { claimExpirationBlocks } from '../../params/networks.js';
import type { LedgerParams } from './ledgerParams.js';

/** Number of blocks in four weeks, at 2.5 minutes per block. */
const WARNED_BLOCKS = 4 * 7 * 24 * 24;

/** Height of the block in which a claim or support expires. `height` is the height of the block with its output. */
export function expiresAt({ network }: LedgerParams, height: number): number {
  return expirationHeight({ ...network.claimForks, supportDelay: 'proportional' }, height);
}

/** Whether a claim or support has expired at the tip. Unconfirmed outputs (`height` below 1) have not expired. */
export function hasExpired(params: LedgerParams, height: number, tipHeight: number): boolean {
  return height > 0 && expiresAt(params, height) <= tipHeight;
}

/**
 * Number of blocks before the expiry at which the owner of a claim is warned: four weeks on the main network, but at most a
 * tenth of the term, since test networks have short terms.
 */
export function warnedBlocks({ network }: LedgerParams, tipHeight: number): number {
  return Math.min(WARNED_BLOCKS, Math.floor(claimExpirationBlocks(network, tipHeight + 1) / 10));
}

/** The greatest height of a block whose claims have expired at `tipHeight`. Negative if no claims have expired. */
export function lastExpired({ network: { claimForks } }: LedgerParams, tipHeight: number): number {
  const { originalExpiration, extendedExpiration, extendedExpirationForkHeight: fork } = claimForks;
  return Math.max(Math.min(tipHeight, fork - 1) - originalExpiration, tipHeight - extendedExpiration);
}
