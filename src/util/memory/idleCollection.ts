/**
 * Returns unused heap memory of a thread to the operating system while the thread is idle. After a start or a load V8 keeps
 * the memory of its new space and of free pages until the next full garbage collection, which an idle thread never reaches.
 * V8 shrinks the new space only if few objects were created in the seconds before the collection. Source: V8
 * src/heap/heap.cc `Heap::ReduceNewSpaceSize`, src/extensions/gc-extension.cc.
 */
import { performance, type EventLoopUtilization } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Time between two checks. */
const CHECK_MS = 2_500;
/** Number of idle checks in a row before a collection. V8's average of the allocation rate then has become low. */
const IDLE_CHECKS = 6;
/** Maximum share of time in which an idle thread runs JavaScript. Arbitrary. */
const IDLE_SHARE = 0.03;
/** Growth of the heap since the last collection from which another one is worth its processor time. Arbitrary. */
const WORTH_BYTES = 6 << 20;

/** Conditions under which a thread that is not idle also collects garbage. */
export interface LightLoad {
  /** Milliseconds from the start of the thread's checks to the first one. */
  readonly firstCheckMs: number;
  /** Maximum share of time in which the thread runs JavaScript. */
  readonly share: number;
  /** Maximum size of the heap. The pause of a collection grows with the heap. */
  readonly maxHeapBytes: number;
  /** Minimum growth of the heap since the last collection. */
  readonly worthBytes: number;
}

/** Access to the memory and the load of a thread. Tests replace it. */
export interface CollectionPort {
  /** Size of the thread's heap in bytes, including unused parts. */
  readonly heapBytes: () => number;
  /** Share of the time since the last call in which the thread ran JavaScript, from 0 to 1. */
  readonly busyShare: () => number;
  /**
   * Collects garbage. `compacts`: whether all objects are moved to as few pages as possible. That takes more time, and
   * memory for the copies while it runs.
   */
  readonly collect: (compacts: boolean) => void;
}

/** The port of the calling thread. Makes V8's function `gc` available in the process. */
export function threadPort(): CollectionPort {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  let last: EventLoopUtilization = performance.eventLoopUtilization();
  return {
    heapBytes: () => getHeapStatistics().total_physical_size,
    busyShare: () => {
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, last);
      last = now;
      return utilization;
    },
    collect: (compacts) => {
      if (compacts) setFlagsFromString('--compact-on-every-full-gc');
      gc();
      if (compacts) setFlagsFromString('--no-compact-on-every-full-gc');
    },
  };
}

/**
 * Checks regularly whether the calling thread is idle, and collects garbage if its heap has grown since the last such
 * collection. The first collection needs no growth. With `light`, a thread with a small heap also collects garbage under a light
 * load: V8 moves the objects of slow connections to the old generation, and collects that only after the heap has grown to a
 * multiple. The first collection of such a thread, and those while it is idle, compact its heap: the garbage of a start leaves
 * pages with few objects, which V8 otherwise keeps. Returns a function that stops the checks. The checks do not keep the process
 * alive.
 */
export function collectWhenIdle(
  port: CollectionPort = threadPort(),
  light: LightLoad | null = null,
): () => void {
  // A collection under load does not replace the collection of an idle thread, because only the latter shrinks V8's new space.
  let [keptIdle, keptBytes] = [-Infinity, -Infinity];
  let idleChecks = 0;
  let hasCollected = false;
  const check = (): void => {
    const share = port.busyShare();
    idleChecks = share > IDLE_SHARE ? 0 : idleChecks + 1;
    const bytes = port.heapBytes();
    // V8 returns empty pages only some time after a collection.
    keptBytes = Math.min(keptBytes, bytes);
    const isIdle = idleChecks >= IDLE_CHECKS && bytes >= keptIdle + WORTH_BYTES;
    const isLight =
      light !== null &&
      share <= light.share &&
      bytes <= light.maxHeapBytes &&
      bytes >= keptBytes + light.worthBytes;
    if (!isIdle && !isLight) return;
    const isFirst = !hasCollected;
    hasCollected = true;
    port.collect(light !== null && bytes <= light.maxHeapBytes && (isIdle || isFirst));
    keptBytes = port.heapBytes();
    if (isIdle) keptIdle = keptBytes;
  };
  const first = light === null ? null : setTimeout(check, light.firstCheckMs).unref();
  const timer = setInterval(check, CHECK_MS);
  timer.unref();
  return () => {
    if (first !== null) clearTimeout(first);
    clearInterval(timer);
  };
}
