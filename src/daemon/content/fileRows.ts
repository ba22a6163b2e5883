/**
 * Rows of files and of the claims that they belong to, in the form of lbry-sdk's revision 15: names are hexadecimal digits of
 * UTF-8, a fee is a transaction as hexadecimal digits. Source: lbry-sdk lbry/extras/daemon/storage.py.
 */
import { textList, type Statements } from '../../sqlite/statements.js';
import { addSearchFunctions, digitsOf, savedSize, searchSql, textOf, type FileSearch } from './fileSearch.js';
import type { FileRow, LostOutputs, NewFile, Pin, ResolvedClaim, SavedPlace, StoredClaim } from './rows.js';

const hexOf = (text: string): string => Buffer.from(text, 'utf8').toString('hex');

/** Query for the names of channels by claim id. Known channels have their own rows in the table of claims. */
const CHANNEL_NAMES =
  'select claim_id, claim_name from claim where claim_id in (select value from json_each(?))';

const FILES = `
  select f.rowid, f.stream_hash, s.sd_hash, s.stream_key, s.stream_name, s.suggested_filename, f.file_name,
    f.download_directory, f.status, f.saved_file, f.content_fee, f.added_on,
    (select count(*) from stream_blob b where b.stream_hash = f.stream_hash and b.blob_hash is not null) as blobs,
    (select total(l.blob_length) from stream_blob b join blob l using (blob_hash) where b.stream_hash = f.stream_hash) as bytes,
    c.claim_outpoint, c.claim_id, c.claim_name, c.amount, c.height, c.serialized_metadata, c.channel_claim_id, c.address
  from file f join stream s using (stream_hash)
    left join content_claim o on o.stream_hash = f.stream_hash
    left join claim c using (claim_outpoint)`;

type Row = Readonly<Record<string, unknown>>;

function claimOf(row: Row): StoredClaim | null {
  if (row['claim_outpoint'] === null) return null;
  return {
    outpoint: String(row['claim_outpoint']),
    claimId: String(row['claim_id']),
    name: String(row['claim_name']),
    amountDewies: BigInt(row['amount'] as number | bigint),
    height: Number(row['height']),
    value: digitsOf(row['serialized_metadata']) ?? '',
    channelClaimId: digitsOf(row['channel_claim_id']),
    address: String(row['address']),
  };
}

/** A search without conditions, which matches every file. */
const ALL: FileSearch = { conditions: [], sort: 'rowid', isReversed: false, uploading: [] };

export class FileRows {
  readonly #main: Statements;
  /** Cached number of files; null while it is not computed. */
  #count: number | null = null;

  constructor(main: Statements) {
    this.#main = main;
    addSearchFunctions(main.database);
  }

  /** Returns the number of files. */
  count(): number {
    this.#count ??= this.#countOf(ALL, []);
    return this.#count;
  }

  /** Invalidates the cached number of files. Call after each change of the rows. */
  changed(): void {
    this.#count = null;
  }

  /** Returns one page of the matching files in the requested order, and the number of all matches. */
  search(
    search: FileSearch,
    pins: readonly Pin[],
    { offset, limit }: { readonly offset: number; readonly limit: number },
  ): { readonly files: FileRow[]; readonly total: number } {
    const { from, order } = searchSql(search, pins);
    const sql = `select f.rowid as id ${from.sql} ${order.sql} limit ? offset ?`;
    const rows = this.#main.all(sql, ...from.values, ...order.values, limit, offset);
    const ids = rows.map((row) => Number(row['id']));
    const isLast = ids.length < limit && (ids.length > 0 || offset === 0);
    const total = isLast
      ? offset + ids.length
      : search.conditions.length === 0
        ? this.count()
        : this.#countOf(search, pins);
    return { files: this.#ofIds(ids), total };
  }

  /** Returns the stream hashes of all matching files in the requested order. */
  searchStreams(search: FileSearch, pins: readonly Pin[]): string[] {
    const { from, order } = searchSql(search, pins);
    return this.#main
      .all(`select f.stream_hash ${from.sql} ${order.sql}`, ...from.values, ...order.values)
      .map((row) => String(row['stream_hash']));
  }

  #countOf(search: FileSearch, pins: readonly Pin[]): number {
    const { from } = searchSql(search, pins);
    return this.#main.number(`select count(*) ${from.sql}`, ...from.values);
  }

  #ofIds(ids: readonly number[]): FileRow[] {
    const found = this.#rows(
      `${FILES} where f.rowid in (select value from json_each(?))`,
      JSON.stringify(ids),
    );
    const byId = new Map(found.map((row) => [row.rowid, row]));
    return ids.flatMap((id) => byId.get(id) ?? []);
  }

  /** Returns the file of a stream, or null if the stream has no file. If the claim is unknown, the claim fields are absent. */
  file(streamHash: string): FileRow | null {
    return (
      this.#rows(`${FILES} where f.stream_hash = ? order by f.rowid desc limit 1`, streamHash)[0] ?? null
    );
  }

  /** Returns the files that do not belong to a claim, by their stream hashes. */
  withoutClaim(): string[] {
    return this.#main
      .all(
        `select f.stream_hash from file f join stream s using (stream_hash) where not exists (
           select 1 from content_claim o join claim using (claim_outpoint) where o.stream_hash = f.stream_hash)
         order by f.rowid`,
      )
      .map((row) => String(row['stream_hash']));
  }

  /**
   * Checks a slice of the saved files, from the row after number `after`. Removes the names of deleted files.
   * Source: lbry-sdk lbry/stream/stream_manager.py `initialize_from_database`.
   */
  forgetLostOutputs(after: number, limit: number): LostOutputs {
    const rows = this.#main.all(
      `select rowid, stream_hash, file_name, download_directory from file
       where rowid > ? and saved_file = 1 order by rowid limit ?`,
      after,
      limit,
    );
    const lost = rows
      .filter((row) => savedSize(textOf(row['download_directory']), textOf(row['file_name'])) === null)
      .map((row) => String(row['stream_hash']));
    if (lost.length > 0)
      this.#main.run(
        `update file set file_name = null, download_directory = null, saved_file = 0
         where saved_file = 1 and stream_hash in (select value from json_each(?))`,
        textList(lost),
      );
    return { lost, next: rows.length < limit ? null : Number(rows.at(-1)!['rowid']) };
  }

  #rows(sql: string, ...values: string[]): FileRow[] {
    const rows = this.#main.all(sql, ...values);
    const claims = rows.map(claimOf);
    const channels = this.#channelNames(claims);
    return rows.map((row, at) => {
      const claim = claims[at]!;
      return {
        rowid: Number(row['rowid']),
        streamHash: String(row['stream_hash']),
        sdHash: String(row['sd_hash']),
        key: String(row['stream_key']),
        streamName: textOf(row['stream_name']) ?? '',
        suggestedFileName: textOf(row['suggested_filename']) ?? '',
        fileName: textOf(row['file_name']),
        directory: textOf(row['download_directory']),
        status: String(row['status']),
        isSaved: Number(row['saved_file']) === 1,
        contentFee: digitsOf(row['content_fee']),
        addedOn: Number(row['added_on']),
        blobsInStream: Number(row['blobs']),
        dataBytes: Number(row['bytes']),
        claim,
        channelName: claim?.channelClaimId ? (channels.get(claim.channelClaimId) ?? null) : null,
      };
    });
  }

  #channelNames(claims: readonly (StoredClaim | null)[]): ReadonlyMap<string, string> {
    const wanted = new Set(claims.flatMap((claim) => claim?.channelClaimId ?? []));
    const rows = wanted.size === 0 ? [] : this.#main.all(CHANNEL_NAMES, textList([...wanted]));
    return new Map(rows.map((row) => [String(row['claim_id']), String(row['claim_name'])]));
  }

  /** Adds a file and returns the number of its row. Source: `store_file`. */
  addFile({ streamHash, place, status, isSaved, contentFee, addedOn }: NewFile): number {
    this.#main.run(
      'insert into file values (?, NULL, ?, ?, 0.0, ?, ?, ?, ?)',
      streamHash,
      place === null ? null : hexOf(place.fileName),
      place === null ? null : hexOf(place.directory),
      status,
      isSaved ? 1 : 0,
      contentFee,
      addedOn,
    );
    this.changed();
    const row = this.#main.get('select max(rowid) as rowid from file where stream_hash = ?', streamHash);
    return Number(row!['rowid']);
  }

  setFileStatus(streamHash: string, status: string): void {
    this.#main.run('update file set status = ? where stream_hash = ?', status, streamHash);
  }

  /**
   * Sets the status and the path of the saved file; null if the file is not saved. Source:
   * `change_file_download_dir_and_file_name`.
   */
  setFilePlace(streamHash: string, place: SavedPlace | null, isSaved: boolean, status: string): void {
    this.#main.run(
      'update file set file_name = ?, download_directory = ?, saved_file = ?, status = ? where stream_hash = ?',
      place === null ? null : hexOf(place.fileName),
      place === null ? null : hexOf(place.directory),
      isSaved ? 1 : 0,
      status,
      streamHash,
    );
  }

  setContentFee(streamHash: string, rawTransaction: string): void {
    this.#main.run('update file set content_fee = ? where stream_hash = ?', rawTransaction, streamHash);
  }

  /** Stores the claims without their sequence numbers, which wallets do not know. Source: `save_claims`. */
  saveClaims(claims: readonly StoredClaim[]): void {
    this.#main.transaction(() => {
      for (const claim of claims)
        this.#main.run(
          'insert or replace into claim values (?, ?, ?, ?, ?, ?, ?, ?, -1)',
          claim.outpoint,
          claim.claimId,
          claim.name,
          claim.amountDewies,
          claim.height,
          Buffer.from(claim.value, 'latin1'),
          claim.channelClaimId,
          claim.address,
        );
    });
  }

  /**
   * Links a stream to the output of its claim, which must be stored already. Returns the reason of a failure; null on
   * success. Source: `_save_content_claim`.
   */
  tieClaim(streamHash: string, outpoint: string): string | null {
    return this.#main.transaction(() => {
      const claim = this.#main.get('select claim_id from claim where claim_outpoint = ?', outpoint);
      if (claim === undefined) return 'claim not found';
      const known = this.#main.get(
        'select claim_id from claim join content_claim using (claim_outpoint) where stream_hash = ?',
        streamHash,
      );
      if (known !== undefined && known['claim_id'] !== claim['claim_id'])
        return `mismatching claim ids when updating stream ${String(known['claim_id'])} vs ${String(claim['claim_id'])}`;
      this.#main.run(
        'delete from content_claim where stream_hash = ? or claim_outpoint = ?',
        streamHash,
        outpoint,
      );
      this.#main.run('insert into content_claim values (?, NULL, ?)', streamHash, outpoint);
      return null;
    });
  }

  /**
   * Stores resolved claims, and links each to the file of its stream. A file that belongs to a claim with another id keeps that
   * claim; lbry-sdk fails in this case. Returns the stream hashes of the files whose claim was stored. Source: `save_claims`.
   */
  saveResolved(resolved: readonly ResolvedClaim[]): string[] {
    this.saveClaims(resolved.map(({ claim }) => claim));
    return resolved.flatMap(({ claim: { outpoint }, sdHash }) => {
      if (sdHash === null) return [];
      const file = this.#main.get(
        `select stream_hash, claim_outpoint from stream join file using (stream_hash)
           left join content_claim using (stream_hash) where sd_hash = ?`,
        sdHash,
      );
      if (file === undefined) return [];
      const streamHash = String(file['stream_hash']);
      const isLinked = file['claim_outpoint'] === outpoint || this.tieClaim(streamHash, outpoint) === null;
      return isLinked ? [streamHash] : [];
    });
  }

  /** Number of data blobs of a stream that are on disk according to the rows. */
  finishedCount(streamHash: string): number {
    return this.#main.number(
      `select count(*) from stream_blob m join blob b using (blob_hash)
       where m.stream_hash = ? and b.status = 'finished'`,
      streamHash,
    );
  }
}
