/**
 * Heights, terms and delays: the rules of the claim trie that apply to the block at a given height. Stateless.
 * Source: lbrycrd claimtrie.cpp `getDelayForName`, claimtrieforks.cpp, consensus/params.h `GetExpirationTime`.
 */
import type { ClaimRules } from './types.js';

/** Number of blocks of ownership that add one block of delay. Source: `nProportionalDelayFactor`. */
const DELAY_FACTOR = 32;
/** Maximum activation delay in blocks (four weeks). Source: `CClaimTrieCacheBase::getDelayForName`. */
export const MAX_DELAY = 4032;

/** Lifetime of a claim or support in blocks, by the rules of block `height`. */
export function expirationTerm(rules: ClaimRules, height: number): number {
  return height < rules.extendedExpirationForkHeight ? rules.originalExpiration : rules.extendedExpiration;
}

/**
 * Creation height of the items (claims and supports) due to expire in block `height`, or -1 if there are none. The extension
 * fork moves every item that is still in the expiration queue at the start of its block, including the items due in that
 * block. Items due earlier have already expired. Source: `forkForExpirationChange`.
 */
export function expiringCreation(rules: ClaimRules, height: number): number {
  const created = height - expirationTerm(rules, height);
  if (created < 0) return -1;
  const fork = rules.extendedExpirationForkHeight;
  if (height >= fork && created < fork && created + rules.originalExpiration < fork) return -1;
  return created;
}

/**
 * Height of the block in which an output of block `height` expires. The extended term applies to items (claims and supports)
 * that are due at or after the fork. Inverse of `expiringCreation`. Source: `forkForExpirationChange`.
 */
export function expirationHeight(rules: ClaimRules, height: number): number {
  const original = height + rules.originalExpiration;
  const { extendedExpirationForkHeight: fork } = rules;
  return original < fork ? original : height + rules.extendedExpiration;
}

/** Whether transactions of block `height` match normalized names. Source: `shouldNormalize`. */
export function matchesNormalized(rules: ClaimRules, height: number): boolean {
  return height > rules.normalizationForkHeight;
}

/**
 * Whether items (claims and supports) that enter the trie in block `height` are stored under their normalized names. Source:
 * `incrementBlock`.
 */
export function filesNormalized(rules: ClaimRules, height: number): boolean {
  return height >= rules.normalizationForkHeight;
}

/**
 * Whether the root after block `height` has the form with all claims.
 * QUIRK: the fork's height is compared with the next block's, so the form begins one block before it.
 * Source: `CClaimTrieCacheHashFork::recursiveComputeMerkleHash`. Test: test/vectors/claimRoots.test.ts.
 */
export function hashesAllClaims(rules: ClaimRules, height: number): boolean {
  return height + 1 >= rules.allClaimsForkHeight;
}

/** Whether the root after block `height` has the all-claims form while the previous root has the old form. */
export function isHashFork(rules: ClaimRules, height: number): boolean {
  return height === rules.allClaimsForkHeight - 1;
}

/** Whether supports with metadata count in block `height`. Source: `allowSupportMetadata`. */
export function countsMetadataSupports(
  rules: Pick<ClaimRules, 'allClaimsForkHeight'>,
  height: number,
): boolean {
  return height >= rules.allClaimsForkHeight;
}

/** Source: `addTakeoverWorkaroundPotential`. */
export function inTakeoverWorkaround(rules: ClaimRules, height: number): boolean {
  return height > rules.takeoverWorkaroundMin && height < rules.takeoverWorkaroundMax;
}

/** Source: `removeClaimFromTrie`. */
export function inRemovalWorkaround(rules: ClaimRules, height: number): boolean {
  return height < rules.takeoverWorkaroundMax;
}

/**
 * Delay in blocks of a new claim created in block `height`: 0 for a name without an owner (controlling claim) (`takeover`
 * null), else proportional to the time for which the name has had its owner. Source: `CClaimTrieCacheBase::getDelayForName`.
 */
export function newClaimDelay(height: number, takeover: number | null): number {
  return takeover === null ? 0 : proportionalDelay(height - takeover);
}

/**
 * Height of the last block for which a forecast after block `height` is possible. The normalization fork moves names, so a
 * forecast ends before the fork.
 */
export function lastForeseen(rules: ClaimRules, height: number): number {
  const longest = Math.max(rules.originalExpiration, rules.extendedExpiration, MAX_DELAY);
  const fork = rules.normalizationForkHeight;
  return height < fork ? Math.min(fork - 1, height + longest) : height + longest;
}

/** Delay in blocks of an item (claim or support) for a name that has had an owner (controlling claim) for `ownedBlocks`. */
export function proportionalDelay(ownedBlocks: number): number {
  return Math.min(Math.floor(ownedBlocks / DELAY_FACTOR), MAX_DELAY);
}
