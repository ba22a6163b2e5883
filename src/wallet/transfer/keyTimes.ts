/**
 * Determines the creation times of keys, also of keys without a recorded time. Source: lbrycrd wallet/wallet.cpp
 * `GetKeyBirthTimes`.
 */
import { fromLatin1, toLatin1 } from '../../util/bytes.js';
import type { Slices } from '../../util/slices.js';
import { keyIdsOf } from '../keys/affectedKeys.js';
import { TIMESTAMP_WINDOW_SEC } from '../scan/rescan.js';
import type { Wallet } from '../wallet.js';

/** Number of blocks below the tip that a reorg may replace. Only older blocks are used for estimates. */
const SAFE_DEPTH = 144;

/**
 * Creation time in seconds since 1970 of each key, by key id (latin1). An unknown time is estimated from the first block
 * that contains the key.
 */
export function* keyTimes(wallet: Wallet): Slices<Map<string, number>> {
  const { keyring, ledger, node, followedHeight } = wallet;
  const times = new Map<string, number>();
  const firstHeights = new Map<string, number>();
  const latest = Math.max(0, followedHeight - SAFE_DEPTH);
  let count = 0;
  for (const id of keyring.keyIds()) {
    const createdSec = keyring.metadata(fromLatin1(id))?.createdSec ?? 0;
    if (createdSec !== 0) times.set(id, createdSec);
    else firstHeights.set(id, latest);
    if (++count % 1024 === 0) yield;
  }
  if (firstHeights.size === 0) return times;
  for (const entry of ledger.all()) {
    if (entry.state !== 'confirmed') continue;
    for (const { script } of ledger.transaction(entry).outputs) {
      for (const keyId of keyIdsOf(keyring, script)) {
        const id = toLatin1(keyId);
        if (entry.height < (firstHeights.get(id) ?? -1)) firstHeights.set(id, entry.height);
      }
    }
    yield;
  }
  for (const [id, height] of firstHeights)
    times.set(
      id,
      node.chain.timeSecAt(Math.max(0, Math.min(height, node.chain.height))) - TIMESTAMP_WINDOW_SEC,
    );
  return times;
}
