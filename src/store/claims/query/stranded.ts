/**
 * Supports that the normalization fork does not move ("stranded" supports). The fork moves only the claims and supports of
 * trie nodes. A support of a raw name without a node stays under the raw name, where it is not found any more. lbcd moves
 * such a support and counts it until it is spent or expires, so lbcd's responses depend on its spending. The rows of this
 * module do not affect the trie. Source: lbrycrd `normalizeAllNamesInTrieIfNecessary`; lbcd
 * `addNormalizationForkChangesIfNecessary`.
 */
import { pointKey, REMOVAL, type Item } from '../../../claimtrie/item.js';
import { normalizeKey } from '../../../claimtrie/nameKey.js';
import type { ClaimBlock, ClaimRules } from '../../../claimtrie/types.js';
import { toLatin1 } from '../../../util/bytes.js';
import { prefixEnd, type RowReader, type RowTransaction } from '../../rows/rows.js';
import { YieldTimer } from '../../../scheduler/yieldTimer.js';
import {
  CLAIM_PREFIX,
  parseStrandedKey,
  strandedKey,
  strandedNameKey,
  strandedSpendKey,
  strandedSpendsKey,
} from '../rows/claimKeys.js';
import { aliveItems } from './itemHistory.js';
import { formatItemRow, parseItemRow } from '../rows/itemRow.js';
import { parseNameRow } from '../rows/nameRow.js';

/**
 * Records the supports that the normalization fork's block did not move. Must be called after the other items (claims and
 * supports) have been moved.
 */
export async function strandSupports(rows: RowTransaction, height: number): Promise<void> {
  const yieldTimer = new YieldTimer();
  const names = { gte: CLAIM_PREFIX.name, lt: prefixEnd(CLAIM_PREFIX.name) };
  for await (const [key, row] of rows.range(names)) {
    if (yieldTimer.isDue) await yieldTimer.pause();
    const rawName = key.slice(CLAIM_PREFIX.name.length);
    const name = normalizeKey(rawName);
    if (name === rawName || parseNameRow(row).alive === 0) continue;
    for (const item of await aliveItems(rows, rawName, height)) {
      if (item.kind === 'support' && item.activated !== 0) putStranded(rows, { ...item, name });
    }
    await rows.relieve();
  }
}

function putStranded(rows: RowTransaction, item: Item): void {
  rows.put(strandedKey(item.name, item.since, item.point), formatItemRow(item));
}

/**
 * Records that a block after the normalization fork spends stranded supports (those stored under a name before
 * normalization).
 */
export async function spendStranded(
  rows: RowTransaction,
  rules: ClaimRules,
  { height, transactions }: ClaimBlock,
): Promise<void> {
  const fork = rules.normalizationForkHeight;
  const places: { name: string; since: number; point: string }[] = [];
  for (const { spends } of transactions) {
    for (const { kind, coinHeight, name: raw, txid, n } of spends) {
      if (kind !== 'support' || coinHeight >= fork || height <= fork) continue;
      const rawName = toLatin1(raw);
      const name = normalizeKey(rawName);
      if (name !== rawName) places.push({ name, since: coinHeight, point: pointKey(txid, n) });
    }
  }
  if (places.length === 0) return;
  const keys = places.map(({ name, since, point }) => strandedKey(name, since, point));
  const found = await rows.getMany(keys, { once: true });
  places.forEach(({ name, since, point }, i) => {
    const row = found[i];
    if (!row) return;
    const item = parseItemRow(name, since, point, row);
    putStranded(rows, { ...item, removed: height, removal: REMOVAL.spent });
    rows.put(strandedSpendKey(height, keys[i]!), Buffer.alloc(0));
  });
}

/** Reverts a block's changes to the rows of stranded supports. */
export async function undoStranded(rows: RowTransaction, rules: ClaimRules, height: number): Promise<void> {
  if (height < rules.normalizationForkHeight) return;
  if (height === rules.normalizationForkHeight) {
    for await (const [key] of rows.range(ALL)) {
      rows.del(key);
      await rows.relieve();
    }
    return;
  }
  const prefix = strandedSpendsKey(height);
  for await (const [key] of rows.range({ gte: prefix, lt: prefixEnd(prefix) })) {
    const strandedAt = key.slice(prefix.length);
    const row = await rows.get(strandedAt);
    if (row) putStranded(rows, { ...parseStranded(strandedAt, row), removed: 0, removal: 0 });
    rows.del(key);
  }
}

const ALL = { gte: CLAIM_PREFIX.stranded, lt: prefixEnd(CLAIM_PREFIX.stranded) };

function parseStranded(key: string, row: Uint8Array): Item {
  const { name, since, point } = parseStrandedKey(key);
  return parseItemRow(name, since, point, row);
}

/**
 * The stranded supports under raw forms of a normalized name, or of all names. `removed` is set only for spent supports, not
 * for expired ones.
 */
export async function readStranded(rows: RowReader, name?: string): Promise<Item[]> {
  const prefix = name === undefined ? null : strandedNameKey(name);
  const items: Item[] = [];
  const yieldTimer = new YieldTimer();
  for await (const [key, row] of rows.range(prefix === null ? ALL : { gte: prefix, lt: prefixEnd(prefix) })) {
    if (yieldTimer.isDue) await yieldTimer.pause();
    items.push(parseStranded(key, row));
  }
  return items;
}
