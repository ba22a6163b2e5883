/**
 * Keys that ran short while blocks were looked through, and are made when that can be: some at a time where they are many, once
 * it is unlocked where the wallet was locked. Those blocks are owed another look then.
 */
import type { Bytes } from '../../util/bytes.js';
import type { Wallet } from '../wallet.js';

/**
 * Makes the keys that are missing. Answers their ids, and has the blocks be owed a look; null if no keys were missing, or
 * none can be made.
 */
export async function endShortage(wallet: Wallet): Promise<Bytes[] | null> {
  const { scans } = wallet;
  if (scans.lockedFrom === null || wallet.isLocked) return null;
  const made: Bytes[] = [];
  if (!(await wallet.keys.topUp(undefined, made))) return null;
  await wallet.change((batch) => scans.endShortage(batch));
  return made;
}
