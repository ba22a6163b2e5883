/**
 * Database queries to rebuild lost rows of the library: the state of the rebuild, the blobs without a stream and the owners
 * of streams.
 */
import { readdirSync } from 'node:fs';
import { textList, type Statements } from '../../sqlite/statements.js';
import { isBlobHash } from './blobHash.js';

/** Name of the note (row in the database) that marks the rows of the library as lost, until they have been rebuilt. */
const NOTE = 'rebuild';

/**
 * Name of the note that stays while streams are made. Its value is the Unix time of the first one: their blobs are not older,
 * and belong to no stream yet.
 */
const MAKING = 'making';

/** Prefix of the name of a note in the database. The note stays until the saved file of a stream is synced to disk. */
const UNSYNCED = 'unsynced ';

const OF_STREAM = `(select blob_hash from stream_blob where stream_hash = ?1 and blob_hash is not null
  union select sd_hash from stream where stream_hash = ?1)`;

export class LibraryRows {
  readonly #main: Statements;
  readonly #own: Statements;
  /** Number of streams that are being made. */
  #making = 0;

  constructor(main: Statements, own: Statements) {
    this.#main = main;
    this.#own = own;
  }

  /** Records that the library must be rebuilt, if the folder contains blobs but the database has no rows. */
  noteLoss(blobFolder: string): void {
    const isEmpty = ['blob', 'stream', 'file'].every(
      (table) => this.#main.get(`select 1 from ${table} limit 1`) === undefined,
    );
    if (isEmpty && readdirSync(blobFolder).some(isBlobHash))
      this.#own.run('insert or replace into note values (?, ?)', NOTE, '1');
  }

  get isLost(): boolean {
    return this.#own.get('select 1 from note where name = ?', NOTE) !== undefined;
  }

  endRebuild(): void {
    this.#own.run('delete from note where name = ?', NOTE);
  }

  /** Records that a stream is being made. Call `endMaking` when it has a file, or its blobs are removed. */
  beginMaking(nowSec: number): void {
    if (this.#making === 0)
      this.#own.run('insert or ignore into note values (?, ?)', MAKING, String(Math.floor(nowSec)));
    this.#making++;
  }

  endMaking(): void {
    this.#making--;
    if (this.#making === 0) this.#own.run('delete from note where name = ?', MAKING);
  }

  /**
   * Own blobs that belong to no stream because a kill interrupted the making of their stream. Empty while the library is lost,
   * since then no blob has a stream.
   */
  unfinished(): string[] {
    const since = this.#own.get('select value from note where name = ?', MAKING);
    if (since === undefined || this.isLost) return [];
    return this.#main
      .all(
        `select blob_hash from blob where is_mine = 1 and added_on >= ?
         and not exists (select 1 from stream_blob m where m.blob_hash = blob.blob_hash)
         and not exists (select 1 from stream where sd_hash = blob.blob_hash)`,
        Number(since['value']),
      )
      .map((row) => String(row['blob_hash']));
  }

  /** Own streams that have no file because a kill interrupted their making after their rows were stored. */
  unfinishedStreams(): string[] {
    const since = this.#own.get('select value from note where name = ?', MAKING);
    if (since === undefined || this.isLost) return [];
    return this.#main
      .all(
        `select stream_hash from stream join blob on blob_hash = sd_hash where is_mine = 1 and added_on >= ?
         and not exists (select 1 from file where file.stream_hash = stream.stream_hash)`,
        Number(since['value']),
      )
      .map((row) => String(row['stream_hash']));
  }

  /** Called when the blobs of `unfinished` and the streams of `unfinishedStreams` are removed. */
  endUnfinished(): void {
    this.#own.run('delete from note where name = ?', MAKING);
  }

  /** Records that the stream's saved file may not be synced yet. */
  noteUnsynced(streamHash: string): void {
    this.#own.run('insert or replace into note values (?, ?)', UNSYNCED + streamHash, '1');
  }

  noteSynced(streamHash: string): void {
    this.#own.run('delete from note where name = ?', UNSYNCED + streamHash);
  }

  /** Stream hashes of the saved files that may not be completely on disk. */
  unsynced(): string[] {
    return this.#own
      .all('select name from note where name like ?', `${UNSYNCED}%`)
      .map((row) => String(row['name']).slice(UNSYNCED.length));
  }

  /** Returns those of the hashes that belong to no stream. */
  ofNoStream(hashes: readonly string[]): string[] {
    return this.#main
      .all(
        `select value from json_each(?) where not exists (select 1 from stream_blob where blob_hash = value)
         and not exists (select 1 from stream where sd_hash = value)`,
        textList(hashes),
      )
      .map((row) => String(row['value']));
  }

  /** Returns the streams that have no file row, by their hashes. */
  streamsWithoutFile(): string[] {
    return this.#main
      .all('select stream_hash from stream where stream_hash not in (select stream_hash from file)')
      .map((row) => String(row['stream_hash']));
  }

  setOwn(streamHash: string, isMine: boolean): void {
    this.#main.run(
      `update blob set is_mine = ?2 where blob_hash in ${OF_STREAM}`,
      streamHash,
      isMine ? 1 : 0,
    );
  }
}
