/** Memory that a piece of work takes: what it leaves behind, and by how much it raised the process's peak. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

export interface MemoryUse {
  /** Heap, and memory outside of it, that is still held when the work is done and its result dropped. */
  readonly keptBytes: number;
  /** By how much the largest size of the process grew; 0 when it had been larger before. */
  readonly peakBytes: number;
}

function heldBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

export function memoryOf(work: () => void): MemoryUse {
  const held = heldBytes();
  const peak = process.resourceUsage().maxRSS;
  work();
  const peakBytes = (process.resourceUsage().maxRSS - peak) * 1024;
  return { keptBytes: heldBytes() - held, peakBytes };
}
