/** Maps long lists item by item without blocking the event loop for longer than a slice. */
import { yieldIfDue } from '../../scheduler/yield.js';

export async function mapYielding<Item, Result>(
  items: readonly Item[],
  map: (item: Item, at: number) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  let since = performance.now();
  for (const [at, item] of items.entries()) {
    results.push(map(item, at));
    since = await yieldIfDue(since);
  }
  return results;
}
