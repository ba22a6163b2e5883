/**
 * A migration that is killed. Before each statement the folder is copied: this is what a kill at this moment leaves. Then
 * every copy is opened.
 */
import { createHash } from 'node:crypto';
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ContentStore } from '../../../../src/daemon/content/contentStore.js';
import { TABLES } from '../../../../src/daemon/content/tables.js';
import {
  loadSqlite,
  type SqliteDatabase,
  type SqliteProvider,
} from '../../../../src/sqlite/sqliteProvider.js';
import { longIt } from '../../../support/long.js';
import {
  OLD_REVISIONS,
  oldStream,
  writeOldFolder,
  type OldRevision,
} from '../../../support/oldContentDatabase.js';

const NOW_SEC = 1_700_000_000;
const DATABASE = 'lbrynet.sqlite';
/** Pages that SQLite keeps in memory. With so few, an open transaction writes most of its pages into the log. */
const CACHED_PAGES = 8;
const STREAMS = Array.from({ length: 6 }, (_, n) => oldStream(`film ${n}.mp4`));

let sqlite: SqliteProvider;
let base: string;
beforeAll(async () => {
  sqlite = await loadSqlite();
});
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'lbcnet-migration-'));
});
afterEach(() => rmSync(base, { recursive: true }));

/** Calls `onStep` before each statement that can write. */
function watched(onStep: () => void): SqliteProvider {
  const watch = (database: SqliteDatabase): SqliteDatabase => ({
    exec: (sql) => {
      onStep();
      database.exec(sql);
    },
    prepare: (sql) => {
      const statement = database.prepare(sql);
      return {
        run: (...values) => {
          onStep();
          return statement.run(...values);
        },
        get: (...values) => statement.get(...values),
        all: (...values) => statement.all(...values),
      };
    },
    function: (name, run) => database.function(name, run),
    close: () => {
      onStep();
      database.close();
    },
  });
  return {
    ...sqlite,
    open: (path) => {
      const database = sqlite.open(path);
      database.exec(`pragma cache_size = ${CACHED_PAGES}; pragma cache_spill = ${CACHED_PAGES}`);
      return watch(database);
    },
  };
}

/** The folder of that revision, as a killed lbrynet leaves it: the last rows are in the log only. */
function oldFolder(revision: OldRevision): string {
  const [made, folder] = [join(base, 'made'), join(base, 'old')];
  cpSync(mkdtempSync(join(base, 'empty-')), made, { recursive: true });
  writeOldFolder({ provider: sqlite, folder: made, revision, streams: STREAMS });
  const database = sqlite.open(join(made, DATABASE));
  database.exec("insert into support values ('last:0', 'id', 1, 'address')");
  cpSync(made, folder, { recursive: true });
  database.close();
  expect(statSync(join(folder, `${DATABASE}-wal`)).size).toBeGreaterThan(0);
  return folder;
}

const open = (dataDir: string, provider = sqlite): ContentStore =>
  new ContentStore(provider, { dataDir, nowSec: NOW_SEC });

/** The rows of all tables, and the names of the files about the database. */
function contentsOf(folder: string): object {
  const database = sqlite.open(join(folder, DATABASE));
  const rows = TABLES.map(([name]) => [name, database.prepare(`select rowid as id, * from ${name}`).all()]);
  database.close();
  const names = readdirSync(folder).filter(
    (name) => /sqlite/.test(name) && !/lbcnet|-(?:wal|shm)$/.test(name),
  );
  return { rows: Object.fromEntries(rows) as unknown, names: names.sort() };
}

const stateOf = (folder: string): string => {
  const hash = createHash('sha256');
  for (const name of readdirSync(folder).sort())
    if (statSync(join(folder, name)).isFile() && !name.endsWith('-shm'))
      hash.update(name).update(readFileSync(join(folder, name)));
  return hash.digest('hex');
};

/** Migrates the folder. Returns copies of all states of the folder before, between and after the statements. */
function statesOf(folder: string): string[] {
  const states = new Map<string, string>();
  const keep = (): void => {
    const state = stateOf(folder);
    if (states.has(state)) return;
    const copy = join(base, `state-${states.size}`);
    cpSync(folder, copy, { recursive: true });
    states.set(state, copy);
  };
  open(folder, watched(keep)).close();
  keep();
  return [...states.values()];
}

/** Copies of a folder whose log ends at several places, as after a kill during the write of a commit. */
function cutLogs(folder: string): string[] {
  const size = statSync(join(folder, `${DATABASE}-wal`)).size;
  return [0.1, 0.4, 0.7, 0.99].map((share) => {
    const copy = `${folder}-${share}`;
    cpSync(folder, copy, { recursive: true });
    truncateSync(join(copy, `${DATABASE}-wal`), Math.floor(size * share));
    return copy;
  });
}

const logBytes = (folder: string): number =>
  statSync(join(folder, `${DATABASE}-wal`), { throwIfNoEntry: false })?.size ?? 0;

describe.each(OLD_REVISIONS)('a migration from revision %i', (revision) => {
  const defined = revision === OLD_REVISIONS[0] ? it : longIt;
  defined('that is killed at any statement loses no row, and keeps one copy', () => {
    const folder = oldFolder(revision);
    const [whole, halfCopied] = [join(base, 'whole'), join(base, 'half-copied')];
    cpSync(folder, whole, { recursive: true });
    cpSync(folder, halfCopied, { recursive: true });
    writeFileSync(join(halfCopied, `${DATABASE}.copying`), 'SQLite format 3');
    const states = statesOf(whole);
    const expected = contentsOf(whole);
    const copy = join(whole, `rev_${revision}_database.sqlite`);
    expect(expected).toMatchObject({
      rows: {
        file: STREAMS.map(() => expect.anything()),
        blob: STREAMS.flatMap(() => Array.from({ length: 3 }, () => expect.anything())),
        support: [{ support_outpoint: 'last:0' }],
      },
      names: [DATABASE, `rev_${revision}_database.sqlite`],
    });
    expect(states.length).toBeGreaterThan(10);
    const longest = states.toSorted((a, b) => logBytes(b) - logBytes(a))[0]!;
    for (const state of [...states, ...cutLogs(longest), halfCopied]) {
      open(state).close();
      expect(contentsOf(state)).toEqual(expected);
      expect(readFileSync(join(state, 'db_revision'), 'utf8')).toBe('15');
      expect(readFileSync(join(state, `rev_${revision}_database.sqlite`)).equals(readFileSync(copy))).toBe(
        true,
      );
    }
  });
});

describe('a migration of lbrynet that was killed', () => {
  /** The statements of lbry-sdk migrate12to13.py. Each is a transaction. */
  const STEPS = [
    `create table new_file (stream_hash char(96) references stream, bt_infohash char(20) references torrent, file_name text,
       download_directory text, blob_data_rate real not null, status text not null, saved_file integer not null,
       content_fee text, added_on integer not null)`,
    `create table new_content_claim (stream_hash char(96) references stream, bt_infohash char(20) references torrent,
       claim_outpoint text unique not null references claim)`,
    `insert into new_file select stream_hash, null, file_name, download_directory, blob_data_rate, status, saved_file,
       content_fee, added_on from file`,
    `insert or ignore into new_content_claim select stream_hash, null, claim_outpoint from content_claim`,
    'drop table file',
    'drop table content_claim',
    'alter table new_file rename to file',
    'alter table new_content_claim rename to content_claim',
  ];

  it.each([5, 6, 7])('after statement %i loses no file', (count) => {
    const folder = join(base, 'old');
    cpSync(mkdtempSync(join(base, 'empty-')), folder, { recursive: true });
    writeOldFolder({ provider: sqlite, folder, revision: 12, streams: STREAMS });
    const database = sqlite.open(join(folder, DATABASE));
    database.exec('pragma foreign_keys = off');
    for (const step of STEPS.slice(0, count)) database.exec(step);
    database.close();
    open(folder).close();
    expect(contentsOf(folder)).toMatchObject({
      rows: {
        file: STREAMS.map(() => ({ added_on: 1234 })),
        content_claim: STREAMS.map(() => expect.anything()),
      },
    });
  });
});
