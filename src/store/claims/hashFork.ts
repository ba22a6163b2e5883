/**
 * Handles the block at which the hash form of trie nodes changes. The trie of the new form is built from the rows of names,
 * as a stream. The trie of the old form is kept for proofs of earlier blocks. It may be dropped once these blocks are
 * outside the proof window. A reorg below the fork rebuilds it.
 */
import { claimsHash } from '../../claimtrie/claimsHash.js';
import { TrieBuilder } from '../../claimtrie/trieBuilder.js';
import type { NameState } from '../../claimtrie/nameState.js';
import type { ClaimRules } from '../../claimtrie/types.js';
import type { Bytes } from '../../util/bytes.js';
import { prefixEnd, type RowReader, type RowTransaction } from '../rows/rows.js';
import { YieldTimer } from '../../scheduler/yieldTimer.js';
import { CLAIM_PREFIX, nodeKey, type Generation } from './rows/claimKeys.js';
import { parseNameRow, rowHasClaims } from './rows/nameRow.js';
import { formatNodeRow } from './rows/nodeRow.js';

/** Maximum number of nodes that `take` receives in one call. Arbitrary. */
const NODES_AT_ONCE = 1000;

/** Height of the last block for which the claim trie has the old hash form. */
export function lastOfOldForm(rules: ClaimRules): number {
  const fork = rules.allClaimsForkHeight - 1;
  return rules.normalizationForkHeight === fork ? fork : fork - 1;
}

/** Builds the claim trie of `generation` (its hash form) from the rows of names in the transaction. Returns the root. */
export async function rebuildNodes(rows: RowTransaction, generation: Generation): Promise<Bytes> {
  await dropNodes(rows, generation);
  return buildTrie(rows, generation, async (nodes) => {
    for (const [key, row] of nodes) rows.put(key, row);
    await rows.relieve();
  });
}

/**
 * Computes the trie of `generation` (hash form) from the rows of names. Returns the root. `take` receives the rows of nodes
 * with their keys, in batches. `see` receives the row of every name.
 */
export async function buildTrie(
  rows: RowReader,
  generation: Generation,
  take: (nodes: readonly [key: string, row: Buffer][]) => Promise<void>,
  see: (name: string, row: Bytes) => void = () => undefined,
): Promise<Bytes> {
  const yieldTimer = new YieldTimer();
  const trie = new TrieOfNames(generation);
  const names = { gte: CLAIM_PREFIX.name, lt: prefixEnd(CLAIM_PREFIX.name) };
  for await (const [key, row] of rows.range(names)) {
    const name = key.slice(CLAIM_PREFIX.name.length);
    see(name, row);
    trie.add(name, row);
    if (trie.nodes.length >= NODES_AT_ONCE) await take(trie.nodes.splice(0));
    if (yieldTimer.isDue) await yieldTimer.pause();
  }
  const root = trie.finish();
  await take(trie.nodes);
  return root;
}

/** Computes the nodes and the root of a claim trie from a stream of name rows. */
export class TrieOfNames {
  /** Rows of finished nodes with their keys. The caller must remove them from the array. */
  readonly nodes: [key: string, row: Buffer][] = [];
  private readonly allClaims: boolean;
  private readonly builder: TrieBuilder;

  constructor(generation: Generation) {
    this.allClaims = generation === '1';
    this.builder = new TrieBuilder(this.allClaims, (path, node) => {
      this.nodes.push([nodeKey(generation, path), formatNodeRow(node)]);
    });
  }

  /** Adds a name. Names must be added in ascending byte order, each once. */
  add(name: string, row: Bytes): void {
    if (rowHasClaims(row)) this.addState(name, parseNameRow(row));
  }

  /** Adds a name with claims, like `add`. */
  addState(name: string, { claims, takeover }: Pick<NameState, 'claims' | 'takeover'>): void {
    const hash = claimsHash(claims, takeover, this.allClaims);
    if (hash) this.builder.add(name, hash);
  }

  /** Completes the trie and returns its root. */
  finish(): Bytes {
    return this.builder.finish();
  }
}

/** Deletes the nodes of a generation. A reorg may have left a trie of the same generation. */
async function dropNodes(rows: RowTransaction, generation: Generation): Promise<void> {
  const prefix = CLAIM_PREFIX.node + generation;
  const yieldTimer = new YieldTimer();
  for await (const [key] of rows.range({ gte: prefix, lt: prefixEnd(prefix) })) {
    rows.del(key);
    if (!yieldTimer.isDue) continue;
    await yieldTimer.pause();
    await rows.relieve();
  }
}
