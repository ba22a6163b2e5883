/** Chooses the implementation of the coin table. */
import { loadNative } from '../../native/binding.js';
import type { CoinTable } from './coinTable.js';
import { CoinTableFallback } from './coinTableFallback.js';

/** An empty table: native if the addon is available, else the fallback. */
export function createCoinTable(): CoinTable {
  const native = loadNative();
  return native ? new native.CoinTable() : new CoinTableFallback();
}
