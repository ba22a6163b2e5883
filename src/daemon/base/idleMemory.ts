/** Returns unused memory of the daemon to the operating system: the heap of a thread, and memory that the C library keeps. */
import { loadNative, type NativeAddon } from '../../native/binding.js';
import {
  collectWhenIdle,
  threadPort,
  type CollectionPort,
  type LightLoad,
} from '../../util/memory/idleCollection.js';

/** Load under which the threads of the daemon also collect garbage, for example while they seed to slow peers. Arbitrary. */
const LIGHT_LOAD: LightLoad = {
  firstCheckMs: 1_500,
  share: 0.25,
  maxHeapBytes: 48 << 20,
  worthBytes: 2 << 20,
};

/**
 * Limits the memory that the C library keeps for each thread. Call it before the first worker thread starts. Does nothing
 * without the addon.
 */
export function limitKeptMemory(): void {
  loadNative()?.returnFreedMemory();
}

/** Functions of the addon that return memory. */
type MemoryReturn = Pick<NativeAddon, 'trimHeap' | 'unmapIdleCode'>;

/**
 * Returns free memory of the whole process without waiting. Without the trim the C library keeps free pages between used
 * ones, also those of other threads. Does nothing without the addon.
 */
export function returnFreeMemory(native: MemoryReturn | null = loadNative()): void {
  void native
    ?.trimHeap()
    .then(() => native.unmapIdleCode())
    .catch(() => undefined);
}

/**
 * Collects garbage when the calling thread is idle or lightly loaded, then returns free memory of the whole process. Returns a
 * function that stops the checks.
 */
export function returnIdleMemory(
  port: CollectionPort = threadPort(),
  native: MemoryReturn | null = loadNative(),
): () => void {
  const collect = (): void => {
    port.collect();
    returnFreeMemory(native);
  };
  return collectWhenIdle({ ...port, collect }, LIGHT_LOAD);
}
