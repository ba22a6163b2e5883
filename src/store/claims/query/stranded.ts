/**
 * Supports that the normalization fork leaves behind: it moves what is at the nodes of the trie, so that a support of
 * a raw name without one stays where nothing finds it any more. lbcd moves it all the same, and counts it until it is
 * spent or expires; its answers need to know of both. These rows say nothing of the trie.
 * Source: lbrycrd `normalizeAllNamesInTrieIfNecessary`; lbcd `addNormalizationForkChangesIfNecessary`.
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

/** Notes what the fork's block has left behind, when it has moved the rest. */
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

/** Notes what a block after the fork spends of it. */
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

/** Takes back what a block did to these rows. */
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
 * What was left behind under raw forms of a name, under which it is given; of all names when none is named. `removed`
 * reports spends alone.
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
