/**
 * Errors for rows of the claim trie that are missing or contradict one another. Such an error is never a verdict on a block
 * and never a reason to discard a data folder. Nodes are rebuilt from the rows of names; all other rows are computed again
 * from the block files. `chain/open/claimRepair.ts` handles them.
 */

/** Rows of the claim trie are missing or contradict one another. The message names the problem. */
export class ClaimCorruptionError extends Error {
  override readonly name: string = 'ClaimCorruptionError';
  /** Description of the problem, without advice for the operator. */
  readonly what: string;

  constructor(what: string) {
    super(
      `the stored claim trie is corrupt: ${what}; restart with -reindex-chainstate to rebuild it from the block files`,
    );
    this.what = what;
  }
}

/**
 * Nodes, totals or the filter of idle names (names with a row but no active claims) are missing or wrong. They can be
 * rebuilt from the rows of names.
 */
export class TrieCorruptionError extends ClaimCorruptionError {
  override readonly name = 'TrieCorruptionError';
}

/** Throws `ClaimCorruptionError` unless the condition holds. For conditions that hold if no row is missing. */
export function intact(condition: unknown, what: string): asserts condition {
  if (!condition) throw new ClaimCorruptionError(what);
}

/** Like `intact`, for conditions that hold if nodes and names are consistent. Throws `TrieCorruptionError`. */
export function trieIntact(condition: unknown, what: string): asserts condition {
  if (!condition) throw new TrieCorruptionError(what);
}
