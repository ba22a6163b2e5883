/** Finds an output by position, and the names under which the claim trie may have filed it. */
import type { Item } from '../../claimtrie/item.js';
import { normalizeKey } from '../../claimtrie/nameKey.js';
import { filesNormalized } from '../../claimtrie/rules.js';
import type { ClaimRules } from '../../claimtrie/types.js';
import { aliveItems, itemsAt } from '../../store/claims/query/itemHistory.js';
import type { RowReader } from '../../store/rows/rows.js';

/**
 * The likeliest first: normalized where the chain does so after block `height`, else as it is. What waits across the
 * normalization fork is queued under its normalized name, and what that normalizes to again is filed there.
 */
export function filedNames(rules: ClaimRules, rawName: string, height: number): readonly string[] {
  const normalized = normalizeKey(rawName);
  const twice = normalizeKey(normalized);
  if (normalized === rawName && twice === normalized) return [rawName];
  const likely = filesNormalized(rules, height) ? normalized : rawName;
  return [...new Set([likely, normalized, twice, rawName])];
}

/** A claim's output where the trie has it at the tip; null when it does not file it. */
export async function findPresentItem(
  rows: RowReader,
  rules: ClaimRules,
  output: { readonly rawName: string; readonly point: string; readonly height: number },
  tipHeight: number,
): Promise<Item | null> {
  const { rawName, point, height } = output;
  const names = filedNames(rules, rawName, tipHeight);
  for (const name of names) {
    const places = [height, rules.normalizationForkHeight]
      .filter((since, i) => i === 0 || since > height)
      .map((since) => ({ since, point }));
    for (const item of await itemsAt(rows, name, places)) if (item.removed === 0) return item;
  }
  // One that was filed again when it became active.
  for (const name of names) {
    const found = (await aliveItems(rows, name, tipHeight)).find((item) => item.point === point);
    if (found) return found;
  }
  return null;
}
