/**
 * Stored chunk tables of blobs (codes that verify parts of a blob). They save work in later runs; a blob without a stored
 * table is verified by its hash.
 */
import type { ContentDatabase } from '../content/contentDatabase.js';
import type { BlobCheckRow } from '../content/rows.js';

/** Number of tables that are stored together. Arbitrary. */
const STORED_AT_ONCE = 256;
/** Maximum number of tables in memory. Arbitrary: bounds the memory to 0.7 MiB, for a file of 2 GiB. */
const MAX_KEPT = 1024;
/** Number of tables that are loaded in one call, so that a call does not block a thread for long. Arbitrary. */
const LOADED_AT_ONCE = 64;

type TableDatabase = Pick<ContentDatabase, 'noteChecked' | 'blobCheck' | 'blobChecks'>;

export class ChunkTables {
  readonly #database: TableDatabase;
  readonly #kept = new Map<string, BlobCheckRow>();
  /** Tables that `load` is loading, by blob hash. */
  readonly #loading = new Map<string, Promise<void>>();
  #toStore: BlobCheckRow[] = [];

  constructor(database: TableDatabase) {
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
      await this.#loading.get(hash);
      const kept = this.#kept.get(hash);
      if (kept !== undefined) return kept;
      const check = await this.#database.blobCheck(hash).catch(() => null);
      if (check === null) return null;
      this.remember(check);
      return check;
    };
  }

  /** Loads stored tables of blobs that are read soon. After a failure, a table is loaded when its blob is opened. */
  async load(hashes: readonly string[]): Promise<void> {
    const missing = hashes.filter((hash) => !this.#kept.has(hash) && !this.#loading.has(hash));
    const parts: string[][] = [];
    for (let at = 0; at < Math.min(missing.length, MAX_KEPT); at += LOADED_AT_ONCE)
      parts.push(missing.slice(at, at + LOADED_AT_ONCE));
    for (const part of parts) {
      const loading = this.#loadPart(part).finally(() => {
        for (const hash of part) this.#loading.delete(hash);
      });
      for (const hash of part) this.#loading.set(hash, loading);
      await loading;
    }
  }

  async #loadPart(hashes: readonly string[]): Promise<void> {
    for (const check of await this.#database.blobChecks(hashes).catch(() => [])) this.remember(check);
  }

  /** Keeps a stored table in memory. It is used only for a file with the stamp of the check. */
  remember(check: BlobCheckRow): void {
    this.#kept.set(check.hash, check);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_KEPT) this.#kept.delete(oldest!);
  }
}
