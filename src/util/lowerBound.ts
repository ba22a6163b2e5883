/** Position of the first of sorted keys that is not below `key`; their count where all are. */
export function lowerBound(keys: readonly string[], key: string): number {
  let low = 0;
  for (let high = keys.length; low < high;) {
    const middle = (low + high) >>> 1;
    if (keys[middle]! < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
