/**
 * Data about the past in the claim index: the name under which the last output of each ended claim was stored, and the
 * numbers of names and claims after each block. A claim whose last output was created and spent by one block was never in the
 * trie; its row refers to the row of that output (`lbcdFleeting.ts`). Blocks write these rows when they are connected. For blocks
 * before these rows existed, or while the index was off, the rows are computed from the claim trie's item rows and its history of owners,
 * which are never deleted (`pastWalk.ts`). After an upgrade from an older version no block files are needed for this.
 */
import type { Item } from '../../claimtrie/item.js';
import type { ClaimRules } from '../../claimtrie/types.js';
import { readFleetingClaim } from '../../store/claims/lbcd/lbcdFleeting.js';
import { asFiled } from '../../store/claims/query/fleetingItem.js';
import { itemKey } from '../../store/claims/rows/claimKeys.js';
import { parseItemRow } from '../../store/claims/rows/itemRow.js';
import { readPoint, writePoint } from '../../store/claims/rows/nameRow.js';
import { RowDecoder, RowEncoder } from '../../store/claims/rows/rowCodec.js';
import type { ClaimTotals } from '../../store/claims/rows/summaryRow.js';
import type { RowReader } from '../../store/rows/rows.js';
import type { Bytes } from '../../util/bytes.js';
import { endedKey, PAST_KEY, seriesKey } from './claimIndexKeys.js';

/** Fields of the key of an item row (a claim or support in the claim trie), or of an output that its own block spent. */
export interface ItemPlace {
  readonly name: string;
  readonly since: number;
  readonly point: string;
}

export function formatEndedRow({ name, since, point }: ItemPlace): Buffer {
  const out = new RowEncoder();
  out.number(since);
  writePoint(out, point);
  return out.raw(name).finish();
}

export function parseEndedRow(row: Bytes): ItemPlace {
  const input = new RowDecoder(row);
  const since = input.number();
  const point = readPoint(input);
  return { since, point, name: input.raw(row.length - input.position) };
}

/** Numbers of names and claims with their amount, after one block. */
export type SeriesEntry = Pick<ClaimTotals, 'names' | 'claims' | 'amount'>;

export function formatSeriesRow({ names, claims, amount }: SeriesEntry): Buffer {
  return new RowEncoder().number(names).number(claims).amount(amount).finish();
}

function parseSeriesRow(row: Bytes): SeriesEntry {
  const input = new RowDecoder(row);
  return { names: input.number(), claims: input.number(), amount: input.amount() };
}

/**
 * Value of the row that marks the rows about the past as complete. In a folder of an older version the value is empty, and the rows of
 * claims that were created and spent by one block are missing.
 */
export const PAST_VALUE = Buffer.of(2);

/** Which rows about the past are complete. */
export interface KnownPast {
  readonly ended: boolean;
  readonly series: boolean;
}

export async function readKnownPast(rows: RowReader): Promise<KnownPast> {
  const row = await rows.get(PAST_KEY);
  return { ended: row !== undefined && row.length > 0, series: row !== undefined };
}

/** The last output of a claim that ended, by its id (latin1); null for unknown and live claims. */
export async function readEnded(rows: RowReader, rules: ClaimRules, claimId: string): Promise<Item | null> {
  const row = await rows.get(endedKey(claimId));
  if (row === undefined) return null;
  const { name, since, point } = parseEndedRow(row);
  const item = await rows.get(itemKey(name, since, point));
  if (item === undefined) {
    // The output was created and spent by one block. If it has no row, this block was disconnected.
    const fleeting = await readFleetingClaim(rows, { name, since, point });
    return fleeting ? asFiled(rows, rules, fleeting) : null;
  }
  const found = parseItemRow(name, since, point, item);
  // If the item is not removed, the block that ended the claim was disconnected, and the claim exists again.
  return found.removed === 0 ? null : found;
}

/** Numbers and amounts after each of these blocks; null for a block without a row. */
export async function readSeries(
  rows: RowReader,
  heights: readonly number[],
): Promise<(SeriesEntry | null)[]> {
  const found = await rows.getMany(heights.map(seriesKey));
  return heights.map((_, i) => {
    const row = found[i];
    return row ? parseSeriesRow(row) : null;
  });
}
