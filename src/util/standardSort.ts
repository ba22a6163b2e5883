/**
 * `std::sort` of the GNU C++ library, reproduced step by step. Equal elements get the same order as in the reference,
 * because this order is visible in its results. The sort is stable for up to 16 elements. Source: libstdc++ bits/stl_algo.h,
 * bits/stl_heap.h.
 */

/** Number of elements below which insertion sort is used. Source: `_S_threshold`. */
const THRESHOLD = 16;

/** Sorts `items` in place. `less` must be a strict weak order. */
export function standardSort<T>(items: T[], less: (a: T, b: T) => boolean): T[] {
  if (items.length > THRESHOLD) introSort(items, 0, items.length, 2 * (31 - Math.clz32(items.length)), less);
  for (let i = 1; i < items.length; i++) {
    const item = items[i]!;
    // The reference does not compare the first 16 elements with the first element. The comparison here does not change the
    // result.
    let at = i;
    for (; at > 0 && less(item, items[at - 1]!); at--) items[at] = items[at - 1]!;
    items[at] = item;
  }
  return items;
}

/**
 * The position that the number at index `of` gets when `standardSort` sorts the numbers in ascending order. Only the part of
 * the list that contains this number is partitioned further, so the time is linear.
 */
export function standardPlace(numbers: Float64Array, of: number): number {
  const left = numbers.slice();
  const less = (a: number, b: number): boolean => a < b;
  let place = of;
  let first = 0;
  let last = left.length;
  for (let depth = 2 * (31 - Math.clz32(last)); last - first > THRESHOLD; depth--) {
    if (depth === 0) {
      // This case is rare, so the whole list is sorted.
      const places = Array.from(numbers, (_, i) => i);
      return standardSort(places, (a, b) => numbers[a]! < numbers[b]!).indexOf(of);
    }
    const middle = first + ((last - first) >> 1);
    const pivot = medianOf(left, first + 1, middle, last - 1, less);
    swapNumbers(left, first, pivot);
    if (place === first) place = pivot;
    else if (place === pivot) place = first;
    let low = first + 1;
    let high = last;
    const bound = left[first]!;
    for (;;) {
      while (left[low]! < bound) low++;
      high--;
      while (bound < left[high]!) high--;
      if (low >= high) break;
      swapNumbers(left, low, high);
      if (place === low) place = high;
      else if (place === high) place = low;
      low++;
    }
    if (place >= low) first = low;
    else last = low;
  }
  // The remaining part is sorted by insertion, which is stable.
  const number = left[place]!;
  let result = first;
  for (let i = first; i < last; i++) if (left[i]! < number || (left[i] === number && i < place)) result++;
  return result;
}

function swapNumbers(numbers: Float64Array, a: number, b: number): void {
  const number = numbers[a]!;
  numbers[a] = numbers[b]!;
  numbers[b] = number;
}

function swap<T>(items: T[], a: number, b: number): void {
  const item = items[a]!;
  items[a] = items[b]!;
  items[b] = item;
}

function introSort<T>(
  items: T[],
  first: number,
  end: number,
  depth: number,
  less: (a: T, b: T) => boolean,
): void {
  let last = end;
  let left = depth;
  while (last - first > THRESHOLD) {
    if (left-- === 0) {
      heapSort(items, first, last, less);
      return;
    }
    medianToFirst(items, first, first + 1, first + ((last - first) >> 1), last - 1, less);
    const cut = partition(items, first + 1, last, first, less);
    introSort(items, cut, last, left, less);
    last = cut;
  }
}

/** Source: `__move_median_to_first`. */
function medianToFirst<T>(
  items: T[],
  to: number,
  a: number,
  b: number,
  c: number,
  less: (a: T, b: T) => boolean,
): void {
  swap(items, to, medianOf(items, a, b, c, less));
}

/** Position of the median of three elements. */
function medianOf<T>(
  items: ArrayLike<T>,
  a: number,
  b: number,
  c: number,
  less: (a: T, b: T) => boolean,
): number {
  const [first, second, third] = [items[a]!, items[b]!, items[c]!];
  if (less(first, second)) return less(second, third) ? b : less(first, third) ? c : a;
  return less(first, third) ? a : less(second, third) ? c : b;
}

/** Source: `__unguarded_partition`. */
function partition<T>(
  items: T[],
  first: number,
  end: number,
  pivot: number,
  less: (a: T, b: T) => boolean,
): number {
  let low = first;
  let high = end;
  for (;;) {
    while (less(items[low]!, items[pivot]!)) low++;
    high--;
    while (less(items[pivot]!, items[high]!)) high--;
    if (low >= high) return low;
    swap(items, low, high);
    low++;
  }
}

/** Sorts the range from `first` to `end` by heapsort. Source: `__partial_sort` of a whole range. */
function heapSort<T>(items: T[], first: number, end: number, less: (a: T, b: T) => boolean): void {
  const length = end - first;
  for (let parent = (length - 2) >> 1; parent >= 0; parent--)
    adjustHeap(items, first, parent, length, items[first + parent]!, less);
  for (let last = end - 1; last > first; last--) {
    const item = items[last]!;
    items[last] = items[first]!;
    adjustHeap(items, first, 0, last - first, item, less);
  }
}

/** Moves an element to its position in the heap. Source: `__adjust_heap`, `__push_heap`. */
function adjustHeap<T>(
  items: T[],
  first: number,
  top: number,
  length: number,
  item: T,
  less: (a: T, b: T) => boolean,
): void {
  let hole = top;
  let child = hole;
  while (child < (length - 1) >> 1) {
    child = 2 * (child + 1);
    if (less(items[first + child]!, items[first + child - 1]!)) child--;
    items[first + hole] = items[first + child]!;
    hole = child;
  }
  if ((length & 1) === 0 && child === (length - 2) >> 1) {
    child = 2 * (child + 1);
    items[first + hole] = items[first + child - 1]!;
    hole = child - 1;
  }
  for (let parent = (hole - 1) >> 1; hole > top && less(items[first + parent]!, item);) {
    items[first + hole] = items[first + parent]!;
    hole = parent;
    parent = (hole - 1) >> 1;
  }
  items[first + hole] = item;
}
