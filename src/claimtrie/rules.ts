/**
 * Heights, terms and delays: which rule of the claim trie holds in the block of a given height. Owns no state.
 * Source: lbrycrd claimtrie.cpp `getDelayForName`, claimtrieforks.cpp, consensus/params.h `GetExpirationTime`.
 */
import type { ClaimRules } from './types.js';

/** Blocks of ownership per block of delay. Source: `nProportionalDelayFactor`. */
const DELAY_FACTOR = 32;
/** Four weeks of blocks. Source: `CClaimTrieCacheBase::getDelayForName`. */
export const MAX_DELAY = 4032;

/** Blocks that a claim or support lives, as seen by block `height`. */
export function expirationTerm(rules: ClaimRules, height: number): number {
  return height < rules.extendedExpirationForkHeight ? rules.originalExpiration : rules.extendedExpiration;
}

/**
 * Height of creation of what is due to expire in block `height`, or -1 when nothing can be.
 * The extension moves every row of the queue that is left when its block begins, those due exactly then too; what
 * had been due before had its chance. Source: `forkForExpirationChange`.
 */
export function expiringCreation(rules: ClaimRules, height: number): number {
  const created = height - expirationTerm(rules, height);
  if (created < 0) return -1;
  const fork = rules.extendedExpirationForkHeight;
  if (height >= fork && created < fork && created + rules.originalExpiration < fork) return -1;
  return created;
}

/**
 * The block in which an output of block `height` expires: what is due from the fork on has the extended term. The
 * inverse of `expiringCreation`. Source: `forkForExpirationChange`.
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

/** Whether what enters the trie in block `height` is filed under its normalized name. Source: `incrementBlock`. */
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

/** Whether the root after block `height` has the new form while the one before it had the old. */
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
 * Blocks that a new claim, made in block `height`, waits: none for a name that no one owns (`takeover` null), else by how
 * long the name has had its owner. Source: `CClaimTrieCacheBase::getDelayForName`.
 */
export function newClaimDelay(height: number, takeover: number | null): number {
  return takeover === null ? 0 : proportionalDelay(height - takeover);
}

/** The last block of a forecast made after block `height`: names are moved at the normalization fork. */
export function lastForeseen(rules: ClaimRules, height: number): number {
  const longest = Math.max(rules.originalExpiration, rules.extendedExpiration, MAX_DELAY);
  const fork = rules.normalizationForkHeight;
  return height < fork ? Math.min(fork - 1, height + longest) : height + longest;
}

/** Delay of an item for a name that has been owned for `ownedBlocks`. */
export function proportionalDelay(ownedBlocks: number): number {
  return Math.min(Math.floor(ownedBlocks / DELAY_FACTOR), MAX_DELAY);
}
