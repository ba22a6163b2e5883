/** Computes sums over a whole wallet that yield during the work but must be consistent. */
import { inSlices } from '../../scheduler/slices.js';
import { atOnce, type Slices } from '../../util/slices.js';
import type { Wallet } from '../wallet.js';

/** Maximum number of restarts after changes; then the sum is computed without a yield. */
const MAX_ATTEMPTS = 3;

/** Returns the result of `work` if nothing changed during its run. It may run several times. */
export async function ofOneState<T>({ ledger }: Wallet, work: () => Slices<T>): Promise<T> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const { revision } = ledger;
    const result = await inSlices(work());
    if (ledger.revision === revision) return result;
  }
  return atOnce(work());
}
