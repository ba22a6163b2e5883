/**
 * Errors for rows of the claim trie that are missing or contradict one another. They are never a verdict on a block, and
 * never a reason to give up a data folder: nodes are rebuilt from names, and the rest is computed again from the block
 * files. Who catches them is in `chain/open/claimRepair.ts`.
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

/** Nodes, totals or the marks of idle names are missing or wrong: the rows of names say what they must be. */
export class TrieCorruptionError extends ClaimCorruptionError {
  override readonly name = 'TrieCorruptionError';
}

/** Throws `ClaimCorruptionError` unless the condition holds: for what holds as long as every row is there. */
export function intact(condition: unknown, what: string): asserts condition {
  if (!condition) throw new ClaimCorruptionError(what);
}

/** The same for what holds as long as nodes and names agree. */
export function trieIntact(condition: unknown, what: string): asserts condition {
  if (!condition) throw new TrieCorruptionError(what);
}
