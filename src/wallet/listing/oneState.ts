/** Sums over all of a wallet, which pause on their way and must be those of one moment. */
import { inSlices } from '../../scheduler/slices.js';
import { atOnce, type Slices } from '../../util/slices.js';
import type { Wallet } from '../wallet.js';

/** This often a sum is started over because something has changed; then it is made without a pause. */
const MAX_ATTEMPTS = 3;

/** What `work` gives when nothing changes between its beginning and its end. It may run several times. */
export async function ofOneState<T>({ ledger }: Wallet, work: () => Slices<T>): Promise<T> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const { revision } = ledger;
    const result = await inSlices(work());
    if (ledger.revision === revision) return result;
  }
  return atOnce(work());
}
