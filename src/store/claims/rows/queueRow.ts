/** The row of the pending items (claims and supports) that are due at one height, and the row of the live items in a snapshot. */
import { pointIndex, type Item } from '../../../claimtrie/item.js';
import type { Bytes } from '../../../util/bytes.js';
import { readPoint, writePoint } from './nameRow.js';
import { RowDecoder, RowEncoder } from './rowCodec.js';

/** Key of a pending item (claim or support), and the fields that determine its order. */
export interface DueEntry {
  name: string;
  since: number;
  txOffset: number;
  point: string;
}

/** Compares pending items (claims and supports) by creation. Items with the same due height become active in this order. */
export function compareDue(a: DueEntry, b: DueEntry): number {
  return a.since - b.since || a.txOffset - b.txOffset || pointIndex(a.point) - pointIndex(b.point);
}

const encoder = new RowEncoder();

/** Formats a row. The entries must be in the order of `compareDue`. */
export function formatDueRow(entries: readonly DueEntry[]): Buffer {
  for (const entry of entries) {
    encoder.string(entry.name).number(entry.since).number(entry.txOffset);
    writePoint(encoder, entry.point);
  }
  return encoder.finish();
}

export function parseDueRow(row: Bytes | undefined): DueEntry[] {
  const entries: DueEntry[] = [];
  if (!row) return entries;
  const input = new RowDecoder(row);
  while (!input.done) {
    const name = input.string();
    const since = input.number();
    const txOffset = input.number();
    entries.push({ name, since, txOffset, point: readPoint(input) });
  }
  return entries;
}

/** Removes `removed` from `entries`, and inserts `added` in order. */
export function mergeDue(
  entries: readonly DueEntry[],
  added: Iterable<Item>,
  removed: ReadonlySet<Item> | undefined,
): DueEntry[] {
  const gone = new Set<string>();
  for (const item of removed ?? []) gone.add(item.point);
  const merged = entries.filter((entry) => !gone.has(entry.point));
  const size = merged.length;
  for (const { name, since, txOffset, point } of added) merged.push({ name, since, txOffset, point });
  return merged.length > size ? merged.sort(compareDue) : merged;
}

/**
 * Number of new items (claims and supports) of a name after which a snapshot is written. If twice the number of live items
 * is larger, that number applies. Arbitrary.
 */
export const SNAPSHOT_ITEMS = 64;

/** Key fields of a live item (claim or support) of a name. */
export interface SnapshotEntry {
  since: number;
  point: string;
}

export function formatSnapshotRow(entries: readonly SnapshotEntry[]): Buffer {
  for (const { since, point } of entries) {
    encoder.number(since);
    writePoint(encoder, point);
  }
  return encoder.finish();
}

export function parseSnapshotRow(row: Bytes): SnapshotEntry[] {
  const entries: SnapshotEntry[] = [];
  const input = new RowDecoder(row);
  while (!input.done) {
    const since = input.number();
    entries.push({ since, point: readPoint(input) });
  }
  return entries;
}
