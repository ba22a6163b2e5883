/**
 * What was written and is in no table yet: runs of rows in order, which never change, so that a walk keeps those
 * that it began with. New runs are merged with older ones as long as these are not at least twice as long.
 */
import { breathe } from '../../util/breathe.js';
import type { Bytes } from '../../util/bytes.js';
import { RecordCursor } from '../rowRecords.js';
import { tagOf } from './block.js';
import type { BatchWriter } from './recordLog.js';

export interface MemoryRow {
  readonly key: string;
  readonly tag: number;
  /** Null for a deletion. */
  readonly value: Buffer | null;
}

/** In the order of keys, each once. */
export type MemoryRun = readonly MemoryRow[];

/** What a row costs in memory beside its bytes; an estimate. */
const ROW_BYTES = 120;
/** Rows that are sorted at once: some 3 ms. */
const CHUNK_ROWS = 2048;
/** Rows between two looks at the clock. Arbitrary, some tenths of a millisecond. */
const ROWS_A_LOOK = 512;

export interface ReadBatch {
  readonly run: MemoryRun;
  readonly changes: number;
  readonly sizeBytes: number;
}

/** The changes of records, numbered from `sequence` on; they are handed to `batch` too. */
export async function readBatch(
  records: readonly Bytes[],
  sequence: number,
  batch: BatchWriter,
): Promise<ReadBatch> {
  let runs: MemoryRun[] = [];
  let chunk: MemoryRow[] = [];
  let since: number | Promise<number> = performance.now();
  let changes = 0;
  let sizeBytes = 0;
  for (const piece of records) {
    // The caller may use its memory again.
    const bytes = Buffer.from(piece);
    const row = new RecordCursor(bytes);
    while (row.next()) {
      batch.add(bytes, row);
      const key = bytes.toString('latin1', row.keyStart, row.valueStart);
      const value = row.isDeletion ? null : bytes.subarray(row.valueStart, row.valueEnd);
      chunk.push({ key, tag: tagOf(sequence + changes++, value !== null), value });
      sizeBytes += ROW_BYTES + 2 * key.length + (value?.length ?? 0);
      if (chunk.length < CHUNK_ROWS) continue;
      runs = await withRun(runs, sorted(chunk));
      chunk = [];
      since = breathe(since);
      if (typeof since !== 'number') since = await since;
    }
  }
  if (chunk.length > 0) runs = await withRun(runs, sorted(chunk));
  let run = runs[0] ?? [];
  for (const older of runs.slice(1)) run = await mergeRuns(run, older);
  return { run, changes, sizeBytes };
}

function sorted(rows: MemoryRow[]): MemoryRun {
  rows.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : b.tag - a.tag));
  return rows.filter(({ key }, i) => i === 0 || rows[i - 1]!.key !== key);
}

/** The runs with a newer one; the newest comes first. */
export async function withRun(runs: readonly MemoryRun[], fresh: MemoryRun): Promise<MemoryRun[]> {
  let run = fresh;
  let merged = 0;
  for (const older of runs) {
    if (older.length >= 2 * run.length) break;
    run = await mergeRuns(run, older);
    merged++;
  }
  return [run, ...runs.slice(merged)];
}

async function mergeRuns(newer: MemoryRun, older: MemoryRun): Promise<MemoryRun> {
  if (older.length === 0) return newer;
  const merged: MemoryRow[] = [];
  let since: number | Promise<number> = performance.now();
  for (let a = 0, b = 0; a < newer.length || b < older.length;) {
    const [one, other] = [newer[a], older[b]];
    const takesOlder = one === undefined || (other !== undefined && other.key < one.key);
    merged.push(takesOlder ? other! : one);
    if (takesOlder) b++;
    else {
      a++;
      if (other?.key === one.key) b++;
    }
    if (merged.length % ROWS_A_LOOK !== 0) continue;
    since = breathe(since);
    if (typeof since !== 'number') since = await since;
  }
  return merged;
}

/** Position of the first row whose key is not below `key`. */
export function runLowerBound(run: MemoryRun, key: string): number {
  let low = 0;
  for (let high = run.length; low < high;) {
    const middle = (low + high) >>> 1;
    if (run[middle]!.key < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
