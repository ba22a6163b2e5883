/**
 * Handling of stored verdicts at startup. A verdict that was found while connecting a block depends on coins and claims. If
 * corruption or a bug made that data wrong, a valid block must not remain invalid.
 */
import { NO_HEADER, STATUS, STATUS_FAILED_MASK, type HeaderTable } from '../../store/files/headerTable.js';

/** Flags of a block that failed because of coins or claims, when it was connected. */
const FOUND_CONNECTING = STATUS.failed | STATUS.failedConnecting;

/** Clears all verdicts, since the chain state is recomputed (`-reindex-chainstate`). */
export function forgetVerdicts(headers: HeaderTable): void {
  for (let id = 0; id < headers.count; id++) forget(headers, id);
}

/**
 * Clears the verdict on blocks that failed while connecting and that have more work than the tip, or a descendant with more
 * work. Also clears the mark of their descendants. Blocks that an operator invalidated stay invalid.
 */
export function retryVerdicts(headers: HeaderTable, tip: number): void {
  if (tip === NO_HEADER) return;
  const first = firstFoundConnecting(headers);
  if (first === NO_HEADER) return;
  // Parents have lower ids than their children. The loop runs from the highest id down: a block with more work than the
  // tip marks all its ancestors to be tried again, down to an ancestor that failed for another reason.
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
  // Clears the mark of those blocks whose ancestors do not fail any more.
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
