/** Creates rolling bloom filters with random keys. */
import { RollingBloomFilter } from '../bloom/rollingBloomFilter.js';
import type { RandomSource } from '../messageHandler.js';

/** Creates a filter that contains at least the last `items` inserted items, with the given false positive rate. */
export function rollingFilter(
  items: number,
  falsePositiveRate: number,
  random: RandomSource,
): RollingBloomFilter {
  return new RollingBloomFilter(items, falsePositiveRate, () => Number(random.u64() & 0xffffffffn));
}
