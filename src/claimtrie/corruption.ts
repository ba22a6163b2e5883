/**
 * Errors for rows of the claim trie that are missing or contradict one another. They are never a verdict on a block, and
 * never a reason to discard a data folder: nodes are rebuilt from names, and the rest is computed again from the block
 * files. `chain/open/claimRepair.ts` handles them.
 */

/** Rows of the claim trie are missing, or contradict one another. The message says which. */
export class ClaimCorruptionError extends Error {
  override readonly name: string = 'ClaimCorruptionError';
  /** The problem, without the remedy. */
  readonly what: string;

  constructor(what: string) {
    super(
      `the stored claim trie is damaged: ${what}; restart with -reindex-chainstate to compute it again from the block files`,
    );
    this.what = what;
  }
}

/** Nodes, totals or the marks of idle names are missing or wrong; they can be rebuilt from the rows of names. */
export class TrieCorruptionError extends ClaimCorruptionError {
  override readonly name = 'TrieCorruptionError';
}

/** Throws `ClaimCorruptionError` unless the condition holds. For conditions that hold if no row is missing. */
export function intact(condition: unknown, what: string): asserts condition {
  if (!condition) throw new ClaimCorruptionError(what);
}

/** The same for conditions that hold if nodes and names are consistent. */
export function trieIntact(condition: unknown, what: string): asserts condition {
  if (!condition) throw new TrieCorruptionError(what);
}
