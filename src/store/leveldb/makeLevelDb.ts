/** Selects the LevelDB implementation: the addon if available, else the package `classic-level`. */
import { loadNative } from '../../native/binding.js';
import type { LevelDb, LevelDbOptions } from './levelDb.js';
import { NativeLevelDb } from './nativeLevelDb.js';
import { PackageLevelDb } from './packageLevelDb.js';

/** Creates the interface to a database, which is not opened yet. */
export function makeLevelDb(path: string, options: LevelDbOptions): LevelDb {
  const native = loadNative();
  if (native === null) return new PackageLevelDb(path, options);
  native.returnFreedMemory();
  return new NativeLevelDb(native, path, options);
}
