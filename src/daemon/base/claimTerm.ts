/**
 * When claims and supports expire: after this many blocks without an update they have no effect, although their outputs can
 * still be spent. Source: lbrycrd claimtrieforks.cpp `forkForExpirationChange`, consensus/params.h `GetExpirationTime`.
 */
import { expirationHeight } from '../../claimtrie/rules.js';
import { claimExpirationBlocks } from '../../params/networks.js';
import type { LedgerParams } from './ledgerParams.js';

/** Four weeks of blocks of 2.5 minutes. */
const WARNED_BLOCKS = 4 * 7 * 24 * 24;

/** The height of the block in which an output of a claim or support expires that is in the block at `height`. */
export function expiresAt({ network }: LedgerParams, height: number): number {
  return expirationHeight({ ...network.claimForks, supportDelay: 'proportional' }, height);
}

/** Whether such an output has expired at the tip. Unconfirmed outputs (`height` below 1) have not. */
export function hasExpired(params: LedgerParams, height: number, tipHeight: number): boolean {
  return height > 0 && expiresAt(params, height) <= tipHeight;
}

/**
 * Number of blocks before the expiry at which the owner of a claim is warned: four weeks on the main network, at most a
 * tenth of the term, since test networks have short terms.
 */
export function warnedBlocks({ network }: LedgerParams, tipHeight: number): number {
  return Math.min(WARNED_BLOCKS, Math.floor(claimExpirationBlocks(network, tipHeight + 1) / 10));
}

/** The greatest height of a block whose claims have expired at `tipHeight`; below 0 where none have. */
export function lastExpired({ network: { claimForks } }: LedgerParams, tipHeight: number): number {
  const { originalExpiration, extendedExpiration, extendedExpirationForkHeight: fork } = claimForks;
  return Math.max(Math.min(tipHeight, fork - 1) - originalExpiration, tipHeight - extendedExpiration);
}
