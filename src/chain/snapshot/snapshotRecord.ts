/** The row in which a database records the snapshot that it was started from, and the folders beside the database. */
import type { RowReader, RowWriter } from '../../store/rows/rows.js';
import { PREFIX } from '../../store/rows/keys.js';
import type { SectionSummary } from './snapshotFormat.js';

const RECORD_KEY = `${PREFIX.meta}snapshot`;

export interface SnapshotRecord {
  readonly height: number;
  /** Block id in its printed form (reversed bytes, hex). */
  readonly block: string;
  /** SHA-256 of the snapshot file in hex. */
  readonly hash: string;
  readonly parts: readonly SectionSummary[];
  /**
   * `assumed`: the blocks up to the snapshot are not validated yet. `validated`: they gave the same state. `refuted`: they
   * gave another state, so the database must not be used.
   */
  readonly state: 'assumed' | 'validated' | 'refuted';
  /** Description of the difference that was found; only if the snapshot was refuted. */
  readonly problem?: string;
}

/** Reads the snapshot record; null if the database was computed from blocks alone. */
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

/** Folders beside the folder of the database. */
export interface SnapshotFolders {
  /** Folder of a database that is being filled from a snapshot. It is ignored until it is complete. */
  readonly loading: string;
  /** Path of a complete database that will replace that of the folder. */
  readonly loaded: string;
  /** Folder of the database of the background validation. */
  readonly validation: string;
}

export function snapshotFolders(database: string): SnapshotFolders {
  return {
    loading: `${database}.loading`,
    loaded: `${database}.loaded`,
    validation: `${database}.validation`,
  };
}

/** Message for the operator about a database whose snapshot was refuted. */
export function refutedText({ height, block, hash, problem }: SnapshotRecord): string {
  return (
    `The snapshot of block ${height} (${block}, file hash ${hash}) with which this folder was started is ` +
    `wrong: ${problem ?? 'its blocks do not give its chain state'}. Nothing computed from it can be ` +
    'trusted. Restart with -reindex and without -loadsnapshot: the chain state is rebuilt from the block ' +
    'files, which are kept. Do not use the source of that snapshot again.'
  );
}
