/** The row of the pending items that are due at one height, and the row of the live items in a snapshot. */
import { pointIndex, type Item } from '../../../claimtrie/item.js';
import type { Bytes } from '../../../util/bytes.js';
import { readPoint, writePoint } from './nameRow.js';
import { RowDecoder, RowEncoder } from './rowCodec.js';

/** Key of a pending item, and its position in the order. */
export interface DueEntry {
  name: string;
  since: number;
  txOffset: number;
  point: string;
}

/** Compares by creation: pending items enter in this order. */
export function compareDue(a: DueEntry, b: DueEntry): number {
  return a.since - b.since || a.txOffset - b.txOffset || pointIndex(a.point) - pointIndex(b.point);
}

const encoder = new RowEncoder();

/** Entries in the order of `compareDue`. */
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

/** Returns `entries` without those in `removed` and with those in `added`, in order. */
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

/** A snapshot of a name is written after this many new items, or twice the number of live items if that is more. Arbitrary. */
export const SNAPSHOT_ITEMS = 64;

/** Keys of the live items of a name. */
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
