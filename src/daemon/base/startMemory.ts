/**
 * Keeps the memory of the start small. While a program loads, V8 enlarges its new space (up to 32 MiB a thread), and keeps
 * it for seconds afterwards. Source: V8 src/heap/new-spaces.cc `SemiSpaceNewSpace::Grow`.
 */
import { setFlagsFromString } from 'node:v8';

/** V8's default. */
const GROWTH_FACTOR = 2;
/** Time in ms after which the new space may grow although the start has not finished. A longer start processes data, which a small new space slows down. */
const START_MS = 3_000;

let timer: NodeJS.Timeout | null = null;

/**
 * Keeps the new space of all threads at its present size until `allowGrowth` is called, for at most three seconds. Each
 * thread that takes part in the start calls this first, because V8 restores its default when a thread gets its heap.
 */
export function limitStartMemory(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  timer ??= setTimeout(allowGrowth, START_MS).unref();
}

/** Lets the new space of all threads grow. */
export function allowGrowth(): void {
  if (timer !== null) clearTimeout(timer);
  timer = null;
  setFlagsFromString(`--semi-space-growth-factor=${GROWTH_FACTOR}`);
}
