/**
 * The block at which the hash form changes: a trie of the other form is built from the names, streaming. The trie of
 * the old form stays as it was, for proofs of before and for disconnecting; behind the proof window it may be dropped,
 * and is built again should a reorg ever come so far.
 */
import { claimsHash } from '../../claimtrie/claimsHash.js';
import { TrieBuilder } from '../../claimtrie/trieBuilder.js';
import type { ClaimRules } from '../../claimtrie/types.js';
import type { Bytes } from '../../util/bytes.js';
import { prefixEnd, type RowTransaction } from '../rows.js';
import { Breather } from './breather.js';
import { CLAIM_PREFIX, nodeKey, type Generation } from './claimKeys.js';
import { parseNameRow, rowHasClaims } from './nameRow.js';
import { formatNodeRow } from './nodeRow.js';

/** The block after which the stored nodes of the old form stand. */
export function lastOfOldForm(rules: ClaimRules): number {
  const fork = rules.allClaimsForkHeight - 1;
  return rules.normalizationForkHeight === fork ? fork : fork - 1;
}

/** Builds the trie of `generation` from the names as the transaction has them; answers its root. */
export async function rebuildNodes(rows: RowTransaction, generation: Generation): Promise<Bytes> {
  await dropNodes(rows, generation);
  const breather = new Breather();
  const allClaims = generation === '1';
  const builder = new TrieBuilder(allClaims, (path, node) => {
    rows.put(nodeKey(generation, path), formatNodeRow(node));
  });
  const names = { gte: CLAIM_PREFIX.name, lt: prefixEnd(CLAIM_PREFIX.name) };
  for await (const [key, row] of rows.range(names)) {
    if (!rowHasClaims(row)) continue;
    const state = parseNameRow(row);
    const hash = claimsHash(state.claims, state.takeover, allClaims);
    if (hash) builder.add(key.slice(CLAIM_PREFIX.name.length), hash);
    if (!breather.isDue) continue;
    await breather.pause();
    await rows.relieve();
  }
  return builder.finish();
}

/** A trie of the same generation may be left from before a reorg. */
async function dropNodes(rows: RowTransaction, generation: Generation): Promise<void> {
  const prefix = CLAIM_PREFIX.node + generation;
  const breather = new Breather();
  for await (const [key] of rows.range({ gte: prefix, lt: prefixEnd(prefix) })) {
    rows.del(key);
    if (!breather.isDue) continue;
    await breather.pause();
    await rows.relieve();
  }
}
