/** Selects the implementation of the memtable. */
import { loadNative } from '../../native/binding.js';
import type { Memtable } from './memtable.js';
import { MemtableFallback } from './memtableFallback.js';
import { NativeMemtable } from './nativeMemtable.js';

/** Creates an empty table: the native table if the addon is available, else the fallback. */
export function createMemtable(): Memtable {
  const native = loadNative();
  return native ? new NativeMemtable(new native.Memtable()) : new MemtableFallback();
}
