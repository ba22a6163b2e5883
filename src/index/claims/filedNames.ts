/** Finds an output's item in the claim trie, and the names under which the trie may have stored it. */
import type { Item } from '../../claimtrie/item.js';
import { normalizeKey } from '../../claimtrie/nameKey.js';
import { filesNormalized } from '../../claimtrie/rules.js';
import type { ClaimRules } from '../../claimtrie/types.js';
import { aliveItems, itemsAt } from '../../store/claims/query/itemHistory.js';
import type { RowReader } from '../../store/rows/rows.js';

/**
 * Names under which the claim trie may store an output, the most likely first: the normalized name if the chain normalizes
 * names after block `height`, otherwise the raw name. An item that was not active yet at the normalization fork was stored
 * under its normalized name; when it becomes active, that name is normalized once more.
 */
export function filedNames(rules: ClaimRules, rawName: string, height: number): readonly string[] {
  const normalized = normalizeKey(rawName);
  const twice = normalizeKey(normalized);
  if (normalized === rawName && twice === normalized) return [rawName];
  const likely = filesNormalized(rules, height) ? normalized : rawName;
  return [...new Set([likely, normalized, twice, rawName])];
}

/** Item of a claim's output in the claim trie at the tip; null if the trie does not contain it. */
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
  // When an item becomes active, it may be stored again with another value of `since`. So all items of the name are
  // searched.
  for (const name of names) {
    const found = (await aliveItems(rows, name, tipHeight)).find((item) => item.point === point);
    if (found) return found;
  }
  return null;
}
