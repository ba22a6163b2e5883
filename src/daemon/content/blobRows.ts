/** Rows of blobs: which are known, there, announced, own. Source: lbry-sdk lbry/extras/daemon/storage.py `SQLiteStorage`. */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { textList, type Statements } from '../../sqlite/statements.js';
import { isBlobHash } from './blobHash.js';
import type { OriginalRows } from './originalRows.js';
import type { BlobRow, DiskUsage, Reconciled, StoredBlob } from './rows.js';

/** How long peers keep an announcement. The next announcement follows after half of it. Source: lbry-sdk lbry/dht/constants.py `DATA_EXPIRATION`. */
const ANNOUNCED_SEC = 86_400;

const ADD = `insert or ignore into blob values (?, ?, 0, 0, ?, 0, 0, ?, ?)`;

/**
 * A blob that a stream needs: its row stays, so that the stream knows what it lacks. The schema has no index of members by blob,
 * so the hashes are collected once for a statement.
 */
const IN_STREAM = `(blob.blob_hash in (
  select m.blob_hash from stream_blob m where m.blob_hash is not null union all select sd_hash from stream))`;

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

  /** Rows of blobs that are on disk (`isFinished`) or only known. A known blob is not set back. */
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
   * Compares the folder with the rows and reads no file. Files of writes that did not end are removed. A finished blob without a
   * file becomes pending unless it can be made from an original; a file without a finished row is to be checked by the caller. Source: `sync_missing_blobs`.
   */
  reconcile(partialSuffix: string): Omit<Reconciled, 'isLost'> {
    const there = new Set<string>();
    for (const entry of readdirSync(this.#folder, { withFileTypes: true })) {
      if (entry.name.endsWith(partialSuffix)) rmSync(join(this.#folder, entry.name), { force: true });
      else if (isBlobHash(entry.name) && !entry.isDirectory()) there.add(entry.name);
    }
    this.#removeDoomed(there);
    const rows = this.#main.all(`select blob_hash from blob where status = 'finished'`);
    const [finished, missing]: [string[], string[]] = [[], []];
    for (const { blob_hash: hash } of rows)
      (there.delete(hash as string) ? finished : missing).push(hash as string);
    const made = this.#originals.madeOf(missing);
    const canBeMade = new Set(made.map(({ hash }) => hash));
    const lost = missing.filter((hash) => !canBeMade.has(hash));
    if (lost.length > 0) this.setPending(lost);
    const stamp = this.#own.of('select stamp from blob_check where blob_hash = ?');
    const unknown = [...there].map(
      (hash) => [hash, (stamp.get(hash)?.['stamp'] as string | undefined) ?? null] as const,
    );
    return { finished: [...finished, ...canBeMade], unknown, made };
  }

  /** Ends deletions that a kill cut off. */
  #removeDoomed(there: Set<string>): void {
    const doomed = this.#own
      .all('select blob_hash from doomed_blob')
      .map((row) => row['blob_hash'] as string);
    for (const hash of doomed) {
      if (this.#main.get(`select 1 from blob where blob_hash = ? and status = 'finished'`, hash)) continue;
      rmSync(join(this.#folder, hash), { force: true });
      there.delete(hash);
    }
    if (doomed.length > 0) this.#own.run('delete from doomed_blob');
  }

  /**
   * Notes that files of blobs will be removed, then forgets the blobs; those that a stream needs become pending, and files of
   * such streams that were running are stopped. `endDeletion` follows when the files are gone.
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
      this.#own.run(`delete from blob_check where blob_hash in ${GIVEN}`, given);
    });
  }

  endDeletion(hashes: readonly string[]): void {
    this.#own.run(`delete from doomed_blob where blob_hash in ${GIVEN}`, textList(hashes));
  }

  /** Notes the stamps of files whose hash was found right. */
  noteChecked(checks: readonly (readonly [hash: string, stamp: string])[]): void {
    this.#own.transaction(() => {
      for (const [hash, stamp] of checks)
        this.#own.run('insert or replace into blob_check values (?, ?)', hash, stamp);
    });
  }

  /** Those of the hashes that are finished, to be announced at once, once. Source: `should_single_announce_blobs`. */
  announceSoon(hashes: readonly string[], nowSec: number): void {
    this.#main.run(
      `update blob set single_announce = 1, next_announce_time = ? where status = 'finished' and blob_hash in ${GIVEN}`,
      nowSec,
      textList(hashes),
    );
  }

  /** Blobs that are announced like the descriptors of streams: again and again. */
  alwaysAnnounce(hashes: readonly string[]): void {
    this.#main.run(
      `update blob set should_announce = 1 where status = 'finished' and blob_hash in ${GIVEN}`,
      textList(hashes),
    );
  }

  /** The blobs whose announcement is due, the longest waiting first. A stream whose file was changed is left out. Source: `get_blobs_to_announce`. */
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
       from blob where status = 'finished' and blob_hash not in (select sd_hash from stream)`,
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
   * Blobs of streams that cleaning may remove, in the order in which it does: by age, small ones first, sd blobs last. Own ones
   * are not among them, nor those of pinned streams and channels. Source: `get_stored_blobs`.
   */
  removableContent(): StoredBlob[] {
    const [streams, channels] = ['stream', 'channel'].map((kind) =>
      textList(this.#own.all('select id from pin where kind = ?', kind).map((row) => row['id'] as string)),
    ) as [string, string];
    const spared = `(stream_hash in (select value from json_each(?1)) or stream_hash in
      (select stream_hash from content_claim join claim using (claim_outpoint)
       where channel_claim_id in (select value from json_each(?2))))`;
    return this.#stored(
      `with member as (
         select blob_hash, stream_hash, 0 as is_sd from stream_blob where blob_hash is not null
         union all select sd_hash, stream_hash, 1 from stream)
       select blob.blob_hash, blob.blob_length, max(is_sd) as is_sd from blob join member using (blob_hash)
       where is_mine = 0 and status = 'finished'
         and blob_hash not in (select blob_hash from member where ${spared})
       group by blob.blob_hash order by is_sd, added_on, blob_length`,
      streams,
      channels,
    );
  }

  /** Blobs of no stream that cleaning may remove, in the order in which it does: large ones first, then by age. */
  removableNetwork(): StoredBlob[] {
    return this.#stored(
      `select blob_hash, blob_length from blob where is_mine = 0 and status = 'finished' and not ${IN_STREAM}
       order by blob_length desc, added_on`,
    );
  }

  #stored(sql: string, ...values: string[]): StoredBlob[] {
    return this.#main
      .all(sql, ...values)
      .map((row) => ({ hash: row['blob_hash'] as string, lengthBytes: Number(row['blob_length']) }));
  }

  /** Rows are removed in any order. */
  #withoutForeignKeys<T>(task: () => T): T {
    const { database } = this.#main;
    database.exec('pragma foreign_keys = off');
    try {
      return this.#main.transaction(task);
    } finally {
      database.exec('pragma foreign_keys = on');
    }
  }

  /**
   * Removes a stream with its file and the blobs that no other stream needs. Answers the blobs whose files are to be removed.
   * QUIRK: lbry-sdk's `delete_stream` also removes blobs that other streams need.
   */
  removeStream(streamHash: string): string[] {
    const only = this.#main
      .all(
        `with member as (
           select blob_hash, stream_hash from stream_blob where blob_hash is not null
           union all select sd_hash, stream_hash from stream)
         select distinct blob_hash from member where stream_hash = ?1
           and blob_hash not in (select blob_hash from member where stream_hash <> ?1)`,
        streamHash,
      )
      .map((row) => row['blob_hash'] as string);
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
