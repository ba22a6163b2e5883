/**
 * The staging area of the database: writes of one large transaction under a prefix of their own, which count only when the
 * transaction is committed and flushed. Owns the form of its rows.
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

/** What a row of the staging area stands for: a row, or the deletion of one. */
export function stagedRow(staged: Bytes): Bytes | null {
  return staged[0] === 1 ? staged.subarray(1) : null;
}

/** Rows on disk within a range; of the staging area when `isStaged`, as what they stand for. */
export async function* databaseRange(
  db: LevelDb,
  range: RowRange,
  isStaged: boolean,
): AsyncGenerator<[string, Bytes | null]> {
  const { gte, lt, reverse = false, limit } = range;
  // Without the limit: how many of these rows others hide is not known here.
  if (!isStaged) yield* db.iterate({ gte, lt, reverse }, limit);
  else
    for await (const [key, value] of db.iterate({ gte: stagedKey(gte), lt: stagedKey(lt), reverse }, limit))
      yield [key.slice(PREFIX.stage.length), stagedRow(value)];
}
