/**
 * What becomes of stored verdicts at a start. A verdict that was found by connecting rests on coins and claims; should
 * these have been wrong, by damage or by a fault of ours, a valid block must not stay invalid permanently.
 */
import { NO_HEADER, STATUS, STATUS_FAILED_MASK, type HeaderTable } from '../../store/files/headerTable.js';

/** A verdict that rests on coins and claims. */
const FOUND_CONNECTING = STATUS.failed | STATUS.failedConnecting;

/** Forgets all verdicts, since the chain state is recomputed (`-reindex-chainstate`). */
export function forgetVerdicts(headers: HeaderTable): void {
  for (let id = 0; id < headers.count; id++) forget(headers, id);
}

/**
 * Blocks that were found wrong while connecting get another chance if they or a block that follows them would be better
 * than the tip, and so does what follows them. What an operator called invalid stays so.
 */
export function retryVerdicts(headers: HeaderTable, tip: number): void {
  if (tip === NO_HEADER) return;
  const first = firstFoundConnecting(headers);
  if (first === NO_HEADER) return;
  // Parents come before children: from the end on, what is better makes all that it stands on worth a try, down to what
  // is bad for another reason.
  const isWorthTrying = new Uint8Array(headers.count - first);
  let found = false;
  for (let id = headers.count - 1; id >= first; id--) {
    if (isWorthTrying[id - first] === 0 && headers.compareWork(id, tip) <= 0) continue;
    const isBad = headers.hasStatus(id, STATUS.failed);
    if (isBad && !headers.hasStatus(id, FOUND_CONNECTING)) continue;
    const prev = headers.prev(id);
    if (prev >= first) isWorthTrying[prev - first] = 1;
    if (!isBad) continue;
    forget(headers, id);
    found = true;
  }
  if (!found) return;
  // Those whose ancestors are all right again fail no more on their account.
  for (let id = first; id < headers.count; id++) {
    if (!headers.hasStatus(id, STATUS.failedChild)) continue;
    const prev = headers.prev(id);
    if (prev === NO_HEADER || !headers.isFailed(prev)) headers.clearStatus(id, STATUS.failedChild);
  }
}

function firstFoundConnecting(headers: HeaderTable): number {
  for (let id = 0; id < headers.count; id++) if (headers.hasStatus(id, FOUND_CONNECTING)) return id;
  return NO_HEADER;
}

function forget(headers: HeaderTable, id: number): void {
  if ((headers.status(id) & (STATUS_FAILED_MASK | STATUS.failedConnecting)) === 0) return;
  headers.clearStatus(id, STATUS_FAILED_MASK | STATUS.failedConnecting);
}
