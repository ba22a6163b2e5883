/** Chooses the implementation of the coin table. */
import { loadNative } from '../../native/binding.js';
import type { CoinTable } from './coinTable.js';
import { CoinTableFallback } from './coinTableFallback.js';

/** An empty table: native when the addon is there, else the fallback. */
export function createCoinTable(): CoinTable {
  const native = loadNative();
  return native ? new native.CoinTable() : new CoinTableFallback();
}
