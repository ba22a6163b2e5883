/**
 * Rows about reflectors: streams that were sent to a reflector and, in the database of a reflector, complete streams.
 * Source: lbry-sdk lbry/extras/daemon/storage.py `update_reflected_stream`, `get_streams_to_re_reflect`.
 */
import { textList, type Statements } from '../../sqlite/statements.js';
import type { CompletedStream, HashPage } from './rows.js';

const IS_COMPLETE = `exists (select 1 from blob where blob_hash = sd_hash and status = 'finished')
  and not exists (
    select 1 from stream_blob part left join blob using (blob_hash)
    where part.stream_hash = stream.stream_hash and part.blob_hash is not null and status is not 'finished')`;

export class ReflectorRows {
  readonly #main: Statements;

  constructor(main: Statements) {
    this.#main = main;
  }

  /**
   * A page of the descriptors of streams that have a file and a data blob on disk, and were never recorded as reflected,
   * after the row number `after`. QUIRK: lbry-sdk also lists streams recorded more than a day ago, and then skips them.
   */
  streamsToReflect(after: number, limit: number): HashPage {
    const rows = this.#main.all(
      `select rowid, sd_hash from stream where rowid > ?
       and exists (select 1 from file where file.stream_hash = stream.stream_hash)
       and not exists (select 1 from reflected_stream sent where sent.sd_hash = stream.sd_hash)
       and exists (
         select 1 from stream_blob part join blob using (blob_hash)
         where part.stream_hash = stream.stream_hash and status = 'finished')
       order by rowid limit ?`,
      after,
      limit,
    );
    return {
      hashes: rows.map((row) => row['sd_hash'] as string),
      next: rows.length < limit ? null : Number(rows.at(-1)!['rowid']),
    };
  }

  /** Whether a reflector has the stream. Source: lbry-sdk `get_all_lbry_files`, `fully_reflected`. */
  isReflected(sdHash: string): boolean {
    return this.#main.get('select 1 from reflected_stream where sd_hash = ?', sdHash) !== undefined;
  }

  noteReflected(sdHash: string, reflectorAddress: string, nowSec: number): void {
    this.#main.run(
      'insert or replace into reflected_stream values (?, ?, ?)',
      sdHash,
      reflectorAddress,
      nowSec,
    );
  }

  /** Blobs on disk that belong to no complete stream. Streams whose descriptors are in `blocked` do not count as complete. */
  withheldBlobs(blocked: readonly string[]): string[] {
    return this.#hashes(
      `with complete as (
         select stream_hash, sd_hash from stream
         where sd_hash not in (select value from json_each(?)) and ${IS_COMPLETE})
       select blob_hash as sd_hash from blob where status = 'finished'
         and blob_hash not in (select sd_hash from complete)
         and blob_hash not in (
           select blob_hash from stream_blob join complete using (stream_hash) where blob_hash is not null)`,
      textList(blocked),
    );
  }

  /** Returns the complete streams that contain the blob. */
  completedWith(hash: string): CompletedStream[] {
    const found = this.#main.all(
      `select stream_hash, sd_hash from stream
       where (sd_hash = ?1 or stream_hash in (select stream_hash from stream_blob where blob_hash = ?1))
         and ${IS_COMPLETE}`,
      hash,
    );
    return found.map((row) => {
      const sdHash = row['sd_hash'] as string;
      const data = this.#main.all(
        'select blob_hash from stream_blob where stream_hash = ? and blob_hash is not null',
        row['stream_hash'] as string,
      );
      return { sdHash, hashes: [sdHash, ...data.map((one) => one['blob_hash'] as string)] };
    });
  }

  /** Hashes of blobs without a stream that arrived before `beforeSec`, in Unix seconds. */
  orphans(beforeSec: number): string[] {
    return this.#hashes(
      `select blob_hash as sd_hash from blob where status = 'finished' and added_on < ?
         and not exists (select 1 from stream where sd_hash = blob.blob_hash)
         and not exists (select 1 from stream_blob m where m.blob_hash = blob.blob_hash)`,
      beforeSec,
    );
  }

  #hashes(sql: string, ...values: (string | number)[]): string[] {
    return this.#main.all(sql, ...values).map((row) => row['sd_hash'] as string);
  }
}
