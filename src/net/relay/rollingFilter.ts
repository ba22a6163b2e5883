/** Rolling bloom filters keyed by a source of randomness. */
import { RollingBloomFilter } from '../bloom/rollingBloomFilter.js';
import type { RandomSource } from '../messageHandler.js';

/** Remembers the last `items` items; another seems to be among them at the given rate. */
export function rollingFilter(
  items: number,
  falsePositiveRate: number,
  random: RandomSource,
): RollingBloomFilter {
  return new RollingBloomFilter(items, falsePositiveRate, () => Number(random.u64() & 0xffffffffn));
}
