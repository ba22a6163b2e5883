/** Chooses who opens LevelDB's files: the addon where it is there, else its fallback. */
import { loadNative } from '../native/binding.js';
import type { LevelDb, LevelDbOptions } from './levelDb.js';
import { LevelDbFallback } from './levelDbFallback.js';
import { NativeLevelDb } from './nativeLevelDb.js';

/** A database that is not open yet. */
export function makeLevelDb(path: string, options: LevelDbOptions): LevelDb {
  const native = loadNative();
  if (native === null) return new LevelDbFallback(path, options);
  native.returnFreedMemory();
  return new NativeLevelDb(native, path, options);
}
