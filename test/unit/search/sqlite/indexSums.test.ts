import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { IndexSums, PAGE_BYTES } from '../../../../src/search/sqlite/indexSums.js';
import type { ClaimDocument } from '../../../../src/search/document/document.js';
import { SqliteIndexWriter } from '../../../../src/search/sqlite/sqliteIndexWriter.js';
import { SqliteWriter } from '../../../../src/search/sqlite/sqliteWriter.js';
import { readLog } from '../../../../src/search/sqlite/walFrames.js';
import { loadSqlite } from '../../../../src/sqlite/sqliteProvider.js';
import { modelDocuments, Random, randomClaims } from '../../../support/claimSearchModel.js';

const provider = await loadSqlite();
const BASE = { height: 200, hash: 'aa' };
const documents = modelDocuments(randomClaims(new Random(1), 300)).toSorted((a, b) =>
  a.claimId < b.claimId ? -1 : 1,
);
/** Documents of each block. */
const PER_BLOCK = 4;
const LOG_HEADER_BYTES = 32;
const FRAME_BYTES = 24 + PAGE_BYTES;
const ALL_PAGES = 1_000_000;

let folder: string;
let path: string;
const opened: SqliteWriter[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lbcnode-sums-'));
  path = join(folder, 'search.sqlite');
});
afterEach(() => {
  for (const writer of opened.splice(0)) {
    // Some of the indexes are corrupt and fail when they are closed.
    try {
      writer.close();
    } catch {
      continue;
    }
  }
  rmSync(folder, { recursive: true });
});

function open(of = path): SqliteWriter {
  const writer = SqliteWriter.open(provider, of, 'chain');
  opened.push(writer);
  return writer;
}

/** A complete index whose log is empty. */
function build(): SqliteWriter {
  const writer = open();
  writer.startBuild(BASE);
  writer.addDocuments(documents, [], documents.at(-1)!.claimId);
  writer.endDocuments();
  writer.endBuild();
  return writer;
}

/** Adds a block that changes a few claims, different ones for each height. */
function addBlock(writer: SqliteWriter, height: number, claims = PER_BLOCK): void {
  const from = (height * claims) % documents.length;
  const changed = documents.slice(from, from + claims);
  const scores = changed.map(({ claimId }) => ({
    claimId,
    formerSat: 0n,
    latterSat: BigInt(height) * 100_000_000n,
  }));
  const block = { height, hash: `${height}`, claimIds: changed.map(({ claimId }) => claimId) };
  const states = changed.map((document): ClaimDocument => ({ ...document, amountSat: BigInt(height) }));
  writer.applyBlocks([{ block, ended: [], scores }], { documents: states, hidden: [], gone: [] });
}

/** The content of all tables. */
function contents(of: string): string {
  const database = provider.open(of);
  try {
    const tables = ['claim', 'words', 'label', 'labeled', 'hidden', 'block', 'score_undo', 'state'];
    const rows = tables.map((table) => database.prepare(`SELECT * FROM ${table} ORDER BY 1, 2`).all());
    const found = database.prepare(`SELECT rowid FROM text_index WHERE text_index MATCH 'bitcoin'`).all();
    return JSON.stringify([rows, found], (_key, value: unknown) =>
      typeof value === 'bigint' ? `${value}n` : value,
    );
  } finally {
    database.close();
  }
}

/** Files after a kill. SQLite rebuilds its index of the log (`-shm`). */
interface Files {
  readonly database: Buffer;
  readonly log: Buffer;
  readonly sums: Buffer;
}

function filesOf(of = path): Files {
  const read = (suffix: string): Buffer =>
    existsSync(of + suffix) ? readFileSync(of + suffix) : Buffer.alloc(0);
  return { database: read(''), log: read('-wal'), sums: read('-sums') };
}

let copies = 0;

/** Starts with these files. Returns the error, or the content of the index. */
function startWith({ database, log, sums }: Files): { corruption: string } | { contents: string } {
  const copy = join(folder, `copy-${copies++}`);
  writeFileSync(copy, database);
  writeFileSync(`${copy}-wal`, log);
  writeFileSync(`${copy}-sums`, sums);
  const writer = SqliteWriter.open(provider, copy, 'chain');
  const { corruption } = writer;
  writer.close();
  const found = corruption === null ? { contents: contents(copy) } : { corruption };
  for (const suffix of ['', '-wal', '-sums']) rmSync(copy + suffix, { force: true });
  return found;
}

function flipped(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at]! ^= 1 << (at % 8);
  return copy;
}

/** A file whose first pages, up to this share, are those of the new version, and the others those of the old version. */
function mixed(old: Buffer, young: Buffer, share: number, unit: number): Buffer {
  const bytes = Buffer.alloc(Math.max(old.length, young.length));
  old.copy(bytes);
  young.copy(bytes, 0, 0, Math.floor((young.length * share) / unit) * unit);
  return bytes;
}

interface Steps {
  /** State before any frame of the log is recorded or copied. */
  readonly before: Files;
  /** State after all frames are recorded and copied. */
  readonly after: Files;
  /** Content of the index after each block. */
  readonly commits: readonly string[];
}

/** Records the states of a checkpoint: the log with some blocks is copied to the file. */
function copying(): Steps {
  const writer = build();
  const commits = [contents(path)];
  for (let height = 201; height <= 206; height++) {
    addBlock(writer, height);
    commits.push(contents(path));
  }
  const before = filesOf();
  writer.checkpoint();
  const after = filesOf();
  expect(after.log.equals(before.log)).toBe(true);
  expect(after.database.equals(before.database)).toBe(false);
  return { before, after, commits };
}

describe('a node that was killed', () => {
  it('at any step between record and copy starts with all its data', () => {
    const { before, after, commits } = copying();
    const whole = { contents: commits.at(-1)! };
    expect(startWith(before), 'before the note').toEqual(whole);
    for (let share = 0; share <= 1; share += 0.25) {
      const sums = mixed(before.sums, after.sums, share, 512);
      expect(startWith({ ...before, sums }), `within the note, ${share}`).toEqual(whole);
      const late = Buffer.concat([before.sums.subarray(0, 32), after.sums.subarray(32)]);
      expect(startWith({ ...before, sums: mixed(late, after.sums, share, 32) })).toEqual(whole);
      const database = mixed(before.database, after.database, share, PAGE_BYTES);
      expect(startWith({ ...after, database }), `within the copy, ${share}`).toEqual(whole);
    }
    expect(startWith(after), 'behind the copy').toEqual(whole);
    expect(startWith({ ...after, log: Buffer.alloc(0) }), 'behind the end of the log').toEqual(whole);
  });

  it('starts with all its data if the log started over behind the copy', () => {
    const { after } = copying();
    const writer = opened.at(-1)!;
    addBlock(writer, 207);
    const files = filesOf();
    expect(files.log.length).toBeLessThan(after.log.length);
    expect(startWith(files)).toEqual({ contents: contents(path) });
    writer.checkpoint();
    expect(startWith(filesOf())).toEqual({ contents: contents(path) });
  });

  it('finds a flip in each page that is not in the log', () => {
    const { before } = copying();
    const { pages } = readLog(`${path}-wal`, PAGE_BYTES);
    let found = 0;
    for (let page = 1; page <= before.database.length / PAGE_BYTES; page += 3) {
      if (pages.has(page)) continue;
      const database = flipped(before.database, (page - 1) * PAGE_BYTES + ((page * 977) % PAGE_BYTES));
      expect(startWith({ ...before, database })).toEqual({
        corruption: `its page ${page} does not match its checksum`,
      });
      found++;
    }
    expect(found).toBeGreaterThan(5);
  });

  it('never returns data that no block wrote, wherever a bit flipped', () => {
    const { before, after, commits } = copying();
    const states: readonly Files[] = [
      before,
      { ...before, sums: after.sums },
      { ...after, database: mixed(before.database, after.database, 0.5, PAGE_BYTES) },
      after,
    ];
    const seen = { corruption: 0, last: 0, earlier: 0 };
    for (const [n, files] of states.entries()) {
      for (const kind of ['database', 'log', 'sums'] as const) {
        for (let flip = 0; flip < 6; flip++) {
          const at = Math.floor(((flip + n / 8 + 0.01) * files[kind].length) / 6.6);
          const found = startWith({ ...files, [kind]: flipped(files[kind], at) });
          if ('corruption' in found) seen.corruption++;
          else if (found.contents === commits.at(-1)) seen.last++;
          else {
            expect(commits, `${kind} at ${at}`).toContain(found.contents);
            // Recorded commits are never dropped without a message.
            expect(n).toBe(0);
            seen.earlier++;
          }
        }
      }
    }
    expect(Math.min(...Object.values(seen)), JSON.stringify(seen)).toBeGreaterThan(0);
  });

  it('reports the name of a file that the system refuses to read', () => {
    build().close();
    rmSync(`${path}-sums`);
    mkdirSync(`${path}-sums`);
    expect(() => open()).toThrow(`${path}-sums`);
  });

  it('finds corruption in a log whose later frames may have been copied', () => {
    const { before, after } = copying();
    const frames = (after.log.length - LOG_HEADER_BYTES) / FRAME_BYTES;
    const log = flipped(after.log, LOG_HEADER_BYTES + Math.floor(frames / 2) * FRAME_BYTES + 500);
    expect(startWith({ ...before, log, sums: after.sums })).toEqual({
      corruption: 'its write-ahead log is corrupt',
    });
    expect(startWith({ ...after, log })).toEqual({ corruption: 'its write-ahead log is corrupt' });
  });
});

describe('a running node', () => {
  /** Flips a bit of the file behind SQLite's back. */
  function flip(page: number): void {
    const bytes = readFileSync(path);
    writeFileSync(path, flipped(bytes, (page - 1) * PAGE_BYTES + 4000), { flag: 'r+' });
  }

  it('finds a flip in any page by a round of checks, with any step size', () => {
    const writer = build();
    const pages = readFileSync(path).length / PAGE_BYTES;
    for (let page = 1; page <= pages; page += 7) {
      flip(page);
      expect(() => {
        for (let step = 0; step <= pages; step += 5) writer.scrub(5);
      }).toThrow(`its page ${page} does not match its checksum`);
      flip(page);
      writer.scrub(ALL_PAGES);
      writer.scrub(ALL_PAGES);
    }
  });

  it('reports no corruption while it writes and copies, with and without readers', () => {
    const writer = build();
    const reader = provider.open(path);
    for (let height = 201; height < 240; height++) {
      if (height % 10 === 1) reader.exec('BEGIN; SELECT count(*) FROM claim');
      addBlock(writer, height);
      if (height % 3 === 0) writer.checkpoint();
      writer.scrub(ALL_PAGES);
      if (height % 10 === 5) reader.exec('COMMIT');
      if (height % 4 === 0) expect(startWith(filesOf())).toEqual({ contents: contents(path) });
    }
    reader.close();
  });

  it('copies no corrupt page when it writes', () => {
    const writer = build();
    addBlock(writer, 201);
    const [page] = [...readLog(`${path}-wal`, PAGE_BYTES).pages.keys()].filter((n) => n > 1);
    flip(page!);
    expect(() => writer.checkpoint()).toThrow(`its page ${page} does not match its checksum`);
  });

  it('finds a flip in the log before or during its copy', () => {
    const writer = build();
    const commits = [contents(path)];
    for (let height = 201; height < 210; height++) {
      addBlock(writer, height);
      commits.push(contents(path));
    }
    const log = readFileSync(`${path}-wal`);
    writeFileSync(`${path}-wal`, flipped(log, log.length - 3 * FRAME_BYTES), { flag: 'r+' });
    expect(() => writer.checkpoint()).toThrow('its write-ahead log is corrupt');
    const found = startWith(filesOf());
    // All copied commits may be in the intact part of the log.
    if ('contents' in found) expect(commits).toContain(found.contents);
  });

  it('continues if the checksums could not be written for a while', () => {
    const writer = build();
    addBlock(writer, 201);
    // Fails the writes as a full disk does.
    const refusing = vi.spyOn(IndexSums.prototype as unknown as { write: () => void }, 'write');
    refusing.mockImplementation(() => {
      throw new Error('no space left on device');
    });
    for (let height = 202; height < 205; height++) {
      expect(() => writer.checkpoint()).toThrow('no space left on device');
      writer.scrub(ALL_PAGES);
      addBlock(writer, height);
    }
    refusing.mockRestore();
    writer.checkpoint();
    writer.scrub(ALL_PAGES);
    expect(startWith(filesOf())).toEqual({ contents: contents(path) });
  });

  it('copies the log by itself, which does not grow permanently', () => {
    const writer = build();
    let longest = 0;
    let copied = 0;
    let last = 0;
    for (let height = 201; height < 300; height++) {
      addBlock(writer, height, 60);
      const { length } = readFileSync(`${path}-wal`);
      if (length < last) copied++;
      last = length;
      longest = Math.max(longest, length);
    }
    expect(copied).toBe(1);
    expect(longest).toBeLessThan(9e6);
    writer.scrub(ALL_PAGES);
  });

  it('rebuilds its index when its thread finds corruption', async () => {
    build().close();
    opened.length = 0;
    const index = new SqliteIndexWriter(provider, { path, chain: 'chain', prefixes: null as never });
    expect((await index.state()).documents).toBe(documents.length);
    expect(await index.scrub(ALL_PAGES)).toBeNull();
    flip(9);
    expect(await index.scrub(ALL_PAGES)).toBe('its page 9 does not match its checksum');
    await index.startBuild(BASE);
    expect(await index.scrub(ALL_PAGES)).toBeNull();
    expect((await index.state()).documents).toBe(0);
    await index.close();
  });
});
