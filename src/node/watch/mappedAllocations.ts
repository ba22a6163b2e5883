/**
 * Chooses from which size the C library maps an allocation separately. The kernel clears each page of a new mapping, so a
 * request that reads a block of 400 kB takes two to three times as long with such mappings. Without them the C library keeps more
 * free memory between used blocks. `HeapTrim` returns it, but an import allocates too fast for that.
 */
import type { ChainEvents } from '../../chain/chainEvents.js';
import type { NativeAddon } from '../../native/binding.js';

/** Sizes in bytes during the initial download, and at any other time. Arbitrary: the memory of a typical request is below 1 MiB. */
const DOWNLOAD_BYTES = 128 << 10;
const SERVING_BYTES = 1 << 20;

/** Must be called before the first block is connected. */
export function chooseMappedAllocations(
  events: Pick<ChainEvents, 'on'>,
  native: Pick<NativeAddon, 'mapAllocationsFrom'>,
): void {
  let current = SERVING_BYTES;
  native.mapAllocationsFrom(current);
  events.on('tipChanged', ({ initialDownload }) => {
    const bytes = initialDownload ? DOWNLOAD_BYTES : SERVING_BYTES;
    if (bytes === current) return;
    current = bytes;
    native.mapAllocationsFrom(bytes);
  });
}
