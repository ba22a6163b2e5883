/**
 * Returns unused memory of the daemon to the operating system: the heap of a thread, memory that the C library keeps, and code that
 * is not in use.
 */
import { readFileSync } from 'node:fs';
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
  const collect = (compacts: boolean): void => {
    port.collect(compacts);
    returnFreeMemory(native);
  };
  return collectWhenIdle({ ...port, collect }, LIGHT_LOAD);
}

/** Growth of the resident file pages that causes an unmapping. Arbitrary. */
const WORTH_FILE_PAGES = 1024;
/** Third number of /proc/self/statm (proc(5)). */
const FILE_PAGES = /^\d+ \d+ (\d+) /;

/** Number of resident pages of 4096 bytes that are mapped from files; 0 if the system does not report it. */
function residentFilePages(): number {
  try {
    return Number(FILE_PAGES.exec(readFileSync('/proc/self/statm', 'latin1'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/**
 * Returns a function that unmaps code if the resident pages of mapped files have grown. A lightly loaded process calls it
 * regularly, because the kernel maps 16 pages at each access to an unmapped page, and keeps pages that were used only once.
 */
export function codeUnmapper(
  filePages: () => number = residentFilePages,
  native: Pick<NativeAddon, 'unmapIdleCode'> | null = loadNative(),
): () => void {
  let kept = Infinity;
  return () => {
    const pages = filePages();
    kept = Math.min(kept, pages);
    if (pages >= kept + WORTH_FILE_PAGES) void native?.unmapIdleCode().catch(() => undefined);
  };
}
