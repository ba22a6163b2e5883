import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { peerStoreOf, type ContentDatabase } from '../../../../src/daemon/content/contentDatabase.js';
import { ContentStore } from '../../../../src/daemon/content/contentStore.js';
import {
  loadSqlite,
  type SqliteDatabase,
  type SqliteProvider,
} from '../../../../src/sqlite/sqliteProvider.js';
import {
  hexOf,
  OLD_REVISIONS,
  OLD_STREAMS,
  writeOldFolder,
  type OldRevision,
} from '../../../support/oldContentDatabase.js';

const NOW_SEC = 1_700_000_000;

let provider: SqliteProvider;
let folder: string;
beforeAll(async () => {
  provider = await loadSqlite();
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lbcnet-database-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const fileOf = (name = 'lbrynet.sqlite'): string => join(folder, name);
const open = (): ContentStore => new ContentStore(provider, { dataDir: folder, nowSec: NOW_SEC });

function withDatabase<T>(task: (database: SqliteDatabase) => T, name?: string): T {
  const database = provider.open(fileOf(name));
  try {
    return task(database);
  } finally {
    database.close();
  }
}

/** `cid name type notnull default pk` of each column, as SQLite returns them. */
const columnsOf = (database: SqliteDatabase, table: string): string[] =>
  database
    .prepare(`pragma table_info('${table}')`)
    .all()
    .map((row) =>
      ['cid', 'name', 'type', 'notnull', 'dflt_value', 'pk']
        .map((key) => String(row[key]).toLowerCase())
        .join(' '),
    );

const shapeOf = (database: SqliteDatabase): Record<string, string[]> =>
  Object.fromEntries(
    database
      .prepare(`select name from sqlite_master where type = 'table' order by name`)
      .all()
      .map(({ name }) => [name, columnsOf(database, name as string)]),
  );

/** The columns of revision 15. Source: lbry-sdk storage.py `CREATE_TABLES_QUERY`, as shown by `pragma table_info`. */
const SHAPE: Record<string, string[]> = {
  blob: [
    '0 blob_hash char(96) 1 null 1',
    '1 blob_length integer 1 null 0',
    '2 next_announce_time integer 1 null 0',
    '3 should_announce integer 1 0 0',
    '4 status text 1 null 0',
    '5 last_announced_time integer 0 null 0',
    '6 single_announce integer 0 null 0',
    '7 added_on integer 1 null 0',
    '8 is_mine integer 1 0 0',
  ],
  claim: [
    '0 claim_outpoint text 1 null 1',
    '1 claim_id char(40) 1 null 0',
    '2 claim_name text 1 null 0',
    '3 amount integer 1 null 0',
    '4 height integer 1 null 0',
    '5 serialized_metadata blob 1 null 0',
    '6 channel_claim_id text 0 null 0',
    '7 address text 1 null 0',
    '8 claim_sequence integer 1 null 0',
  ],
  content_claim: [
    '0 stream_hash char(96) 0 null 0',
    '1 bt_infohash char(20) 0 null 0',
    '2 claim_outpoint text 1 null 0',
  ],
  file: [
    '0 stream_hash char(96) 0 null 0',
    '1 bt_infohash char(20) 0 null 0',
    '2 file_name text 0 null 0',
    '3 download_directory text 0 null 0',
    '4 blob_data_rate real 1 null 0',
    '5 status text 1 null 0',
    '6 saved_file integer 1 null 0',
    '7 content_fee text 0 null 0',
    '8 added_on integer 1 null 0',
  ],
  peer: [
    '0 node_id char(96) 1 null 1',
    '1 address text 1 null 0',
    '2 udp_port integer 1 null 0',
    '3 tcp_port integer 0 null 0',
  ],
  reflected_stream: [
    '0 sd_hash text 1 null 1',
    '1 reflector_address text 1 null 2',
    '2 timestamp integer 0 null 0',
  ],
  stream: [
    '0 stream_hash char(96) 1 null 1',
    '1 sd_hash char(96) 1 null 0',
    '2 stream_key text 1 null 0',
    '3 stream_name text 1 null 0',
    '4 suggested_filename text 1 null 0',
  ],
  stream_blob: [
    '0 stream_hash char(96) 1 null 1',
    '1 blob_hash char(96) 0 null 2',
    '2 position integer 1 null 0',
    '3 iv char(32) 1 null 0',
  ],
  support: [
    '0 support_outpoint text 1 null 1',
    '1 claim_id text 1 null 0',
    '2 amount integer 1 null 0',
    '3 address text 1 null 0',
  ],
  torrent: [
    '0 bt_infohash char(20) 1 null 1',
    '1 tracker text 0 null 0',
    '2 length integer 1 null 0',
    '3 name text 1 null 0',
  ],
  torrent_http_seed: ['0 bt_infohash char(20) 1 null 0', '1 http_seed text 1 null 0'],
  torrent_node: ['0 bt_infohash char(20) 1 null 0', '1 host text 1 null 0', '2 port integer 1 null 0'],
  torrent_tracker: ['0 bt_infohash char(20) 1 null 0', '1 tracker text 1 null 0'],
};

const writeOld = (revision: OldRevision): void => writeOldFolder({ provider, folder, revision });

describe('the content database', () => {
  it('has the tables of revision 15', () => {
    open().close();
    expect(withDatabase(shapeOf)).toEqual(SHAPE);
    expect(readFileSync(fileOf('db_revision'), 'utf8')).toBe('15');
    const keys = withDatabase((database) =>
      Object.keys(SHAPE).flatMap((table) =>
        database
          .prepare(`pragma foreign_key_list('${table}')`)
          .all()
          .map((row) => `${table}.${String(row['from'])} -> ${String(row['table'])}`),
      ),
    );
    expect(keys.sort()).toEqual([
      'content_claim.bt_infohash -> torrent',
      'content_claim.claim_outpoint -> claim',
      'content_claim.stream_hash -> stream',
      'file.bt_infohash -> torrent',
      'file.stream_hash -> stream',
      'stream.sd_hash -> blob',
      'stream_blob.blob_hash -> blob',
      'stream_blob.stream_hash -> stream',
      'torrent_http_seed.bt_infohash -> torrent',
      'torrent_node.bt_infohash -> torrent',
      'torrent_tracker.bt_infohash -> torrent',
    ]);
  });

  it.each(OLD_REVISIONS)('migrates revision %i', (revision) => {
    writeOld(revision);
    const store = open();
    expect(store.notice).toContain(`from revision ${revision} to 15`);
    store.close();
    expect(readFileSync(fileOf('db_revision'), 'utf8')).toBe('15');
    expect(existsSync(fileOf(`rev_${revision}_database.sqlite`))).toBe(true);
    withDatabase((database) => {
      expect(shapeOf(database)).toEqual(SHAPE);
      const rows = (sql: string) =>
        database
          .prepare(sql)
          .all()
          .map((row) =>
            Object.values(row).map((value) => (typeof value === 'bigint' ? Number(value) : value)),
          );
      const kept = revision < 9 ? OLD_STREAMS.slice(0, 2) : OLD_STREAMS;
      expect(rows('select stream_hash from stream order by rowid').flat()).toEqual(
        kept.map(({ descriptor }) => descriptor.streamHash),
      );
      const added = revision >= 12 ? 1234 : NOW_SEC;
      const saved = [hexOf('new.mp4'), hexOf(folder), 1];
      const unsaved = (name: string) => (revision >= 11 ? [hexOf(name), hexOf(folder), 0] : [null, null, 0]);
      expect(
        rows('select rowid, file_name, download_directory, saved_file, added_on from file order by rowid'),
      ).toEqual([
        [1, ...saved, added],
        ...(revision < 9 ? [] : [[3, ...unsaved('broken.mp4'), added]]),
        [7, ...unsaved('old.mp4'), added],
      ]);
      // Blobs of older revisions count as own blobs.
      expect(rows('select distinct is_mine, added_on, next_announce_time from blob')).toEqual([
        [1, 0, revision < 7 ? 0 : 99],
      ]);
      expect(rows('select count(*) from blob where should_announce = 1')).toEqual([
        [revision < 10 ? kept.length * 2 : 0],
      ]);
    });
    const again = open();
    expect(again.notice).toBeNull();
    again.close();
  });

  it('determines the revision from the tables if its file is missing or a kill came before it was written', () => {
    writeOld(13);
    rmSync(fileOf('db_revision'));
    const store = open();
    expect(store.notice).toContain('from revision 13 to 15');
    store.close();
    writeFileSync(fileOf('db_revision'), '13');
    const again = open();
    expect(again.notice).toBeNull();
    again.close();
    expect(readFileSync(fileOf('db_revision'), 'utf8')).toBe('15');
  });

  it.each([1, 5])('refuses revision %i with advice', (revision) => {
    writeFileSync(fileOf('db_revision'), `${revision}`);
    expect(open).toThrow('Start lbrynet 0.113.0 once with this folder');
    expect(existsSync(fileOf())).toBe(false);
  });

  it('refuses newer revisions, and invalid ones, and changes nothing', () => {
    writeFileSync(fileOf('db_revision'), '16');
    expect(open).toThrow(
      'This version of lbrynet is not compatible with the database\nYour database is revision 16, expected 15',
    );
    writeFileSync(fileOf('db_revision'), 'fifteen');
    expect(open).toThrow('it contains no database revision');
    expect(readdirSync(folder).sort()).toEqual(['blobfiles', 'db_revision']);
  });

  it('keeps an old database that cannot be migrated', () => {
    writeOld(12);
    withDatabase((database) =>
      database.exec(
        'pragma foreign_keys = off; drop table stream; create table stream (stream_hash text, sd_hash text, stream_key text, stream_name text, suggested_filename text); insert into stream values (null, null, null, null, null)',
      ),
    );
    expect(open).toThrow('could not be upgraded from revision 12 to 15');
    expect(readFileSync(fileOf('db_revision'), 'utf8')).toBe('12');
    expect(withDatabase((database) => database.prepare('select count(*) as n from file').get()!['n'])).toBe(
      3,
    );
    expect(
      readdirSync(folder).filter((name) => name.includes('migrating') || name.startsWith('rev_')),
    ).toEqual([]);
  });

  it('quarantines a corrupt database repeatedly, and deletes none', () => {
    writeFileSync(fileOf('db_revision'), '15');
    for (const [n, aside] of ['lbrynet.sqlite.damaged', 'lbrynet.sqlite.damaged.1'].entries()) {
      writeFileSync(fileOf(), Buffer.alloc(8192, 7 + n));
      const store = open();
      expect(store.notice).toContain(`It was moved to ${fileOf(aside)}.`);
      // There are no blobs, so nothing was lost.
      expect(store.isLibraryLost()).toBe(false);
      store.close();
      expect(readFileSync(fileOf(aside)).equals(Buffer.alloc(8192, 7 + n))).toBe(true);
    }
  });

  it('finds a corrupt page, and marks blobs without rows', () => {
    mkdirSync(fileOf('blobfiles'), { recursive: true });
    writeFileSync(fileOf(join('blobfiles', 'ab'.repeat(48))), 'x');
    const store = open();
    expect(store.isLibraryLost()).toBe(true);
    const hash = (n: number): string => n.toString(16).padStart(96, '0');
    store.addBlobs(
      Array.from({ length: 500 }, (_, n) => ({ hash: hash(n), lengthBytes: 16, addedOn: 1, isMine: true })),
      true,
    );
    store.endRebuild();
    store.close();
    const bytes = readFileSync(fileOf());
    // The first pages contain the schema and remain intact.
    bytes.fill(0xee, bytes.length - 3 * 4096);
    writeFileSync(fileOf(), bytes);
    const again = open();
    expect(again.notice).toContain('was corrupt');
    expect([again.isLibraryLost(), again.fileCount()]).toEqual([true, 0]);
    again.close();
    expect(readFileSync(fileOf('lbrynet.sqlite.damaged')).equals(bytes)).toBe(true);
  });

  it('removes the blobs of a stream whose making was interrupted, and no others', () => {
    const hash = (n: number): string => n.toString(16).padStart(96, '0');
    const add = (store: ContentStore, n: number, isMine = true, addedOn = NOW_SEC): void => {
      writeFileSync(fileOf(join('blobfiles', hash(n))), 'x');
      store.addBlobs([{ hash: hash(n), lengthBytes: 16, addedOn, isMine }], true);
    };
    const there = (): string[] => readdirSync(fileOf('blobfiles')).sort();
    let store = open();
    add(store, 1, true, NOW_SEC - 10);
    store.beginMaking(NOW_SEC + 0.5);
    add(store, 2);
    store.beginMaking(NOW_SEC + 1);
    store.endMaking();
    // A blob of another download arrived meanwhile.
    add(store, 3, false);
    store.close();
    store = open();
    expect(store.reconcile('.part').value.unknown).toEqual([]);
    expect(there()).toEqual([hash(1), hash(3)]);
    store.beginMaking(NOW_SEC);
    add(store, 4);
    store.endMaking();
    store.close();
    store = open();
    store.reconcile('.part');
    expect(there()).toEqual([hash(1), hash(3), hash(4)]);
    store.close();
  });

  it('removes a stream whose making was interrupted before it had a file, and no other', () => {
    const hash = (n: number): string => n.toString(16).padStart(96, '0');
    const iv = '0'.repeat(32);
    /** Adds a stream with one data blob, whose hashes follow from `n`. */
    const add = (store: ContentStore, n: number, isMine: boolean, hasFile: boolean): void => {
      for (const blob of [n, n + 1]) writeFileSync(fileOf(join('blobfiles', hash(blob))), 'x');
      const rows = [n, n + 1].map((blob) => ({
        hash: hash(blob),
        lengthBytes: 16,
        addedOn: NOW_SEC,
        isMine,
      }));
      store.addBlobs(rows, true);
      const descriptor = {
        ...{ streamName: 'a', key: '0'.repeat(32), suggestedFileName: 'a', streamHash: hash(n + 2) },
        blobs: [
          { blobHash: hash(n), blobNum: 0, iv, length: 16 },
          { blobHash: null, blobNum: 1, iv, length: 0 },
        ],
      };
      store.addStream({ descriptor, sdHash: hash(n + 1), sdLengthBytes: 16, addedOn: NOW_SEC, isMine });
      if (hasFile)
        store.addFile({
          ...{ streamHash: hash(n + 2), place: null, status: 'finished', isSaved: false },
          ...{ contentFee: null, addedOn: NOW_SEC },
        });
    };
    let store = open();
    store.beginMaking(NOW_SEC);
    add(store, 10, true, false);
    add(store, 20, true, true);
    add(store, 30, false, false);
    store.close();
    store = open();
    expect(store.reconcile('.part').value.unknown).toEqual([]);
    expect(readdirSync(fileOf('blobfiles')).sort()).toEqual([20, 21, 30, 31].map(hash));
    expect([10, 20, 30].map((n) => store.streamHashOf(hash(n + 1)) === null)).toEqual([true, false, false]);
    store.close();
  });

  it('leaves a corrupt database of an older revision as it is', () => {
    writeFileSync(fileOf('db_revision'), '12');
    writeFileSync(fileOf(), Buffer.alloc(8192, 7));
    expect(open).toThrow('lbrynet.sqlite is corrupt');
    expect(readFileSync(fileOf()).equals(Buffer.alloc(8192, 7))).toBe(true);
    rmSync(fileOf());
    mkdirSync(fileOf());
    expect(open).toThrow('lbrynet.sqlite');
  });

  it('keeps peers as lbrynet does', async () => {
    const store = open();
    const database: Pick<ContentDatabase, 'loadPeers' | 'savePeers'> = {
      loadPeers: async () => store.loadPeers(),
      savePeers: async (rows) => store.savePeers(rows),
    };
    const peers = peerStoreOf(database);
    const rows = [
      { nodeId: Buffer.alloc(48, 0xab), address: '1.2.3.4', udpPort: 4444, tcpPort: 3333 },
      { nodeId: Buffer.alloc(48, 1), address: '1.2.3.5', udpPort: 4444, tcpPort: null },
    ];
    await peers.save([...rows, { ...rows[0]!, address: '9.9.9.9' }]);
    await peers.save(rows);
    expect(await peers.load()).toEqual(rows);
    store.close();
    expect(
      withDatabase((database) =>
        database
          .prepare(
            'select typeof(node_id) as kind, cast(node_id as text) as id from peer order by rowid limit 1',
          )
          .get(),
      ),
    ).toMatchObject({ kind: 'blob', id: 'ab'.repeat(48) });
  });
});
