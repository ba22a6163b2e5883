/**
 * Stored chunk tables of blobs (codes that verify parts of a blob). They save work in later runs; a blob without a stored
 * table is verified by its hash.
 */
import type { ContentDatabase } from '../content/contentDatabase.js';
import type { BlobCheckRow } from '../content/rows.js';

/** Number of tables that are stored together. Arbitrary. */
const STORED_AT_ONCE = 256;
/** Maximum number of tables in memory, for blobs that several readers open. Arbitrary: bounds the memory to 64 KiB. */
const MAX_KEPT = 128;

export class ChunkTables {
  readonly #database: Pick<ContentDatabase, 'noteChecked' | 'blobCheck'>;
  readonly #kept = new Map<string, BlobCheckRow>();
  #toStore: BlobCheckRow[] = [];

  constructor(database: Pick<ContentDatabase, 'noteChecked' | 'blobCheck'>) {
    this.#database = database;
  }

  /** Schedules the storing of a table. A table for the same blob that is not stored yet is replaced. */
  note(check: BlobCheckRow): void {
    this.#kept.delete(check.hash);
    this.#toStore.push(check);
    if (this.#toStore.length >= STORED_AT_ONCE) void this.save();
  }

  /** Stores the scheduled tables. A failure only costs time, because the tables can be computed again. */
  async save(): Promise<void> {
    const checks = this.#toStore;
    this.#toStore = [];
    if (checks.length > 0) await this.#database.noteChecked(checks).catch(() => undefined);
  }

  /**
   * Returns a function that finds the last check of a blob's file when it is called. The result is null if there is none, or
   * if the database cannot be read.
   */
  of(hash: string): () => Promise<BlobCheckRow | null> {
    return async () => {
      const kept = this.#kept.get(hash);
      if (kept !== undefined) return kept;
      const check = await this.#database.blobCheck(hash).catch(() => null);
      if (check === null) return null;
      this.remember(check);
      return check;
    };
  }

  /** Keeps a stored table in memory. It is used only for a file with the stamp of the check. */
  remember(check: BlobCheckRow): void {
    this.#kept.set(check.hash, check);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_KEPT) this.#kept.delete(oldest!);
  }
}
