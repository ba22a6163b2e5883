/** Runs SQL statements on one connection: caches prepared statements, and groups statements in transactions. */
import type { SqliteDatabase, SqliteStatement, SqlRow, SqlValue } from './sqliteProvider.js';

/** Maximum number of cached statements, since search filters create many different ones. Arbitrary. */
const MAX_KEPT = 500;

export class Statements {
  readonly database: SqliteDatabase;
  private readonly kept = new Map<string, SqliteStatement>();
  private depth = 0;

  constructor(database: SqliteDatabase) {
    this.database = database;
  }

  of(sql: string): SqliteStatement {
    const known = this.kept.get(sql);
    if (known) return known;
    if (this.kept.size >= MAX_KEPT) this.kept.clear();
    const statement = this.database.prepare(sql);
    this.kept.set(sql, statement);
    return statement;
  }

  run(sql: string, ...values: SqlValue[]): number {
    return Number(this.of(sql).run(...values).changes);
  }

  get(sql: string, ...values: SqlValue[]): SqlRow | undefined {
    return this.of(sql).get(...values);
  }

  all(sql: string, ...values: SqlValue[]): SqlRow[] {
    return this.of(sql).all(...values);
  }

  /** Returns the number in the first column of the only result row. */
  number(sql: string, ...values: SqlValue[]): number {
    return Number(Object.values(this.get(sql, ...values)!)[0]);
  }

  /** Inserts a row and returns its number. */
  insert(sql: string, ...values: SqlValue[]): number {
    return Number(this.of(sql).run(...values).lastInsertRowid);
  }

  /** Runs `task` atomically in a transaction. A call within `task` becomes part of this transaction. */
  transaction<T>(task: () => T): T {
    if (this.depth > 0) return task();
    this.database.exec('BEGIN IMMEDIATE');
    this.depth++;
    try {
      const result = task();
      this.database.exec('COMMIT');
      return result;
    } catch (error) {
      try {
        this.database.exec('ROLLBACK');
      } catch {
        // If the disk is full, SQLite has already ended the transaction, and the rollback fails. The error of the rollback
        // is ignored, because the first error is the relevant one.
      }
      throw error;
    } finally {
      this.depth--;
    }
  }

  close(): void {
    this.kept.clear();
    this.database.close();
  }
}

/** Parameter with texts for `IN (SELECT value FROM json_each(?))`. */
export const textList = (values: readonly string[]): string => JSON.stringify(values);

/** Parameter with hashes for `IN (SELECT unhex(value) FROM json_each(?))`. */
export const blobList = (values: readonly Uint8Array[]): string =>
  JSON.stringify(values.map((value) => Buffer.from(value).toString('hex')));

export const bufferOf = (value: SqlValue | undefined): Buffer => {
  const { buffer, byteOffset, byteLength } = value as Uint8Array;
  return Buffer.from(buffer, byteOffset, byteLength);
};
