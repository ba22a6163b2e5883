/** Rows of blobs: known, finished, announced and own ones. Source: lbry-sdk lbry/extras/daemon/storage.py `SQLiteStorage`. */
import { opendirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { SqlRow } from '../../sqlite/sqliteProvider.js';
import { textList, type Statements } from '../../sqlite/statements.js';
import { isBlobHash } from './blobHash.js';
import { BlobHashes } from './blobHashes.js';
import type { OriginalRows } from './originalRows.js';
import type { StoredChunkTable } from './chunkTable.js';
import type { BlobCheckRow, BlobRow, DiskUsage, Reconciled, StoredBlob } from './rows.js';

/**
 * Seconds for which peers keep an announcement. The blob is announced again after half of this time. Source: lbry-sdk
 * lbry/dht/constants.py `DATA_EXPIRATION`.
 */
const ANNOUNCED_SEC = 86_400;

/** Number of rows that are read in one step, so that few rows are in memory. Arbitrary. */
const ROWS_AT_ONCE = 2000;
/** Number of folder entries that are read together. Arbitrary. */
const ENTRIES_AT_ONCE = 1024;

const ADD = `insert or ignore into blob values (?, ?, 0, 0, ?, 0, 0, ?, ?)`;

const IS_SD = `exists (select 1 from stream where sd_hash = blob.blob_hash)`;
/**
 * SQL condition: a stream contains the blob. The row of such a blob stays after its deletion, so that the stream knows which
 * blobs are missing.
 */
const IN_STREAM = `(exists (select 1 from stream_blob m where m.blob_hash = blob.blob_hash) or ${IS_SD})`;

const GIVEN = '(select value from json_each(?))';

export class BlobRows {
  readonly #main: Statements;
  readonly #own: Statements;
  readonly #originals: OriginalRows;
  readonly #folder: string;

  constructor(main: Statements, own: Statements, originals: OriginalRows, folder: string) {
    this.#main = main;
    this.#own = own;
    this.#originals = originals;
    this.#folder = folder;
  }

  /**
   * Adds rows of blobs that are on disk (`isFinished`), or whose hash is known but not the content. A finished blob stays
   * finished.
   */
  add(rows: readonly BlobRow[], isFinished: boolean): void {
    this.#main.transaction(() => {
      for (const { hash, lengthBytes, addedOn, isMine } of rows) {
        this.#main.run(ADD, hash, lengthBytes, isFinished ? 'finished' : 'pending', addedOn, Number(isMine));
        if (isFinished)
          this.#main.run(
            `update blob set status = 'finished', blob_length = ? where blob_hash = ?`,
            lengthBytes,
            hash,
          );
      }
    });
  }

  setPending(hashes: readonly string[]): void {
    this.#main.run(`update blob set status = 'pending' where blob_hash in ${GIVEN}`, textList(hashes));
  }

  /**
   * Compares the files in the folder with the rows, without reading the files. Temporary files of interrupted writes are
   * removed. A finished blob without a file becomes pending, unless it can be made from a published file. The caller must
   * check files that have no row of a finished blob. Source: `sync_missing_blobs`.
   */
  reconcile(
    partialSuffix: string,
  ): Omit<Reconciled, 'isLost' | 'finished'> & { readonly finished: BlobHashes } {
    const { count } = this.#main.get('select count(*) as count from blob')!;
    const there = this.#inFolder(partialSuffix, Number(count));
    this.#removeDoomed(there);
    const finished = new BlobHashes(there.size);
    const missing: string[] = [];
    for (const hash of this.#finished()) {
      if (there.delete(hash)) finished.add(hash);
      else missing.push(hash);
    }
    const made = this.#originals.madeOf(missing);
    const canBeMade = new Set(made.map(({ hash }) => hash));
    for (const hash of canBeMade) finished.add(hash);
    const lost = missing.filter((hash) => !canBeMade.has(hash));
    if (lost.length > 0) this.setPending(lost);
    const stamp = this.#own.of('select stamp from blob_check where blob_hash = ?');
    const unknown = [...there].map(
      (hash) => [hash, (stamp.get(hash)?.['stamp'] as string | undefined) ?? null] as const,
    );
    return { finished, unknown, made };
  }

  /** Iterates over the hashes of all finished blobs. */
  *#finished(): Generator<string> {
    for (let after: number | null = 0; after !== null;) {
      // One concatenated text per page of rows takes less time and memory than a result row for each blob.
      const row: SqlRow = this.#main.get(
        `select max(id) as id, count(*) as count, group_concat(blob_hash, ' ') as hashes from (
           select rowid as id, blob_hash from blob where rowid > ? and status = 'finished' order by rowid limit ?)`,
        after,
        ROWS_AT_ONCE,
      )!;
      if (row['hashes'] !== null) yield* (row['hashes'] as string).split(' ');
      after = Number(row['count']) < ROWS_AT_ONCE ? null : Number(row['id']);
    }
  }

  /**
   * Hashes of the files in the folder that are named like blobs. `expected` is their approximate number. Deletes files of writes
   * that were interrupted.
   */
  #inFolder(partialSuffix: string, expected: number): BlobHashes {
    const there = new BlobHashes(expected);
    const partial: string[] = [];
    const folder = opendirSync(this.#folder, { bufferSize: ENTRIES_AT_ONCE });
    try {
      for (let entry = folder.readSync(); entry !== null; entry = folder.readSync()) {
        if (entry.name.endsWith(partialSuffix)) partial.push(entry.name);
        else if (isBlobHash(entry.name) && !entry.isDirectory()) there.add(entry.name);
      }
    } finally {
      folder.closeSync();
    }
    for (const name of partial) this.#removeFile(name);
    return there;
  }

  /** Removes a file of the folder, if the system permits. Otherwise the next start tries again. */
  #removeFile(name: string): boolean {
    try {
      rmSync(join(this.#folder, name), { force: true });
      return true;
    } catch {
      return false;
    }
  }

  /** Completes deletions that a kill or the system prevented. `there` contains the blobs that have a file. */
  #removeDoomed(there: BlobHashes): void {
    const doomed = this.#noted();
    if (doomed.length === 0) return;
    const needed = new Set(this.#neededAgain(doomed));
    const refused = doomed.filter((hash) => {
      if (needed.has(hash)) return false;
      // A file that stays does not become a blob again.
      there.delete(hash);
      return !this.#removeFile(hash);
    });
    this.#own.run(`delete from doomed_blob where blob_hash not in ${GIVEN}`, textList(refused));
  }

  #noted(): string[] {
    return this.#own.all('select blob_hash from doomed_blob').map((row) => row['blob_hash'] as string);
  }

  /** Those of the deleted blobs that were stored again. */
  #neededAgain(hashes: readonly string[]): string[] {
    return this.#main
      .all(`select blob_hash from blob where status = 'finished' and blob_hash in ${GIVEN}`, textList(hashes))
      .map((row) => row['blob_hash'] as string);
  }

  /** Deleted blobs whose files may still exist. */
  doomed(): string[] {
    return this.#noted();
  }

  /**
   * Records that files of blobs will be removed, then deletes their rows. Blobs that a stream needs become pending, and
   * running files of such streams are stopped. The caller must call `endDeletion` after it has removed the files.
   */
  forget(hashes: readonly string[]): void {
    const given = textList(hashes);
    this.doom(hashes);
    this.#withoutForeignKeys(() => {
      this.#main.run(
        `update file set status = 'stopped' where status = 'running' and stream_hash in
         (select stream_hash from stream_blob where blob_hash in ${GIVEN})`,
        given,
      );
      this.#main.run(
        `update blob set status = 'pending' where blob_hash in ${GIVEN} and ${IN_STREAM}`,
        given,
      );
      this.#main.run(`delete from blob where blob_hash in ${GIVEN} and not ${IN_STREAM}`, given);
    });
  }

  doom(hashes: readonly string[]): void {
    const given = textList(hashes);
    this.#own.transaction(() => {
      this.#own.run(`insert or ignore into doomed_blob select value from json_each(?)`, given);
      for (const table of ['blob_check', 'blob_chunks'])
        this.#own.run(`delete from ${table} where blob_hash in ${GIVEN}`, given);
    });
  }

  endDeletion(hashes: readonly string[]): void {
    this.#own.run(`delete from doomed_blob where blob_hash in ${GIVEN}`, textList(hashes));
  }

  /** Stores the stamps of verified files and the tables of their chunks. */
  noteChecked(checks: readonly BlobCheckRow[]): void {
    this.#own.transaction(() => {
      for (const { hash, stamp, table } of checks) {
        this.#own.run('insert or replace into blob_check values (?, ?)', hash, stamp);
        this.#own.run('insert or replace into blob_chunks values (?, ?)', hash, table);
      }
    });
  }

  /** The last verification of a blob's file; null if the file was never verified, or if that gave no chunk table. */
  blobCheck(hash: string): BlobCheckRow | null {
    const row = this.#own.get(
      'select stamp, codes from blob_chunks join blob_check using (blob_hash) where blob_hash = ?',
      hash,
    );
    return row === undefined
      ? null
      : { hash, stamp: row['stamp'] as string, table: row['codes'] as StoredChunkTable };
  }

  /** Marks finished hashes for one immediate announcement. Source: `should_single_announce_blobs`. */
  announceSoon(hashes: readonly string[], nowSec: number): void {
    this.#main.run(
      `update blob set single_announce = 1, next_announce_time = ? where status = 'finished' and blob_hash in ${GIVEN}`,
      nowSec,
      textList(hashes),
    );
  }

  /** Marks blobs for regular announcements in the DHT, as is done for stream descriptors. */
  alwaysAnnounce(hashes: readonly string[]): void {
    this.#main.run(
      `update blob set should_announce = 1 where status = 'finished' and blob_hash in ${GIVEN}`,
      textList(hashes),
    );
  }

  /**
   * The blobs whose announcement is due, the longest waiting first. Blobs of a stream whose published file was changed are
   * left out. Source: `get_blobs_to_announce`.
   */
  dueForAnnouncement(headAndSdOnly: boolean, limit: number, nowSec: number): string[] {
    const chosen = headAndSdOnly ? 'and (should_announce = 1 or single_announce = 1)' : '';
    return this.#main
      .all(
        `select blob_hash from blob where status = 'finished' and next_announce_time < ? ${chosen}
           and blob_hash not in (select value from json_each(?))
         order by next_announce_time limit ?`,
        nowSec,
        textList(this.#originals.withheld()),
        limit,
      )
      .map((row) => row['blob_hash'] as string);
  }

  /** Source: `update_last_announced_blobs`. */
  noteAnnounced(hashes: readonly string[], nowSec: number): void {
    this.#main.run(
      `update blob set next_announce_time = ?, last_announced_time = ?, single_announce = 0 where blob_hash in ${GIVEN}`,
      nowSec + ANNOUNCED_SEC / 2,
      nowSec,
      textList(hashes),
    );
  }

  /** Source: `get_stored_blob_disk_usage`. */
  diskUsage(): DiskUsage {
    const row = this.#main.get(
      `select coalesce(sum(blob_length), 0) as total,
         coalesce(sum(case when is_mine = 1 then blob_length else 0 end), 0) as mine,
         coalesce(sum(case when is_mine = 0 and ${IN_STREAM} then blob_length else 0 end), 0) as content
       from blob where status = 'finished' and not ${IS_SD}`,
    )!;
    const [total, mine, content] = [row['total'], row['mine'], row['content']].map(Number) as [
      number,
      number,
      number,
    ];
    return {
      totalBytes: total,
      privateBytes: mine,
      contentBytes: content,
      networkBytes: total - mine - content,
    };
  }

  /**
   * At most `limit` blobs of streams that cleaning may remove, in the order of removal: by age, small ones first, sd blobs
   * last. Own blobs and blobs of pinned streams and channels are excluded. Source: `get_stored_blobs`.
   */
  removableContent(limit: number): StoredBlob[] {
    const [streams, channels] = ['stream', 'channel'].map((kind) =>
      textList(this.#own.all('select id from pin where kind = ?', kind).map((row) => row['id'] as string)),
    ) as [string, string];
    return this.#stored(
      `with spared as (
         select value as stream_hash from json_each(?1)
         union select stream_hash from content_claim join claim using (claim_outpoint)
           where channel_claim_id in (select value from json_each(?2)))
       select blob_hash, blob_length from blob
       where is_mine = 0 and status = 'finished' and ${IN_STREAM}
         and blob_hash not in (
           select blob_hash from stream_blob where blob_hash is not null and stream_hash in spared
           union all select sd_hash from stream where stream_hash in spared)
       order by ${IS_SD}, added_on, blob_length limit ?3`,
      streams,
      channels,
      limit,
    );
  }

  /**
   * Returns at most `limit` blobs without a stream that the cleaning may remove, in the order of removal: large blobs first,
   * then by age.
   */
  removableNetwork(limit: number): StoredBlob[] {
    return this.#stored(
      `select blob_hash, blob_length from blob where is_mine = 0 and status = 'finished' and not ${IN_STREAM}
       order by blob_length desc, added_on limit ?`,
      limit,
    );
  }

  #stored(sql: string, ...values: (string | number)[]): StoredBlob[] {
    return this.#main
      .all(sql, ...values)
      .map((row) => ({ hash: row['blob_hash'] as string, lengthBytes: Number(row['blob_length']) }));
  }

  /** Runs a task without foreign key checks, so that it can remove rows in any order. */
  #withoutForeignKeys<T>(task: () => T): T {
    const { database } = this.#main;
    database.exec('pragma foreign_keys = off');
    try {
      return this.#main.transaction(task);
    } finally {
      database.exec('pragma foreign_keys = on');
    }
  }

  /** The blobs that only this stream needs, its descriptor too. */
  onlyOfStream(streamHash: string): string[] {
    return this.#main
      .all(
        `with own as (
           select blob_hash from stream_blob where blob_hash is not null and stream_hash = ?1
           union select sd_hash from stream where stream_hash = ?1)
         select blob_hash from own
         where not exists (select 1 from stream_blob m where m.blob_hash = own.blob_hash and m.stream_hash <> ?1)
           and not exists (select 1 from stream t where t.sd_hash = own.blob_hash and t.stream_hash <> ?1)`,
        streamHash,
      )
      .map((row) => row['blob_hash'] as string);
  }

  /**
   * Removes a stream with its file and the blobs that no other stream needs. Returns the blobs whose files have to be
   * removed. QUIRK: lbry-sdk's `delete_stream` also removes blobs that other streams need.
   */
  removeStream(streamHash: string): string[] {
    const only = this.onlyOfStream(streamHash);
    this.doom(only);
    this.#withoutForeignKeys(() => {
      for (const table of ['content_claim', 'file', 'stream_blob', 'stream'])
        this.#main.run(`delete from ${table} where stream_hash = ?`, streamHash);
      this.#main.run(`delete from blob where blob_hash in ${GIVEN}`, textList(only));
    });
    this.#own.transaction(() => {
      this.#own.run('delete from stream_size where stream_hash = ?', streamHash);
      this.#originals.remove(streamHash);
      this.#own.run(`delete from pin where kind = 'stream' and id = ?`, streamHash);
    });
    return only;
  }
}
