/**
 * Returns memory to the system that the C library keeps after it was freed. glibc returns only free memory at the end of an
 * arena, so after a load many free pages remain between used blocks. Checks the free memory periodically and trims the heap
 * if there is much.
 */
import type { NativeAddon } from '../../native/binding.js';

/** Milliseconds between the checks of memory. Arbitrary: a trim takes some milliseconds on another thread. */
const LOOK_MS = 30_000;
/**
 * Minimum growth of free memory in bytes that causes a trim. Smaller amounts are left to the C library, which will reuse
 * them. Arbitrary.
 */
const KEPT_FREE_BYTES = 8 << 20;

type Heap = Pick<NativeAddon, 'heapUsage' | 'trimHeap'>;

export class HeapTrim {
  private readonly heap: Heap;
  private readonly timer: NodeJS.Timeout;
  /** Free bytes right after the last trim. The C library still counts trimmed pages as free until they are used again. */
  private freeAfterTrim = 0;
  private running: Promise<unknown> = Promise.resolve();

  constructor(heap: Heap) {
    this.heap = heap;
    this.timer = setInterval(() => this.look(), LOOK_MS);
    this.timer.unref();
  }

  /** Stops the periodic checks. Resolves when no trim is running. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.running;
  }

  private look(): void {
    const usage = this.heap.heapUsage();
    if (usage === null) return clearInterval(this.timer);
    // Trimmed pages that were used again reduce the free memory. When they are freed later, they count as new free memory.
    this.freeAfterTrim = Math.min(this.freeAfterTrim, usage.freeBytes);
    if (usage.freeBytes - this.freeAfterTrim < KEPT_FREE_BYTES) return;
    this.running = this.heap
      .trimHeap()
      .then(() => (this.freeAfterTrim = this.heap.heapUsage()?.freeBytes ?? 0))
      .catch(() => undefined);
  }
}
