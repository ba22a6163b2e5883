/**
 * Folders of lbrynet with a database of an older revision, for tests of migrations. Source of the tables: lbry-sdk
 * `CREATE_TABLES_QUERY` in storage.py, in the last commit of each revision.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { blobHashOf } from '../../src/daemon/content/blobHash.js';
import {
  descriptorBytes,
  oldDescriptorBytes,
  streamHashOf,
  type StreamDescriptor,
} from '../../src/daemon/content/descriptor.js';
import type { SqliteDatabase, SqliteProvider } from '../../src/sqlite/sqliteProvider.js';

export const OLD_REVISIONS = [6, 7, 8, 9, 10, 11, 12, 13, 14] as const;
export type OldRevision = (typeof OLD_REVISIONS)[number];

export interface OldStream {
  readonly descriptor: StreamDescriptor;
  readonly sdHash: string;
}

export const hexOf = (text: string): string => Buffer.from(text).toString('hex');

/** A stream of two blobs. `bytesOf` gives the bytes of its sd blob. */
export function oldStream(name: string, bytesOf = descriptorBytes): OldStream {
  const hashes = [blobHashOf(Buffer.from(`${name}0`)), blobHashOf(Buffer.from(`${name}1`))];
  const blobs = [
    ...hashes.map((blobHash, n) => ({ blobHash, blobNum: n, iv: `${n}`.repeat(32), length: 16 * (n + 1) })),
    { blobHash: null, blobNum: 2, iv: 'a'.repeat(32), length: 0 },
  ];
  const parts = { streamName: name, key: 'b'.repeat(32), suggestedFileName: name, blobs };
  const descriptor = { ...parts, streamHash: streamHashOf(parts) };
  return { descriptor, sdHash: blobHashOf(bytesOf(descriptor)) };
}

/** One stream in the present order of fields, one in the old order, and one that can never be read. */
export const OLD_STREAMS = [
  oldStream('new.mp4'),
  oldStream('old.mp4', oldDescriptorBytes),
  oldStream('broken.mp4', () => Buffer.from('?')),
] as const;

/** The statements that create the tables of that revision. */
function oldTables(revision: OldRevision): string {
  const since = (first: number, columns: string): string => (revision >= first ? `, ${columns}` : '');
  const nameRule = revision >= 11 ? '' : ' not null';
  const file = [
    revision >= 13
      ? 'stream_hash char(96) references stream, bt_infohash char(20) references torrent'
      : 'stream_hash text primary key not null references stream',
    `file_name text${nameRule}, download_directory text${nameRule}`,
    `blob_data_rate real not null, status text not null${since(11, 'saved_file integer not null, content_fee text')}`,
    ...(revision >= 12 ? ['added_on integer not null'] : []),
  ];
  const contentClaim =
    revision >= 13
      ? 'stream_hash char(96) references stream, bt_infohash char(20) references torrent, claim_outpoint text unique not null references claim'
      : 'stream_hash text unique not null references file, claim_outpoint text not null references claim, primary key (stream_hash, claim_outpoint)';
  return `
    create table blob (blob_hash char(96) primary key not null, blob_length integer not null, next_announce_time integer not null,
      should_announce integer not null default 0, status text not null${since(7, 'last_announced_time integer, single_announce integer')});
    create table stream (stream_hash char(96) not null primary key, sd_hash char(96) not null references blob,
      stream_key text not null, stream_name text not null, suggested_filename text not null);
    create table stream_blob (stream_hash char(96) not null references stream, blob_hash char(96) references blob,
      position integer not null, iv char(32) not null, primary key (stream_hash, blob_hash));
    create table claim (claim_outpoint text not null primary key, claim_id char(40) not null, claim_name text not null,
      amount integer not null, height integer not null, serialized_metadata blob not null, channel_claim_id text,
      address text not null, claim_sequence integer not null);
    ${
      revision >= 13
        ? `create table torrent (bt_infohash char(20) not null primary key, tracker text, length integer not null, name text not null);
    create table torrent_node (bt_infohash char(20) not null references torrent, host text not null, port integer not null);
    create table torrent_tracker (bt_infohash char(20) not null references torrent, tracker text not null);
    create table torrent_http_seed (bt_infohash char(20) not null references torrent, http_seed text not null);`
        : ''
    }
    create table file (${file.join(', ')});
    create table content_claim (${contentClaim});
    create table support (support_outpoint text not null primary key, claim_id text not null, amount integer not null, address text not null);
    ${revision >= 8 ? 'create table reflected_stream (sd_hash text not null, reflector_address text not null, timestamp integer, primary key (sd_hash, reflector_address));' : ''}
    ${revision >= 14 ? 'create table peer (node_id char(96) not null primary key, address text not null, udp_port integer not null, tcp_port integer, unique (address, udp_port));' : ''}
  `;
}

/** Inserts rows by position. Columns for which no value is given are null. */
function inserter(database: SqliteDatabase): (table: string, ...values: (string | number | null)[]) => void {
  const counts = new Map<string, number>();
  return (table, ...values) => {
    const count = counts.get(table) ?? database.prepare(`pragma table_info('${table}')`).all().length;
    counts.set(table, count);
    const padded = [...values, ...Array<null>(count).fill(null)].slice(0, count);
    database.prepare(`insert into ${table} values (${padded.map(() => '?').join(', ')})`).run(...padded);
  };
}

export interface OldFolder {
  readonly provider: SqliteProvider;
  readonly folder: string;
  readonly revision: OldRevision;
  readonly streams?: readonly OldStream[];
}

/**
 * Writes `db_revision`, a saved file and the database of that revision. Only the first stream is saved. The numbers of the
 * files have a gap.
 */
export function writeOldFolder({ provider, folder, revision, streams = OLD_STREAMS }: OldFolder): void {
  writeFileSync(join(folder, 'db_revision'), `${revision}`);
  writeFileSync(join(folder, streams[0]!.descriptor.streamName), 'saved');
  const database = provider.open(join(folder, 'lbrynet.sqlite'));
  database.exec('pragma journal_mode = wal; pragma foreign_keys = on');
  database.exec(oldTables(revision));
  database.exec('begin');
  const insert = inserter(database);
  const torrent = revision >= 13 ? [null] : [];
  for (const [n, { descriptor, sdHash }] of streams.entries()) {
    const { streamHash, streamName } = descriptor;
    for (const { blobHash, length } of descriptor.blobs.slice(0, -1))
      insert('blob', blobHash, length, 99, 0, 'finished');
    insert('blob', sdHash, 500, 99, 0, 'finished');
    insert('stream', streamHash, sdHash, descriptor.key, hexOf(streamName), hexOf(streamName));
    for (const { blobHash, blobNum, iv } of descriptor.blobs)
      insert('stream_blob', streamHash, blobHash, blobNum, iv);
    insert('claim', `${n}:0`, `${n}`.padStart(40, '0'), streamName, 1000, 1, '', null, 'address', -1);
    const names = n === 2 && revision <= 10 ? ['{stream}', '{stream}'] : [hexOf(streamName), hexOf(folder)];
    const since11 = revision >= 11 ? [n === 0 ? 1 : 0, null] : [];
    const since12 = revision >= 12 ? [1234] : [];
    insert('file', streamHash, ...torrent, ...names, 0.5, 'finished', ...since11, ...since12);
    insert('content_claim', streamHash, ...torrent, `${n}:0`);
    if (revision >= 8) insert('reflected_stream', sdHash, 'reflector:5566', 1);
  }
  database.exec(`update file set rowid = ${streams.length + 4} where rowid = 2`);
  database.exec('commit');
  database.close();
}
