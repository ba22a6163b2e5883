/**
 * Handles a shortage of keys: the keypool could not be filled during a scan, because too many keys were needed at once or
 * the wallet was locked. The keys are created later, and the affected blocks are then recorded as owed a rescan.
 */
import type { Bytes } from '../../util/bytes.js';
import type { Wallet } from '../wallet.js';

/**
 * Creates the missing keys, and records their blocks as owed a rescan. Returns the ids of the keys; null if none were
 * missing or they cannot be created.
 */
export async function endShortage(wallet: Wallet): Promise<Bytes[] | null> {
  const { scans } = wallet;
  if (scans.lockedFrom === null || wallet.isLocked) return null;
  const made: Bytes[] = [];
  if (!(await wallet.keys.topUp(undefined, made))) return null;
  await wallet.change((batch) => scans.endShortage(batch));
  return made;
}
