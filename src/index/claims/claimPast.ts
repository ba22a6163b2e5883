/**
 * Past data in the claim index: the name under which each ended claim was filed, and the numbers of names and claims after
 * each block. The rows are written with the blocks. For blocks from before these rows existed, or while the index was off,
 * they are computed from the item rows and the history of owners, which are never dropped (`pastWalk.ts`). So a data folder
 * of an older version does not need its blocks again.
 */
import type { Item } from '../../claimtrie/item.js';
import { itemKey } from '../../store/claims/rows/claimKeys.js';
import { parseItemRow } from '../../store/claims/rows/itemRow.js';
import { readPoint, writePoint } from '../../store/claims/rows/nameRow.js';
import { RowDecoder, RowEncoder } from '../../store/claims/rows/rowCodec.js';
import type { ClaimTotals } from '../../store/claims/rows/summaryRow.js';
import type { RowReader } from '../../store/rows/rows.js';
import type { Bytes } from '../../util/bytes.js';
import { endedKey, PAST_KEY, seriesKey } from './claimIndexKeys.js';

/** Key of an item row. */
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

/** Sums over the claim trie after one block. */
export type SeriesEntry = Pick<ClaimTotals, 'names' | 'claims' | 'amount'>;

export function formatSeriesRow({ names, claims, amount }: SeriesEntry): Buffer {
  return new RowEncoder().number(names).number(claims).amount(amount).finish();
}

export function parseSeriesRow(row: Bytes): SeriesEntry {
  const input = new RowDecoder(row);
  return { names: input.number(), claims: input.number(), amount: input.amount() };
}

/** Whether the rows of the past are complete. */
export async function isPastKnown(rows: RowReader): Promise<boolean> {
  return (await rows.get(PAST_KEY)) !== undefined;
}

/** The last output of a claim that ended, by its id (latin1); null for unknown and live claims. */
export async function readEnded(rows: RowReader, claimId: string): Promise<Item | null> {
  const row = await rows.get(endedKey(claimId));
  if (row === undefined) return null;
  const { name, since, point } = parseEndedRow(row);
  const item = await rows.get(itemKey(name, since, point));
  if (item === undefined) return null;
  const found = parseItemRow(name, since, point, item);
  // The block that ended or created it may have been disconnected.
  return found.removed === 0 ? null : found;
}

/** The sums after each of these blocks; null for a block without a row. */
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
