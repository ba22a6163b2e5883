/** Returns unused memory of the daemon to the operating system: the heap of a thread, and memory that the C library keeps. */
import { loadNative, type NativeAddon } from '../../native/binding.js';
import { collectWhenIdle, threadPort, type CollectionPort } from '../../util/memory/idleCollection.js';

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
 * Collects garbage when the calling thread is idle, then returns free memory of the whole process. Returns a function that
 * stops the checks.
 */
export function returnIdleMemory(
  port: CollectionPort = threadPort(),
  native: MemoryReturn | null = loadNative(),
): () => void {
  return collectWhenIdle({
    ...port,
    collect: () => {
      port.collect();
      returnFreeMemory(native);
    },
  });
}
