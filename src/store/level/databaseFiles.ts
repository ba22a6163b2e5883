/**
 * The files of a database that is open: which tables there are now, the manifest that says so, and how tables are made,
 * merged and removed. Every change is on disk before it counts. The caller does one thing at a time.
 */
import { open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { breathe } from '../../util/breathe.js';
import { fromLatin1 } from '../../util/bytes.js';
import { FILE_BYTES } from '../levelDb.js';
import { applyEdit, emptyManifest, logRecords, type Manifest } from '../levelDbFormat.js';
import type { BlockCache } from './blockCache.js';
import { MergedCursor, type Cursor } from './cursors.js';
import { RecordLog, formatEdit, type EditedTable } from './recordLog.js';
import { run, TableFile, type Reading } from './tableFile.js';
import { TableWriter } from './tableWriter.js';
import { Version, spanOf, type Merge, type PlacedTable } from './version.js';

export const COMPARATOR = 'leveldb.BytewiseComparator';
const FIRST_MANIFEST = 1;
const NOTHING = Buffer.alloc(0);
const EVERYTHING = { gte: '', lt: '\uffff' };
/** Rows of a merge between two looks at the clock. Arbitrary, some tenths of a millisecond. */
const ROWS_A_LOOK = 128;

/** The work was abandoned because the database is to be closed. */
export class AbandonedError extends Error {
  override readonly name = 'AbandonedError';
}

export const numbered = (number: number, ending: string): string =>
  `${String(number).padStart(6, '0')}.${ending}`;
const manifestName = (number: number): string => `MANIFEST-${String(number).padStart(6, '0')}`;

export class DatabaseFiles {
  version = new Version();
  /** Set before the database is closed: merging is abandoned then. */
  isClosing = false;
  private readonly path: string;
  private readonly cache: BlockCache;
  private manifest: RecordLog | null = null;
  private nextFile = FIRST_MANIFEST + 1;
  /** Key after which the merge of each level continues. */
  private readonly pointers: string[] = [];

  constructor(path: string, cache: BlockCache) {
    this.path = path;
    this.cache = cache;
    this.version.hold();
  }

  newNumber(): number {
    return this.nextFile++;
  }

  /** What the manifest says; a database that is not there yet is made. The files were checked before. */
  async load(): Promise<Manifest> {
    const names = await readdir(this.path);
    if (!names.includes('CURRENT')) {
      const edit = formatEdit({
        comparator: COMPARATOR,
        logNumber: 0,
        nextFile: 2,
        lastSequence: 0,
        removed: [],
        added: [],
      });
      await this.writeManifest(FIRST_MANIFEST, edit);
    }
    const current = (await readFile(join(this.path, 'CURRENT'), 'latin1')).trim();
    const manifest = emptyManifest();
    for (const { payload } of logRecords(await readFile(join(this.path, current))))
      applyEdit(manifest, payload);
    const numbers = names.map((name) => parseInt(/^(?:MANIFEST-)?(\d+)/.exec(name)?.[1] ?? '0'));
    this.nextFile = Math.max(manifest.nextFile, FIRST_MANIFEST, ...numbers) + 1;
    const placed: PlacedTable[] = [];
    for (const [number, { level, sizeBytes, keys }] of manifest.tables) {
      const old = numbered(number, 'sst');
      const name = names.includes(old) ? old : numbered(number, 'ldb');
      const entry = { number, sizeBytes, ...keys };
      placed.push({ level, table: new TableFile(join(this.path, name), entry, this.cache) });
    }
    this.install(this.version.with(new Set(), placed));
    return manifest;
  }

  /** Begins a new manifest that says all there is now, and removes the files that it does not need. */
  async begin(logNumber: number, lastSequence: number): Promise<void> {
    const number = this.newNumber();
    const added = this.version.levels.flatMap((tables, level) => tables.map((table) => editOf(level, table)));
    const edit = {
      comparator: COMPARATOR,
      logNumber,
      nextFile: this.nextFile,
      lastSequence,
      removed: [],
      added,
    };
    this.manifest = await this.writeManifest(number, formatEdit(edit));
    const needed = new Set(this.version.tables.map((table) => table.number));
    for (const name of await readdir(this.path)) {
      const file = parseInt(/(\d+)/.exec(name)?.[1] ?? '0');
      const isOld =
        (/^\d+\.(?:ldb|sst)$/.test(name) && !needed.has(file)) ||
        (/^\d+\.log$/.test(name) && file < logNumber) ||
        (/^MANIFEST-\d+$/.test(name) && file !== number) ||
        /^\d+\.dbtmp$/.test(name);
      if (isOld) await rm(join(this.path, name), { recursive: true, force: true });
    }
  }

  private async writeManifest(number: number, edit: Buffer): Promise<RecordLog> {
    const name = manifestName(number);
    const manifest = await RecordLog.create(join(this.path, name));
    await manifest.append(edit);
    await manifest.sync();
    await this.syncFolder();
    const temporary = join(this.path, numbered(number, 'dbtmp'));
    const file = await open(temporary, 'w');
    await file.writeFile(`${name}\n`);
    await file.sync();
    await file.close();
    await rename(temporary, join(this.path, 'CURRENT'));
    await this.syncFolder();
    if (number === FIRST_MANIFEST) await manifest.close();
    return manifest;
  }

  private async syncFolder(): Promise<void> {
    // Not every system lets folders be opened.
    const folder = await open(this.path, 'r').catch(() => null);
    if (folder === null) return;
    try {
      await folder.sync();
    } catch {
      // Nor synced.
    } finally {
      await folder.close();
    }
  }

  private install(version: Version): void {
    const before = this.version;
    version.hold();
    this.version = version;
    before.release();
  }

  /** Notes a change in the manifest, on disk, from where on it counts. */
  private async change(
    removed: readonly PlacedTable[],
    added: readonly PlacedTable[],
    lastSequence: number,
    logNumber?: number,
  ): Promise<void> {
    if (this.manifest !== null) {
      await this.syncFolder();
      const edit = {
        ...(logNumber === undefined ? {} : { logNumber }),
        nextFile: this.nextFile,
        lastSequence,
        removed: removed.map(({ level, table }) => ({ level, number: table.number })),
        added: added.map(({ level, table }) => editOf(level, table)),
      };
      await this.manifest.append(formatEdit(edit));
      await this.manifest.sync();
    }
    this.install(this.version.with(new Set(removed.map(({ table }) => table)), added));
  }

  /** Makes the rows of memory a table, and `logNumber` the first log that is needed from now on. */
  async addMemory(cursors: readonly Cursor[], lastSequence: number, logNumber?: number): Promise<void> {
    const tables = await this.write(cursors, Infinity, () => false, false);
    await this.change(
      [],
      tables.map((table) => ({ level: 0, table })),
      lastSequence,
      logNumber,
    );
  }

  /** Merges what should be; false if nothing should. */
  async mergeNext(lastSequence: number): Promise<boolean> {
    if (this.isClosing) throw new AbandonedError('the database is to be closed');
    const merge = this.version.nextMerge(this.pointers);
    if (merge === null) return false;
    this.pointers[merge.level] = spanOf(merge.upper)[1];
    if (merge.level > 0 && merge.upper.length === 1 && merge.lower.length === 0) {
      const table = merge.upper[0]!;
      await this.change([{ level: merge.level, table }], [{ level: merge.level + 1, table }], lastSequence);
    } else await this.merge(merge, lastSequence);
    return true;
  }

  /** Writes tables of two levels again, into the deeper one. */
  async merge({ level, upper, lower }: Merge, lastSequence: number): Promise<void> {
    const { version } = this;
    const whole = new Version([level === 0 ? upper : [], level === 0 ? [] : upper, lower]);
    const isNeedless = (key: string): boolean => !version.isBelow(level + 1, key);
    const tables = await this.write(whole.cursors(EVERYTHING, false), FILE_BYTES, isNeedless, true);
    await this.change(
      [...upper.map((table) => ({ level, table })), ...lower.map((table) => ({ level: level + 1, table }))],
      tables.map((table) => ({ level: level + 1, table })),
      lastSequence,
    );
  }

  /** Writes rows into tables of about `maxBytes`, without deletions that hide nothing. */
  private async write(
    cursors: readonly Cursor[],
    maxBytes: number,
    isNeedless: (key: string) => boolean,
    mayStop: boolean,
  ): Promise<TableFile[]> {
    const rows = new MergedCursor(cursors, EVERYTHING);
    const tables: TableFile[] = [];
    let writer: TableWriter | null = null;
    let number = 0;
    const end = async (): Promise<void> => {
      if (writer === null) return;
      const written = await writer.finish();
      writer = null;
      tables.push(
        new TableFile(join(this.path, numbered(number, 'ldb')), { number, ...written }, this.cache),
      );
    };
    try {
      let since: number | Promise<number> = performance.now();
      while (rows.isStarted ? rows.key !== null : true) {
        for (const [key, tag, value] of await run(someOf(rows, isNeedless))) {
          if (writer === null) {
            number = this.newNumber();
            writer = await TableWriter.create(join(this.path, numbered(number, 'ldb')));
          }
          writer.add(fromLatin1(key), tag, value);
          if (writer.isFull) await writer.drain();
          if (writer.sizeBytes >= maxBytes) await end();
        }
        if (mayStop && this.isClosing) throw new AbandonedError('the database is to be closed');
        since = breathe(since);
        if (typeof since !== 'number') since = await since;
      }
      await end();
      return tables;
    } catch (error) {
      await (writer as TableWriter | null)?.abandon();
      throw error;
    }
  }

  /** Ends the manifest and closes all tables. */
  async close(): Promise<void> {
    await this.manifest?.close();
    this.manifest = null;
    for (const table of this.version.tables) table.close();
    this.cache.clear();
  }
}

function editOf(level: number, { number, sizeBytes, firstKey, lastKey }: TableFile): EditedTable {
  return { level, number, sizeBytes, first: firstKey, last: lastKey };
}

type Row = readonly [key: string, tag: number, value: Buffer];

/** The next rows, without deletions that hide nothing. */
function* someOf(rows: MergedCursor, isNeedless: (key: string) => boolean): Reading<Row[]> {
  const found: Row[] = [];
  for (let n = 0; n < ROWS_A_LOOK; n++) {
    yield* rows.next();
    if (rows.key === null) break;
    if (!rows.isDeletion) found.push([rows.key, rows.tag, rows.value]);
    else if (!isNeedless(rows.key)) found.push([rows.key, rows.tag, NOTHING]);
  }
  return found;
}
