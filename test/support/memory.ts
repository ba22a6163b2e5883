/** Memory that a piece of work takes: what it leaves behind, and the most that it held at once. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

export interface MemoryUse {
  /** Heap, and memory outside of it, that is still held when the work is done and its result dropped. */
  readonly keptBytes: number;
  /** By how much the process grew at most. Where the system cannot forget an earlier peak, that one hides a smaller one. */
  readonly peakBytes: number;
}

/** What the process holds on its heap and, known to the collector, outside of it: garbage does not count. */
export async function heldBytes(): Promise<number> {
  collectGarbage();
  // Memory outside of the heap is given back by callbacks that run after the collection.
  await new Promise((resolve) => setImmediate(resolve));
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Writing 5 here makes Linux forget the peak so far. */
const CLEAR_PEAK = '/proc/self/clear_refs';
const canClear = existsSync(CLEAR_PEAK);

function peakBytesSoFar(): number {
  if (!canClear) return process.resourceUsage().maxRSS * 1024;
  const kib = /^VmHWM:\s*([0-9]+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  return Number(kib) * 1024;
}

export async function memoryOf(work: () => void): Promise<MemoryUse> {
  const held = await heldBytes();
  if (canClear) writeFileSync(CLEAR_PEAK, '5');
  const peak = peakBytesSoFar();
  work();
  const peakBytes = peakBytesSoFar() - peak;
  return { keptBytes: (await heldBytes()) - held, peakBytes };
}
