/**
 * Rows of a reflector with an object store: blobs that it uploaded, that wait for the upload, and that another reflector
 * uploaded. The rows are in the reflector's database, which lbrynet never opens. A blob in the object store counts as
 * finished, whether or not it has a file on disk.
 */
import { textList, type Statements } from '../../sqlite/statements.js';

const GIVEN = '(select value from json_each(?))';

/**
 * State of a blob: `waiting`: on disk and not yet uploaded; `stored`: in the object store, uploaded by this reflector;
 * `found`: in the object store, uploaded by another reflector.
 */
const STATE = { waiting: 0, stored: 1, found: 2 } as const;

const TABLES = `
  create table if not exists offsite_blob (blob_hash text primary key, state integer not null,
    length_bytes integer not null, used_at integer not null) without rowid;
  create index if not exists offsite_waiting on offsite_blob (blob_hash) where state = ${STATE.waiting};
  create table if not exists offsite_place (name text not null);
  create index if not exists stream_blob_hash on stream_blob (blob_hash);
  create index if not exists stream_sd_hash on stream (sd_hash);
`;

export interface OffsiteBlob {
  readonly hash: string;
  readonly lengthBytes: number;
}

export interface OpenedOffsite {
  /** Whether the rows belong to another object store, which was used before. */
  readonly isMoved: boolean;
  /** Blobs in the object store, in the order of their last use. */
  readonly stored: readonly OffsiteBlob[];
  readonly waiting: readonly OffsiteBlob[];
}

export interface DueUpload extends OffsiteBlob {
  /** Hash of the descriptor of a stream that contains the blob. For a descriptor, its own hash. */
  readonly sdHash: string;
}

export class OffsiteRows {
  readonly #main: Statements;

  constructor(main: Statements) {
    this.#main = main;
  }

  /**
   * Begins to use an object store. The caller must have compared the rows of blobs with the folder. Blobs on disk without a
   * state wait for the upload. If the store was changed, all blobs on disk wait for the upload, and blobs not on disk become
   * pending.
   */
  open(place: string): OpenedOffsite {
    this.#main.database.exec(TABLES);
    return this.#main.transaction(() => {
      const known = this.#main.get('select name from offsite_place')?.['name'] as string | undefined;
      const isMoved = known !== undefined && known !== place;
      if (isMoved) this.#main.run('delete from offsite_blob');
      this.#main.run('delete from offsite_place');
      this.#main.run('insert into offsite_place values (?)', place);
      this.#main.run(
        `insert or ignore into offsite_blob
         select blob_hash, ${STATE.waiting}, blob_length, added_on from blob where status = 'finished'`,
      );
      this.#main.run(
        `update blob set status = 'finished' where status <> 'finished'
         and blob_hash in (select blob_hash from offsite_blob where state <> ${STATE.waiting})`,
      );
      // Removes the rows of blobs whose files were lost before the upload.
      this.#main.run(
        `delete from offsite_blob where state = ${STATE.waiting}
         and blob_hash not in (select blob_hash from blob where status = 'finished')`,
      );
      return { isMoved, stored: this.#rows('<>'), waiting: this.#rows('=') };
    });
  }

  #rows(comparison: '=' | '<>'): OffsiteBlob[] {
    return this.#main
      .all(
        `select blob_hash, length_bytes from offsite_blob where state ${comparison} ${STATE.waiting} order by used_at`,
      )
      .map((row) => ({ hash: row['blob_hash'] as string, lengthBytes: Number(row['length_bytes']) }));
  }

  /** Records that a new blob is on disk. */
  noteWaiting({ hash, lengthBytes }: OffsiteBlob, nowSec: number): void {
    this.#main.run(
      'insert or replace into offsite_blob values (?, ?, ?, ?)',
      hash,
      STATE.waiting,
      lengthBytes,
      nowSec,
    );
  }

  /** Records that a blob which waited for the upload is now in the object store. */
  noteStored(hash: string): void {
    this.#main.run(`update offsite_blob set state = ${STATE.stored} where blob_hash = ?`, hash);
  }

  /**
   * Blobs that must be uploaded: data blobs of known streams, and descriptors whose data blobs are all in the store, so that
   * a descriptor in the store means a complete stream. Blobs of the descriptors in `blocked`, and blobs in `except`, are
   * left out.
   */
  dueUploads(limit: number, blocked: readonly string[], except: readonly string[]): DueUpload[] {
    const rows = this.#main.all(
      `with free as (select stream_hash, sd_hash from stream where sd_hash not in ${GIVEN.replace('?', '?1')}),
       due as (
         select o.blob_hash, o.length_bytes, coalesce(
           (select sd_hash from free where sd_hash = o.blob_hash and not exists (
             select 1 from stream_blob part left join offsite_blob other using (blob_hash)
             where part.stream_hash = free.stream_hash and part.blob_hash is not null
               and (other.state is null or other.state = ${STATE.waiting})) limit 1),
           (select sd_hash from stream_blob part join free using (stream_hash)
            where part.blob_hash = o.blob_hash limit 1)) as sd_hash
         from offsite_blob o where o.state = ${STATE.waiting} and o.blob_hash not in ${GIVEN.replace('?', '?2')})
       select * from due where sd_hash is not null limit ?3`,
      textList(blocked),
      textList(except),
      limit,
    );
    return rows.map((row) => ({
      hash: row['blob_hash'] as string,
      lengthBytes: Number(row['length_bytes']),
      sdHash: row['sd_hash'] as string,
    }));
  }

  /** Records blobs that another reflector put into the object store. The rows of the blobs must exist. */
  noteFound(blobs: readonly OffsiteBlob[], nowSec: number): void {
    this.#main.transaction(() => {
      for (const { hash, lengthBytes } of blobs) {
        this.#main.run(
          `insert into offsite_blob values (?1, ${STATE.found}, ?2, ?3)
           on conflict (blob_hash) do update set state = ${STATE.stored} where state = ${STATE.waiting}`,
          hash,
          lengthBytes,
          nowSec,
        );
        this.#main.run(
          `update blob set status = 'finished', blob_length = ? where blob_hash = ?`,
          lengthBytes,
          hash,
        );
      }
    });
  }

  /** Returns those of the hashes that belong to a known stream. */
  ofKnownStreams(hashes: readonly string[]): string[] {
    return this.#main
      .all(
        `select blob_hash from stream_blob where blob_hash in ${GIVEN.replace('?', '?1')}
         union select sd_hash from stream where sd_hash in ${GIVEN.replace('?', '?1')}`,
        textList(hashes),
      )
      .map((row) => row['blob_hash'] as string);
  }

  /** Lets a blob whose file is corrupt count as finished, because the object store contains it. */
  keepFinished(hash: string): void {
    this.#main.run(`update blob set status = 'finished' where blob_hash = ?`, hash);
  }

  /** Records blobs that are neither on disk nor in the object store. */
  lose(hashes: readonly string[]): void {
    this.#main.transaction(() => {
      this.#main.run(`delete from offsite_blob where blob_hash in ${GIVEN}`, textList(hashes));
      this.#main.run(`update blob set status = 'pending' where blob_hash in ${GIVEN}`, textList(hashes));
    });
  }

  /** Records that the object store lost a blob that is on disk. The blob waits for a further upload. */
  waitAgain(hash: string): void {
    this.#main.run(`update offsite_blob set state = ${STATE.waiting} where blob_hash = ?`, hash);
  }

  noteUsed(hashes: readonly string[], nowSec: number): void {
    this.#main.run(
      `update offsite_blob set used_at = ? where blob_hash in ${GIVEN}`,
      nowSec,
      textList(hashes),
    );
  }

  /** Total size in bytes of the blobs that this reflector received. Blobs that other reflectors uploaded are not included. */
  ownBytes(): number {
    return this.#main.number(
      `select coalesce(sum(length_bytes), 0) from offsite_blob where state <> ${STATE.found}`,
    );
  }
}
