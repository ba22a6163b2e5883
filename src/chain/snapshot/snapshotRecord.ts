/** What a database keeps of the snapshot that it was started from, and the folders beside it. */
import type { RowReader, RowWriter } from '../../store/rows/rows.js';
import { PREFIX } from '../../store/rows/keys.js';
import type { SectionSummary } from './snapshotFormat.js';

const RECORD_KEY = `${PREFIX.meta}snapshot`;

export interface SnapshotRecord {
  readonly height: number;
  /** Printed block id. */
  readonly block: string;
  /** SHA-256 of the file in hex. */
  readonly hash: string;
  readonly parts: readonly SectionSummary[];
  /**
   * `assumed` until the blocks up to it were validated and gave the same state (`validated`), or another (`refuted`): then the
   * database must not be used.
   */
  readonly state: 'assumed' | 'validated' | 'refuted';
  /** What was found instead; only where it was refuted. */
  readonly problem?: string;
}

/** Null for a database that was computed from blocks alone. */
export async function readSnapshotRecord(rows: Pick<RowReader, 'get'>): Promise<SnapshotRecord | null> {
  const row = await rows.get(RECORD_KEY);
  return row ? (JSON.parse(Buffer.from(row).toString()) as SnapshotRecord) : null;
}

export function putSnapshotRecord(rows: Pick<RowWriter, 'put'>, record: SnapshotRecord): void {
  rows.put(RECORD_KEY, Buffer.from(JSON.stringify(record)));
}

export function dropSnapshotRecord(rows: Pick<RowWriter, 'del'>): void {
  rows.del(RECORD_KEY);
}

/** Folders beside the database. */
export interface SnapshotFolders {
  /** A database that is being filled: nothing until it is complete. */
  readonly loading: string;
  /** A complete one that takes the place of the database. */
  readonly loaded: string;
  /** Of the background validation. */
  readonly validation: string;
}

export function snapshotFolders(database: string): SnapshotFolders {
  return {
    loading: `${database}.loading`,
    loaded: `${database}.loaded`,
    validation: `${database}.validation`,
  };
}

/** The advice for a database whose snapshot was refuted. */
export function refutedText({ height, block, hash, problem }: SnapshotRecord): string {
  return (
    `The snapshot of block ${height} (${block}, file hash ${hash}) with which this folder was started is wrong: ${problem ?? 'it was refuted'}. ` +
    'Nothing computed from it can be trusted. Restart with -reindex and without -loadsnapshot: the chain state is computed again from the block files, which are kept. Do not use the source of that snapshot again.'
  );
}
