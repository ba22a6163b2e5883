/**
 * The effects of a block's transactions on the claim trie, before the end of the block: inputs remove claims and supports,
 * outputs queue new ones. Defines the delays, and when an output counts as an update. Source: lbrycrd claimscriptop.cpp
 * `UpdateCache`, `ProcessClaim`; claimtrie.cpp `add`, `remove`, `getDelayForName`.
 */
import { toLatin1 } from '../util/bytes.js';
import { assert } from '../util/assert.js';
import type { ClaimWork } from './claimWork.js';
import { intact } from './corruption.js';
import { claimIdAtPoint, pointKey, REMOVAL, type Item } from './item.js';
import { normalizeKey } from './nameKey.js';
import { findClaim } from './nameState.js';
import { countsMetadataSupports, MAX_DELAY, proportionalDelay } from './rules.js';
import type { ClaimOutput, ClaimRules, ClaimSpend, ClaimTx } from './types.js';

/**
 * Number of claims that a transaction has spent and not yet updated, by claim id and name. Each spent claim allows one
 * update.
 */
type SpentClaims = Map<string, number>;

/** Returns a key of `SpentClaims`. `name` must be in the form that `matchName` returns. */
function spentKey(claimId: string, name: string): string {
  return claimId + name;
}

/** Returns the names under which a spent output may be stored. */
export function spendCandidates(
  rules: ClaimRules,
  height: number,
  spend: ClaimSpend,
): { name: string; since: number }[] {
  const raw = toLatin1(spend.name);
  const fork = rules.normalizationForkHeight;
  const { coinHeight } = spend;
  const normalized = normalizeKey(raw);
  if (height > fork) {
    const found = [{ name: normalized, since: coinHeight }];
    if (coinHeight <= fork) found.push({ name: normalized, since: fork });
    return found;
  }
  const found = [{ name: raw, since: coinHeight }];
  if (normalized !== raw && coinHeight + MAX_DELAY > fork)
    found.push({ name: normalized, since: coinHeight });
  return found;
}

/** Names whose state and path may be needed to connect block `height` if `name` occurs in one of its scripts. */
export function namesInvolved(rules: ClaimRules, height: number, name: string): string[] {
  const fork = rules.normalizationForkHeight;
  const normalized = normalizeKey(name);
  if (height < fork) {
    return normalized !== name && height + MAX_DELAY > fork ? [name, normalized] : [name];
  }
  const twice = normalizeKey(normalized);
  const names = twice === normalized ? [normalized] : [normalized, twice];
  if (height === fork && normalized !== name) names.push(name);
  return names;
}

/** Applies one transaction: inputs first, then outputs. */
export function processTransaction(work: ClaimWork, tx: ClaimTx): void {
  const counted = (item: { kind: string; hasMetadata: boolean }): boolean =>
    item.kind !== 'support' || !item.hasMetadata || countsMetadataSupports(work.rules, work.height);
  const spent: SpentClaims = new Map();
  for (const spend of tx.spends) {
    const item = counted(spend) ? removeSpent(work, spend) : null;
    if (!item) {
      work.unknownSpends.push(spend);
      continue;
    }
    work.operations.push({ item, spentBy: tx.txid });
    if (spend.kind === 'support') continue;
    const key = spentKey(toLatin1(spend.claimId), matchName(work, toLatin1(spend.name)));
    spent.set(key, (spent.get(key) ?? 0) + 1);
  }
  for (const output of tx.outputs) {
    if (!counted(output)) continue;
    if (output.kind === 'update' && !takeSpent(work, spent, output)) continue;
    addOutput(work, tx, output);
  }
}

function matchName(work: ClaimWork, name: string): string {
  return work.matchesNormalized ? normalizeKey(name) : name;
}

/** An output is an update if its transaction spent a claim with the same id and name; each spent claim allows one update. */
function takeSpent(work: ClaimWork, spent: SpentClaims, output: ClaimOutput): boolean {
  assert(output.claimId, 'an update without a claim id');
  const key = spentKey(toLatin1(output.claimId), matchName(work, toLatin1(output.name)));
  const left = spent.get(key) ?? 0;
  if (left === 0) return false;
  spent.set(key, left - 1);
  return true;
}

/**
 * Number of blocks for which the name has had an owner (controlling claim), as counted for the activation delay. Source:
 * `getNumBlocksOfContinuousOwnership`.
 */
function ownedBlocks(work: ClaimWork, name: string): number {
  if (work.removalFlags.delete(name)) return 0;
  const { state, base } = work.name(name);
  if (state.claims.length > 0) return work.height - state.takeover;
  // QUIRK: a name that lost its last claim in this block still counts as owned, unless its node remains because names
  // branch there. The reference searches its working copy of the trie first, and then the trie before the block. Test:
  // test/vectors/claimRoots.test.ts (chains 1 to 5).
  return base.hadClaims && !work.trie.isNode(name) ? work.height - base.takeover : 0;
}

/** Activation delay in blocks of a new claim or support. Source: `getDelayForName(name, claimId)`. */
function delayOf(work: ClaimWork, name: string, claimId: string, kind: Item['kind']): number {
  const { base } = work.name(name);
  if (base.hadClaims && base.ownerId === claimId) return 0;
  if (kind === 'support' && work.rules.supportDelay !== 'proportional') return work.rules.supportDelay;
  return proportionalDelay(ownedBlocks(work, name));
}

/** The name under which an item (claim or support) due at `dueHeight` is queued. Source: `adjustNameForValidHeight`. */
function queueName(work: ClaimWork, name: string, dueHeight: number): string {
  return work.matchesNormalized || dueHeight > work.rules.normalizationForkHeight ? normalizeKey(name) : name;
}

function addOutput(work: ClaimWork, tx: ClaimTx, output: ClaimOutput): void {
  const rawName = toLatin1(output.name);
  const point = pointKey(tx.txid, output.n);
  const claimId = output.claimId ? toLatin1(output.claimId) : claimIdAtPoint(point);
  const { kind, amount } = output;
  const dueHeight = work.height + delayOf(work, matchName(work, rawName), claimId, kind);
  const item: Item = {
    name: queueName(work, rawName, dueHeight),
    since: work.height,
    point,
    kind,
    claimId,
    amount,
    height: work.height,
    txOffset: tx.txOffset,
    dueHeight,
    activated: 0,
    removed: 0,
    removal: 0,
    rawName,
    ordinal: 0,
    isNew: true,
  };
  work.queueNew(item);
  work.operations.push({ item, spentBy: null });
}

/**
 * Removes the item (claim or support) spent by an input from the queue or the trie; null when it is in neither. QUIRK: the
 * name whose queue is searched depends on an estimate of the valid height, computed with the current delay. Around the
 * normalization fork a pending item may therefore not be found although its output is spent. Test:
 * test/unit/claimtrie/workarounds.test.ts.
 */
function removeSpent(work: ClaimWork, spend: ClaimSpend): Item | null {
  const raw = toLatin1(spend.name);
  const point = pointKey(spend.txid, spend.n);
  // After the fork the estimate has no effect. It is still computed, because that removes the name from `removalFlags` as
  // in the reference.
  let queue: string;
  if (work.matchesNormalized) {
    work.removalFlags.delete(raw);
    queue = normalizeKey(raw);
  } else {
    queue = queueName(work, raw, spend.coinHeight + proportionalDelay(ownedBlocks(work, raw)));
  }
  const pending = filedItem(work, queue, spend.coinHeight, point);
  if (pending && pending.removed === 0 && pending.activated === 0) {
    work.spendPending(pending);
    return pending;
  }
  const name = matchName(work, raw);
  if (spend.kind === 'support') {
    const support = activeSupport(work, name, spend.coinHeight, point);
    if (!support) return null;
    work.noteSupport(name, true);
    work.noteLoad(name);
    work.end(support, REMOVAL.spent);
    return support;
  }
  work.noteLoad(name);
  const claim = findClaim(work.name(name).state, point);
  if (!claim) return null;
  const item = work.item(name, claim.since, point);
  intact(item, 'an active claim has no item');
  work.end(item, REMOVAL.spent);
  return item;
}

/**
 * Reads an item (claim or support) from the stored rows. An output of this block has no row: its item is in memory or does
 * not exist.
 */
function filedItem(work: ClaimWork, name: string, coinHeight: number, point: string): Item | null {
  return coinHeight === work.height ? work.ownItem(name, point) : work.item(name, coinHeight, point);
}

function activeSupport(work: ClaimWork, name: string, coinHeight: number, point: string): Item | null {
  const isActive = (item: Item | null): item is Item =>
    item !== null && item.removed === 0 && item.activated !== 0;
  const item = filedItem(work, name, coinHeight, point);
  if (isActive(item)) return item;
  const fork = work.rules.normalizationForkHeight;
  if (work.height <= fork || coinHeight > fork) return null;
  const refiled = work.item(name, fork, point);
  return isActive(refiled) ? refiled : null;
}
