/**
 * The tables of `lbrynet.sqlite`, exactly those of revision 15, and of `lbcnet.sqlite`, which lbrynet does not know.
 * Source: lbry-sdk lbry/extras/daemon/storage.py `CREATE_TABLES_QUERY`. Names, types, order and constraints of the columns
 * are those of the reference, because lbry-sdk inserts rows by position.
 */

/** The revision of the database. Source: lbry-sdk lbry/extras/daemon/components.py `get_current_db_revision`. */
export const REVISION = 15;

/** A table: its columns and constraints in order. */
export type TableForm = readonly [name: string, columns: readonly string[]];

const HASH = 'char(96)';
const OF_STREAM = `stream_hash ${HASH} references stream`;
const OF_TORRENT = 'bt_infohash char(20) not null references torrent';

export const TABLES: readonly TableForm[] = [
  [
    'blob',
    [
      `blob_hash ${HASH} primary key not null`,
      'blob_length integer not null',
      'next_announce_time integer not null',
      'should_announce integer not null default 0',
      'status text not null',
      'last_announced_time integer',
      'single_announce integer',
      'added_on integer not null',
      'is_mine integer not null default 0',
    ],
  ],
  [
    'stream',
    [
      `stream_hash ${HASH} not null primary key`,
      `sd_hash ${HASH} not null references blob`,
      'stream_key text not null',
      'stream_name text not null',
      'suggested_filename text not null',
    ],
  ],
  [
    'stream_blob',
    [
      `stream_hash ${HASH} not null references stream`,
      `blob_hash ${HASH} references blob`,
      'position integer not null',
      'iv char(32) not null',
      'primary key (stream_hash, blob_hash)',
    ],
  ],
  [
    'claim',
    [
      'claim_outpoint text not null primary key',
      'claim_id char(40) not null',
      'claim_name text not null',
      'amount integer not null',
      'height integer not null',
      'serialized_metadata blob not null',
      'channel_claim_id text',
      'address text not null',
      'claim_sequence integer not null',
    ],
  ],
  [
    'torrent',
    [
      'bt_infohash char(20) not null primary key',
      'tracker text',
      'length integer not null',
      'name text not null',
    ],
  ],
  ['torrent_node', [OF_TORRENT, 'host text not null', 'port integer not null']],
  ['torrent_tracker', [OF_TORRENT, 'tracker text not null']],
  ['torrent_http_seed', [OF_TORRENT, 'http_seed text not null']],
  [
    'file',
    [
      OF_STREAM,
      'bt_infohash char(20) references torrent',
      'file_name text',
      'download_directory text',
      'blob_data_rate real not null',
      'status text not null',
      'saved_file integer not null',
      'content_fee text',
      'added_on integer not null',
    ],
  ],
  [
    'content_claim',
    [
      OF_STREAM,
      'bt_infohash char(20) references torrent',
      'claim_outpoint text unique not null references claim',
    ],
  ],
  [
    'support',
    [
      'support_outpoint text not null primary key',
      'claim_id text not null',
      'amount integer not null',
      'address text not null',
    ],
  ],
  [
    'reflected_stream',
    [
      'sd_hash text not null',
      'reflector_address text not null',
      'timestamp integer',
      'primary key (sd_hash, reflector_address)',
    ],
  ],
  [
    'peer',
    [
      `node_id ${HASH} not null primary key`,
      'address text not null',
      'udp_port integer not null',
      'tcp_port integer',
      'unique (address, udp_port)',
    ],
  ],
];

export const CREATE_TABLES = [
  ...TABLES.map(([name, columns]) => `create table if not exists ${name} (${columns.join(', ')});`),
  'create index if not exists blob_data on blob(blob_hash, blob_length, is_mine);',
  // Indexes that find a single file and the streams of a blob. lbry-sdk ignores them.
  'create index if not exists stream_by_sd on stream(sd_hash);',
  'create index if not exists file_by_stream on file(stream_hash);',
  'create index if not exists claim_by_id on claim(claim_id);',
  'create index if not exists content_claim_by_stream on content_claim(stream_hash);',
  'create index if not exists stream_blob_hash on stream_blob(blob_hash);',
].join('\n');

/** Version of the tables of lbcnode below, stored in SQLite's `user_version`. */
export const OWN_VERSION = 3;

/**
 * `blob_check`: the stamp of a blob's file at its last verification. `blob_chunks`: see `chunkTable.ts`. `doomed_blob`: blobs whose file has to be removed, also
 * after a kill. `pin`: streams (by stream hash) and channels (by claim id) that cleaning spares. `stream_size`: the exact
 * bytes of a stream's file. `original`: the files from which blobs are made. `note`: open tasks. In a folder of an older
 * version the missing tables are created.
 */
export const CREATE_OWN_TABLES = `
  create table if not exists blob_check (blob_hash text primary key, stamp text not null) without rowid;
  create table if not exists blob_chunks (blob_hash text primary key not null, codes blob not null);
  create table if not exists doomed_blob (blob_hash text primary key) without rowid;
  create table if not exists pin (kind text not null, id text not null, added_on integer not null, primary key (kind, id)) without rowid;
  create table if not exists stream_size (stream_hash text primary key, size_bytes integer not null) without rowid;
  create table if not exists note (name text primary key, value text not null) without rowid;
  create table if not exists original (stream_hash text primary key, sd_hash text not null, path text not null,
    size_bytes integer not null, good_stamp text not null, seen_stamp text not null, is_same integer not null) without rowid;
`;
