/** Position of the first key that is not below `key`; the number of keys if all are below. The keys must be sorted. */
export function lowerBound(keys: readonly string[], key: string): number {
  let low = 0;
  for (let high = keys.length; low < high;) {
    const middle = (low + high) >>> 1;
    if (keys[middle]! < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
