/**
 * The staging area of the database: writes of one large transaction under a separate prefix. They become valid when the
 * transaction is committed and flushed. Owns the row format.
 */
import type { Bytes } from '../../util/bytes.js';
import { PREFIX } from '../rows/keys.js';
import type { LevelDb } from './levelDb.js';
import type { RowRange } from '../rows/rows.js';

export const stagedKey = (key: string): string => PREFIX.stage + key;

/** The staged form of a row, or of the deletion of one. */
export function stagedForm(value: Bytes | null): Buffer {
  const staged = Buffer.allocUnsafe(value === null ? 1 : value.length + 1);
  staged[0] = value === null ? 0 : 1;
  if (value !== null) staged.set(value, 1);
  return staged;
}

/** Decodes a row of the staging area: a row, or a deletion (null). */
export function stagedRow(staged: Bytes): Bytes | null {
  return staged[0] === 1 ? staged.subarray(1) : null;
}

/** Rows on disk within a range; with `isStaged` the decoded rows of the staging area. */
export async function* databaseRange(
  db: LevelDb,
  range: RowRange,
  isStaged: boolean,
): AsyncGenerator<[string, Bytes | null]> {
  const { gte, lt, reverse = false, limit } = range;
  // The limit is not applied: the number of rows hidden by other layers is not known here.
  if (!isStaged) yield* db.iterate({ gte, lt, reverse }, limit);
  else
    for await (const [key, value] of db.iterate({ gte: stagedKey(gte), lt: stagedKey(lt), reverse }, limit))
      yield [key.slice(PREFIX.stage.length), stagedRow(value)];
}
