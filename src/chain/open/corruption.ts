/**
 * Rows that contradict one another or the chain, though each is what was written: never a verdict. Corruption to the bytes
 * themselves is `DatabaseCorruptionError` and `BlockFileError` of the store.
 */
import { EnvironmentError } from '../../util/text/environmentError.js';

/** Coins, claims or indexes contradict the chain; headers and block files are not concerned. */
export function corruptChainState(folder: string, what: string): EnvironmentError {
  return new EnvironmentError(
    `The chain state in ${folder} is damaged: ${what}. Restart with -reindex-chainstate to compute it again from the block files.`,
  );
}
