/** The stored tables of blobs' chunks. They save work in later runs; a blob without one is verified by its hash. */
import type { ContentDatabase } from '../content/contentDatabase.js';
import type { BlobCheckRow } from '../content/rows.js';

/** Number of tables that are stored together. Arbitrary. */
const STORED_AT_ONCE = 256;
/** Maximum number of tables in memory for blobs that several readers open. Arbitrary: 64 KiB. */
const MAX_KEPT = 128;

export class ChunkTables {
  readonly #database: Pick<ContentDatabase, 'noteChecked' | 'blobCheck'>;
  readonly #kept = new Map<string, BlobCheckRow>();
  #toStore: BlobCheckRow[] = [];

  constructor(database: Pick<ContentDatabase, 'noteChecked' | 'blobCheck'>) {
    this.#database = database;
  }

  /** Stores a table soon. It replaces an earlier one. */
  note(check: BlobCheckRow): void {
    this.#kept.delete(check.hash);
    this.#toStore.push(check);
    if (this.#toStore.length >= STORED_AT_ONCE) void this.save();
  }

  /** Stores what was noted. A failure loses nothing but time. */
  async save(): Promise<void> {
    const checks = this.#toStore;
    this.#toStore = [];
    if (checks.length > 0) await this.#database.noteChecked(checks).catch(() => undefined);
  }

  /** Finds the last check of a blob's file when it is called. Null if there is none, or if the database cannot be read. */
  of(hash: string): () => Promise<BlobCheckRow | null> {
    return async () => {
      const kept = this.#kept.get(hash);
      if (kept !== undefined) return kept;
      const check = await this.#database.blobCheck(hash).catch(() => null);
      if (check === null) return null;
      this.#kept.set(hash, check);
      const [oldest] = this.#kept.keys();
      if (this.#kept.size > MAX_KEPT) this.#kept.delete(oldest!);
      return check;
    };
  }
}
