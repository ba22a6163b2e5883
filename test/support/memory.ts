/** Measures the memory of an operation: what remains after it, and its peak. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

export interface MemoryUse {
  /** Bytes on the heap and outside it that are still in use after the operation, without its result. */
  readonly keptBytes: number;
  /** Maximum growth of the process. If the system cannot reset an earlier peak, a lower later peak is not seen. */
  readonly peakBytes: number;
}

/** Bytes that the process uses on its heap and, as the collector reports them, outside it, without garbage. */
export async function heldBytes(): Promise<number> {
  collectGarbage();
  // Memory outside the heap is freed by callbacks that run after the collection.
  await new Promise((resolve) => setImmediate(resolve));
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Writing 5 to this file resets the peak on Linux. */
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
