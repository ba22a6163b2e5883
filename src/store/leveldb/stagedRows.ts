/**
 * The staging area of the database: the writes of one large transaction, stored under a separate key prefix. These rows
 * become valid when the transaction is committed and flushed. Defines the row format.
 */
import type { Bytes } from '../../util/bytes.js';
import { PREFIX } from '../rows/keys.js';
import type { LevelDb } from './levelDb.js';
import type { RowRange } from '../rows/rows.js';

export const stagedKey = (key: string): string => PREFIX.stage + key;

/** Encodes a row, or the deletion of a row, for the staging area. */
export function stagedForm(value: Bytes | null): Buffer {
  const staged = Buffer.allocUnsafe(value === null ? 1 : value.length + 1);
  staged[0] = value === null ? 0 : 1;
  if (value !== null) staged.set(value, 1);
  return staged;
}

/** Decodes a row of the staging area. Null for the deletion of a row. */
export function stagedRow(staged: Bytes): Bytes | null {
  return staged[0] === 1 ? staged.subarray(1) : null;
}

/** Iterates over the rows on disk within a range. With `isStaged` it reads the staging area and decodes its rows. */
export async function* databaseRange(
  db: LevelDb,
  range: RowRange,
  isStaged: boolean,
): AsyncGenerator<[string, Bytes | null]> {
  const { gte, lt, reverse = false, limit } = range;
  // The limit is not applied, because rows of other layers may hide an unknown number of these rows.
  if (!isStaged) yield* db.iterate({ gte, lt, reverse }, limit);
  else
    for await (const [key, value] of db.iterate({ gte: stagedKey(gte), lt: stagedKey(lt), reverse }, limit))
      yield [key.slice(PREFIX.stage.length), stagedRow(value)];
}
