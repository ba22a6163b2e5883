/**
 * Handles a shortage of keys: the key pool could not be filled during a scan, because too many keys were needed at once or
 * the wallet was locked. When the keys are created later, a rescan of the affected blocks is recorded as owed.
 */
import type { Bytes } from '../../util/bytes.js';
import type { Wallet } from '../wallet.js';

/**
 * Creates the missing keys, and records that a rescan of the affected blocks is owed. Returns the ids of the new keys.
 * Returns null if no keys were missing, or if the keys cannot be created.
 */
export async function endShortage(wallet: Wallet): Promise<Bytes[] | null> {
  const { scans } = wallet;
  if (scans.lockedFrom === null || wallet.isLocked) return null;
  const made: Bytes[] = [];
  if (!(await wallet.keys.topUp(undefined, made))) return null;
  await wallet.change((batch) => scans.endShortage(batch));
  return made;
}
