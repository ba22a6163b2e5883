/**
 * Errors for rows that contradict one another or the chain, although their bytes are intact: never a verdict. Corrupt bytes
 * are reported by `DatabaseCorruptionError` and `BlockFileError` of the store.
 */
import { EnvironmentError } from '../../util/text/environmentError.js';

/** Error: coins, claims or indexes contradict the chain. Headers and block files are not affected. */
export function corruptChainState(folder: string, what: string): EnvironmentError {
  return new EnvironmentError(
    `The chain state in ${folder} is corrupt: ${what}. Restart with -reindex-chainstate to rebuild it ` +
      'from the block files.',
  );
}
