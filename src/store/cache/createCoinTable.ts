/** Selects the implementation of the coin table: the addon's or the JavaScript one. */
import { loadNative } from '../../native/binding.js';
import type { CoinTable } from './coinTable.js';
import { CoinTableFallback } from './coinTableFallback.js';

/** Creates an empty table: the native table if the addon is available, else the fallback. */
export function createCoinTable(): CoinTable {
  const native = loadNative();
  return native ? new native.CoinTable() : new CoinTableFallback();
}
