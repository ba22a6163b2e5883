/**
 * Rows of files and of the claims that they belong to, in the form of lbry-sdk's revision 15: names are hexadecimal digits of
 * UTF-8, a fee is a transaction as hexadecimal digits. Source: lbry-sdk lbry/extras/daemon/storage.py.
 */
import { textList, type Statements } from '../../sqlite/statements.js';
import type { FileRow, NewFile, SavedPlace, StoredClaim } from './rows.js';

const hexOf = (text: string): string => Buffer.from(text, 'utf8').toString('hex');
const textOf = (hex: unknown): string => Buffer.from(String(hex), 'hex').toString('utf8');

/** Texts that lbry-sdk wrote as bytes are blobs of the same digits. */
const digitsOf = (value: unknown): string | null => {
  if (value === null || value === undefined) return null;
  return typeof value === 'string' ? value : Buffer.from(value as Uint8Array).toString('latin1');
};

/** Claims of the given channels, which have rows of their own where they are known. */
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

export class FileRows {
  readonly #main: Statements;

  constructor(main: Statements) {
    this.#main = main;
  }

  /** All files, or that of one stream, by their number. A file whose claim is not known has none. */
  files(streamHash: string | null): FileRow[] {
    const rows =
      streamHash === null
        ? this.#main.all(`${FILES} order by f.rowid`)
        : this.#main.all(`${FILES} where f.stream_hash = ?`, streamHash);
    const claims = rows.map(claimOf);
    const channels = this.#channelNames(claims);
    return rows.map((row, at) => {
      const claim = claims[at]!;
      return {
        rowid: Number(row['rowid']),
        streamHash: String(row['stream_hash']),
        sdHash: String(row['sd_hash']),
        key: String(row['stream_key']),
        streamName: textOf(row['stream_name']),
        suggestedFileName: textOf(row['suggested_filename']),
        fileName: row['file_name'] === null ? null : textOf(digitsOf(row['file_name'])),
        directory: row['download_directory'] === null ? null : textOf(digitsOf(row['download_directory'])),
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

  /** The number of the new row. Source: `store_file`. */
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
    const row = this.#main.get('select max(rowid) as rowid from file where stream_hash = ?', streamHash);
    return Number(row!['rowid']);
  }

  setFileStatus(streamHash: string, status: string): void {
    this.#main.run('update file set status = ? where stream_hash = ?', status, streamHash);
  }

  /** Where the file is or will be saved; null where it is not. Source: `change_file_download_dir_and_file_name`. */
  setFilePlace(streamHash: string, place: SavedPlace | null, isSaved: boolean): void {
    this.#main.run(
      'update file set file_name = ?, download_directory = ?, saved_file = ? where stream_hash = ?',
      place === null ? null : hexOf(place.fileName),
      place === null ? null : hexOf(place.directory),
      isSaved ? 1 : 0,
      streamHash,
    );
  }

  setContentFee(streamHash: string, rawTransaction: string): void {
    this.#main.run('update file set content_fee = ? where stream_hash = ?', rawTransaction, streamHash);
  }

  /** Source: `save_claims`. The sequence of claims is not known to wallets. */
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
   * Ties a stream to the output of its claim, which must be saved already. The answer says why that cannot be; null where it
   * was done. Source: `_save_content_claim`.
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

  /** How many data blobs of each stream are on disk by its rows. */
  finishedCounts(): [streamHash: string, count: number][] {
    return this.#main
      .all(
        `select s.stream_hash, count(*) as count from stream_blob s join blob b using (blob_hash)
         where b.status = 'finished' group by s.stream_hash`,
      )
      .map((row) => [String(row['stream_hash']), Number(row['count'])]);
  }
}
