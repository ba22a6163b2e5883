/**
 * Rows of the files from which blobs are made (`keep_blobs: false`). They are in `lbcnet.sqlite`, since lbrynet does not
 * know them.
 */
import { textList, type Statements } from '../../sqlite/statements.js';
import type { MadeRow, OriginalRow } from './rows.js';

/** Query for the blobs of the streams in its parameter, a JSON list of stream hashes. */
const HASHES_OF_STREAMS = `select stream_hash, blob_hash, position from stream_blob
  where blob_hash is not null and stream_hash in (select value from json_each(?))`;

export class OriginalRows {
  readonly #main: Statements;
  readonly #own: Statements;

  constructor(main: Statements, own: Statements) {
    this.#main = main;
    this.#own = own;
  }

  all(): OriginalRow[] {
    return this.#own.all('select * from original').map((row) => ({
      streamHash: String(row['stream_hash']),
      sdHash: String(row['sd_hash']),
      path: String(row['path']),
      sizeBytes: Number(row['size_bytes']),
      goodStamp: String(row['good_stamp']),
      seenStamp: String(row['seen_stamp']),
      isSame: Number(row['is_same']) === 1,
    }));
  }

  /** Adds a row, or replaces the row of the same stream. */
  put({ streamHash, sdHash, path, sizeBytes, goodStamp, seenStamp, isSame }: OriginalRow): void {
    this.#own.run(
      'insert or replace into original values (?, ?, ?, ?, ?, ?, ?)',
      streamHash,
      sdHash,
      path,
      sizeBytes,
      goodStamp,
      seenStamp,
      isSame ? 1 : 0,
    );
  }

  remove(streamHash: string): void {
    this.#own.run('delete from original where stream_hash = ?', streamHash);
  }

  /** Those of the missing blobs that can be made from a published file that did not change. */
  madeOf(missing: readonly string[]): MadeRow[] {
    const streams = this.all().flatMap(({ streamHash, isSame }) => (isSame ? [streamHash] : []));
    if (streams.length === 0 || missing.length === 0) return [];
    const wanted = new Set(missing);
    return this.#main
      .all(HASHES_OF_STREAMS, textList(streams))
      .map((row) => ({
        streamHash: String(row['stream_hash']),
        hash: String(row['blob_hash']),
        position: Number(row['position']),
      }))
      .filter(({ hash }) => wanted.has(hash));
  }

  /** Descriptors of streams whose published file was changed and whose blobs are not all on disk. */
  withheld(): string[] {
    const changed = this.#own
      .all('select stream_hash from original where is_same = 0')
      .map((row) => String(row['stream_hash']));
    if (changed.length === 0) return [];
    return this.#main
      .all(
        `select sd_hash from stream where stream_hash in (select value from json_each(?)) and exists (
           select 1 from stream_blob join blob using (blob_hash)
           where stream_blob.stream_hash = stream.stream_hash and status <> 'finished')`,
        textList(changed),
      )
      .map((row) => String(row['sd_hash']));
  }
}
