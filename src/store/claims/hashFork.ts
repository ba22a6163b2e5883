/**
 * The block at which the hash form changes: a trie of the other form is built from the names, streaming. The trie of
 * the old form stays as it was, for proofs of before; behind the proof window it may be dropped. A reorganisation over the
 * fork builds it again.
 */
import { claimsHash } from '../../claimtrie/claimsHash.js';
import { TrieBuilder } from '../../claimtrie/trieBuilder.js';
import type { ClaimRules } from '../../claimtrie/types.js';
import type { Bytes } from '../../util/bytes.js';
import { prefixEnd, type RowReader, type RowTransaction } from '../rows/rows.js';
import { YieldTimer } from '../../scheduler/yieldTimer.js';
import { CLAIM_PREFIX, nodeKey, type Generation } from './rows/claimKeys.js';
import { parseNameRow, rowHasClaims } from './rows/nameRow.js';
import { formatNodeRow } from './rows/nodeRow.js';

/** Nodes that are handed over at once. Arbitrary. */
const NODES_AT_ONCE = 1000;

/** The block after which the stored nodes of the old form stand. */
export function lastOfOldForm(rules: ClaimRules): number {
  const fork = rules.allClaimsForkHeight - 1;
  return rules.normalizationForkHeight === fork ? fork : fork - 1;
}

/** Builds the trie of `generation` from the names as the transaction has them; answers its root. */
export async function rebuildNodes(rows: RowTransaction, generation: Generation): Promise<Bytes> {
  await dropNodes(rows, generation);
  return buildTrie(rows, generation, async (nodes) => {
    for (const [key, row] of nodes) rows.put(key, row);
    await rows.relieve();
  });
}

/**
 * Computes the trie of `generation` from the rows of names; answers its root. `take` gets the rows of nodes with their keys,
 * some at a time; `see` gets every name's row.
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

/** Computes nodes and root from the rows of names as they come. */
export class TrieOfNames {
  /** Rows of finished nodes with their keys, to be taken out. */
  readonly nodes: [key: string, row: Buffer][] = [];
  private readonly allClaims: boolean;
  private readonly builder: TrieBuilder;

  constructor(generation: Generation) {
    this.allClaims = generation === '1';
    this.builder = new TrieBuilder(this.allClaims, (path, node) => {
      this.nodes.push([nodeKey(generation, path), formatNodeRow(node)]);
    });
  }

  /** Names must come in ascending byte order, each once. */
  add(name: string, row: Bytes): void {
    if (!rowHasClaims(row)) return;
    const { claims, takeover } = parseNameRow(row);
    const hash = claimsHash(claims, takeover, this.allClaims);
    if (hash) this.builder.add(name, hash);
  }

  /** Completes the trie and returns its root. */
  finish(): Bytes {
    return this.builder.finish();
  }
}

/** A trie of the same generation may be left from before a reorg. */
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
