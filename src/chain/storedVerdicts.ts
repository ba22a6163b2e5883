/**
 * What becomes of stored verdicts at a start. A verdict that was found by connecting rests on coins and claims; should
 * these have been wrong, by damage or by a fault of ours, a valid block must not stay invalid for good.
 */
import { NO_HEADER, STATUS, STATUS_FAILED_MASK, type HeaderTable } from '../store/headerTable.js';

/** All blocks get another chance: the chain state is computed anew (`-reindex-chainstate`). */
export function forgetVerdicts(headers: HeaderTable): void {
  for (let id = 0; id < headers.count; id++) forget(headers, id);
}

/**
 * Blocks that were found wrong while connecting get another chance if they would be better than the tip, and what follows
 * them. What an operator called invalid stays so.
 */
export function retryVerdicts(headers: HeaderTable, tip: number): void {
  if (tip === NO_HEADER) return;
  let found = false;
  for (let id = 0; id < headers.count; id++) {
    if (!headers.hasStatus(id, STATUS.failed | STATUS.failedConnecting) || headers.compareWork(id, tip) <= 0)
      continue;
    forget(headers, id);
    found = true;
  }
  if (!found) return;
  // Parents come before children: those whose ancestors are all right again fail no more on their account.
  for (let id = 0; id < headers.count; id++) {
    if (!headers.hasStatus(id, STATUS.failedChild)) continue;
    const prev = headers.prev(id);
    if (prev === NO_HEADER || !headers.isFailed(prev)) headers.clearStatus(id, STATUS.failedChild);
  }
}

function forget(headers: HeaderTable, id: number): void {
  if ((headers.status(id) & (STATUS_FAILED_MASK | STATUS.failedConnecting)) === 0) return;
  headers.clearStatus(id, STATUS_FAILED_MASK | STATUS.failedConnecting);
}
