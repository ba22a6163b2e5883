/**
 * Gives memory back that the C library keeps after it was freed. glibc returns only what is free at the end of an arena, so a
 * load leaves pages between blocks that are in use. Looks at times whether much is free, and trims then.
 */
import type { NativeAddon } from '../../native/binding.js';

/** Arbitrary: a trim takes some milliseconds on another thread. */
const LOOK_MS = 30_000;
/** Less free memory than this is left to the C library, which will use it again. Arbitrary. */
const KEPT_FREE_BYTES = 8 << 20;

type Heap = Pick<NativeAddon, 'heapUsage' | 'trimHeap'>;

export class HeapTrim {
  private readonly heap: Heap;
  private readonly timer: NodeJS.Timeout;
  /** Free pages that were given back count as free too, until they are used again. */
  private freeAfterTrim = 0;
  private running: Promise<unknown> = Promise.resolve();

  constructor(heap: Heap) {
    this.heap = heap;
    this.timer = setInterval(() => this.look(), LOOK_MS);
    this.timer.unref();
  }

  /** Ends it. Resolves when nothing is under way. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.running;
  }

  private look(): void {
    const usage = this.heap.heapUsage();
    if (usage === null) return clearInterval(this.timer);
    // What was used again since the last trim makes the free memory less, and is freed into it.
    this.freeAfterTrim = Math.min(this.freeAfterTrim, usage.freeBytes);
    if (usage.freeBytes - this.freeAfterTrim < KEPT_FREE_BYTES) return;
    this.running = this.heap
      .trimHeap()
      .then(() => (this.freeAfterTrim = this.heap.heapUsage()?.freeBytes ?? 0))
      .catch(() => undefined);
  }
}
