/**
 * Computes sums over a whole wallet. The work yields to the event loop, but the result must belong to one state of the
 * wallet.
 */
import { inSlices } from '../../scheduler/slices.js';
import { atOnce, type Slices } from '../../util/slices.js';
import type { Wallet } from '../wallet.js';

/** Maximum number of runs of a task that a change of the wallet may invalidate. A further run does not yield. */
const MAX_ATTEMPTS = 3;

/** Runs `work` and returns its result if the wallet did not change during the run. Otherwise `work` runs again. */
export async function ofOneState<T>({ ledger }: Wallet, work: () => Slices<T>): Promise<T> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const { revision } = ledger;
    const result = await inSlices(work());
    if (ledger.revision === revision) return result;
  }
  return atOnce(work());
}
