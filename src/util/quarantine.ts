/** Moves away unusable files that the node does not strictly need (mempool, peers, bans, fees). */
import { existsSync, renameSync } from 'node:fs';
import { systemErrorCode } from './text/environmentError.js';

/** Maximum number of quarantined files with the same original name. Arbitrary. */
const MOST_KEPT = 9;

/**
 * Renames the unusable file at `path`, so that a new file can be written there. Returns the new path, or null if renaming
 * fails.
 */
export function moveToQuarantine(path: string): string | null {
  for (let n = 1; n <= MOST_KEPT; n++) {
    const aside = n === 1 ? `${path}.damaged` : `${path}.damaged-${n}`;
    if (existsSync(aside)) continue;
    try {
      renameSync(path, aside);
      return aside;
    } catch {
      return null;
    }
  }
  return null;
}

/**
 * Moves an unusable file away and returns a message about it. `lost` is a sentence that says which data the node continues
 * without.
 */
export function quarantine(path: string, error: unknown, lost: string): string {
  const code = systemErrorCode(error);
  const reason =
    code === 'EISDIR' ? 'it is a folder' : error instanceof Error ? error.message : String(error);
  const aside = moveToQuarantine(path);
  const done =
    aside === null ? 'Move it away, otherwise the next start finds it again.' : `It was moved to ${aside}.`;
  return `${path} cannot be used (${reason}). ${lost} ${done}`;
}
