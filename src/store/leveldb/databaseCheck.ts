/**
 * Checks LevelDB's files before they are opened. LevelDB treats a missing log, a truncated manifest or log, and missing
 * records in the middle as the result of a crash, and continues without them. Writes a note file that records which data is
 * durable. Reads the manifest, the logs and the sizes of tables; LevelDB itself verifies the other data when it reads it.
 * Every put and delete has a sequence number, one more than the previous one. The note contains the size of the newest log
 * at its last sync. No data is missing if the logs continue the tables without a gap, up to at least that size. Incomplete
 * records after that size come from a crash of the machine and are removed, because their writes were never confirmed.
 */
import { open, readdir, readFile, rm, stat, truncate, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256 } from '../../crypto/hash.js';
import { onFile, withPath } from '../../util/text/environmentError.js';
import { isSpecialFile, refuseSpecialFile } from '../../util/files/specialFile.js';
import { DatabaseCorruptionError } from './levelDb.js';
import {
  applyEdit,
  batchHead,
  emptyManifest,
  logRecords,
  tableCorruption,
  tableKeys,
  type TableKeyRange,
  type LogEnd,
  type Manifest,
} from './levelDbFormat.js';

/** Name of the note file in the database folder. LevelDB ignores files that it does not know. */
const NOTE_NAME = 'durable';
const NOTE_BYTES = 24;
const FIRST_MANIFEST = 'MANIFEST-000001';
const COMPARATOR = 'leveldb.BytewiseComparator';
const LOG = /^\d+\.log$/;

export interface DatabaseState {
  /** Sequence number of the newest put or delete; 0 for a new database. */
  readonly lastSequence: number;
}

/** Number and size of the newest log at its last sync. */
interface Note {
  readonly log: number;
  readonly sizeBytes: number;
}

/**
 * Records that all written data is on disk, after LevelDB has synced its newest log. Nothing may be written during the call.
 * When LevelDB starts a new log, it does not sync the old log, although the rows of the old log reach a table only later.
 * This function therefore syncs the old log. The note itself need not be synced, because an older note only requires less
 * data. Without a note all corruption is an error, because the effect of a crash is unknown.
 */
export async function noteDurable(path: string): Promise<void> {
  const newest = await syncedLog(path);
  if (newest === null) return;
  const note = Buffer.alloc(NOTE_BYTES);
  note.writeBigUInt64LE(BigInt(newest.log), 0);
  note.writeBigUInt64LE(BigInt(newest.sizeBytes), 8);
  sha256(note.subarray(0, 16)).copy(note, 16, 0, 8);
  const name = join(path, NOTE_NAME);
  const known = await open(name, 'r+').catch(() => null);
  if (known === null) await rm(name, { recursive: true, force: true });
  const file = known ?? (await open(name, 'w'));
  try {
    await file.write(note, 0, NOTE_BYTES, 0);
    // A file with the name of the note may be longer than a note.
    if (known !== null && (await known.stat()).size > NOTE_BYTES) await known.truncate(NOTE_BYTES);
    // The first note is synced immediately, because a missing note counts as an error from then on.
    if (known === null) await file.datasync();
  } finally {
    await file.close();
  }
}

/** Syncs all logs except the newest. Returns number and size of the newest log; null without logs. */
async function syncedLog(path: string): Promise<Note | null> {
  for (;;) {
    const logs = logsAmong(await readdir(path));
    const log = logs.pop();
    if (log === undefined) return null;
    for (const older of logs) await syncFile(join(path, older));
    try {
      const { size } = await stat(join(path, log));
      return { log: parseInt(log), sizeBytes: size };
    } catch (error) {
      // ENOENT: a background compaction has deleted the log, because its rows are in a table. So nothing is left to sync.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
}

/** Syncs a file if it still exists. */
async function syncFile(path: string): Promise<void> {
  let file: FileHandle;
  try {
    file = await open(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  try {
    await file.datasync();
  } finally {
    await file.close();
  }
}

/** Reads the note; null if it is missing or unreadable. */
async function readNote(path: string): Promise<Note | null> {
  const note = await readFile(join(path, NOTE_NAME)).catch(() => null);
  if (note?.length !== NOTE_BYTES) return null;
  if (!sha256(note.subarray(0, 16)).subarray(0, 8).equals(note.subarray(16))) return null;
  return { log: Number(note.readBigUInt64LE(0)), sizeBytes: Number(note.readBigUInt64LE(8)) };
}

/** File names of the logs, sorted from the oldest. */
function logsAmong(names: Iterable<string>): string[] {
  return [...names].filter((name) => LOG.test(name)).sort((a, b) => parseInt(a) - parseInt(b));
}

/**
 * Checks the files of a database. Removes incomplete writes of a machine crash from the ends of the logs. Throws
 * `DatabaseCorruptionError`. No process may have the database open.
 */
export async function checkDatabase(path: string): Promise<DatabaseState> {
  const names = await namesIn(path);
  refuseSpecialFiles(path, names);
  const check = new DatabaseCheck(path, names, await readNote(path));
  return check.isNew() ? { lastSequence: 0 } : check.run();
}

/**
 * Rejects special files, because LevelDB would block on a pipe that has no writer. Throws `EnvironmentError` for a special
 * file that contains no data of the database.
 */
function refuseSpecialFiles(path: string, names: readonly string[]): void {
  for (const name of names) {
    const isData = isTable(name) || LOG.test(name) || /^(?:CURRENT|MANIFEST-\d+)$/.test(name);
    if (isData && isSpecialFile(join(path, name)))
      throw new DatabaseCorruptionError(path, `${name} is a named pipe, a socket or a device`);
    onFile(join(path, name), () => refuseSpecialFile(join(path, name)));
  }
}

/** Name of the first table with a checksum error, and a description of the error; null if all tables are valid. */
export async function findCorruptTable(path: string): Promise<string | null> {
  for (const name of (await namesIn(path)).filter(isTable).sort()) {
    const file = await readFile(join(path, name)).catch(() => null);
    const corruption = file === null ? null : tableCorruption(file);
    if (corruption !== null) return `${name} has ${corruption}`;
  }
  return null;
}

async function namesIn(path: string): Promise<string[]> {
  try {
    return await readdir(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function isTable(name: string): boolean {
  return /^\d+\.(ldb|sst)$/.test(name);
}

/** A file that must be truncated, and its new size. */
interface Cut {
  readonly name: string;
  readonly offset: number;
}

class DatabaseCheck {
  private readonly path: string;
  private readonly names: ReadonlySet<string>;
  private readonly note: Note | null;
  private readonly cuts: Cut[] = [];
  private readonly dropped: string[] = [];

  constructor(path: string, names: readonly string[], note: Note | null) {
    this.path = path;
    this.names = new Set(names);
    this.note = note;
  }

  /** Whether no data was ever written to the database. */
  isNew(): boolean {
    if (this.names.has('CURRENT')) return false;
    const files = [...this.names].filter(
      (name) => isTable(name) || LOG.test(name) || /^MANIFEST-\d+$/.test(name),
    );
    // An empty database folder with at most a first manifest: LevelDB was stopped while it created the database.
    return files.every((name) => name === FIRST_MANIFEST);
  }

  async run(): Promise<DatabaseState> {
    const manifest = await this.readManifest();
    await this.checkTables(manifest);
    const lastSequence = await this.checkLogs(manifest);
    for (const { name, offset } of this.cuts) await truncate(join(this.path, name), offset);
    for (const name of this.dropped) await rm(join(this.path, name), { force: true });
    return { lastSequence };
  }

  private fail(what: string): never {
    throw new DatabaseCorruptionError(this.path, what);
  }

  private async read(name: string): Promise<Buffer> {
    const path = join(this.path, name);
    try {
      return await readFile(path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EISDIR') this.fail(`${name} is a folder`);
      throw withPath(error, path);
    }
  }

  private async readManifest(): Promise<Manifest> {
    if (!this.names.has('CURRENT')) this.fail('the file CURRENT is missing');
    const name = /^(MANIFEST-\d{6,})\n$/.exec((await this.read('CURRENT')).toString('latin1'))?.[1];
    if (name === undefined) this.fail('the file CURRENT contains no name of a manifest');
    if (!this.names.has(name)) this.fail(`${name}, the manifest in CURRENT, is missing`);
    const manifest = emptyManifest();
    const records = logRecords(await this.read(name));
    let count = 0;
    for (let step = records.next(); ; step = records.next()) {
      if (step.done === true) {
        const { kind, offset, reason } = step.value;
        // The records before the error may be sufficient. The checks of the tables and logs that these records name will
        // show whether they are.
        if (kind === 'corrupt' && this.note === null) this.fail(`${name} has ${reason}`);
        if (kind === 'corrupt') this.cuts.push({ name, offset });
        break;
      }
      if (!applyEdit(manifest, step.value.payload)) this.fail(`${name} has a record that cannot be read`);
      count++;
    }
    if (count === 0) this.fail(`${name} is empty`);
    if (manifest.comparator !== COMPARATOR) this.fail(`${name} uses an unknown comparator`);
    return manifest;
  }

  private async checkTables({ tables }: Manifest): Promise<void> {
    const namesBySize = new Map<number, Map<string, TableKeyRange>>();
    for (const [number, { sizeBytes, keys }] of tables) {
      const digits = digitsOf(number);
      const name = [`${digits}.ldb`, `${digits}.sst`].find((candidate) => this.names.has(candidate));
      if (name === undefined) this.fail(`${digits}.ldb is missing`);
      const { size: found } = await stat(join(this.path, name));
      if (found !== sizeBytes) this.fail(`${name} has ${found} bytes instead of ${sizeBytes}`);
      const alike = namesBySize.get(sizeBytes) ?? new Map<string, TableKeyRange>();
      namesBySize.set(sizeBytes, alike.set(name, keys));
    }
    for (const alike of namesBySize.values()) if (alike.size > 1) await this.checkKeys(alike);
  }

  /**
   * Detects swapped tables of equal size. LevelDB does not check that a table is the one in the manifest, and the block
   * checksums of a swapped table are valid. Tables of different sizes are detected by their size.
   */
  private async checkKeys(alike: ReadonlyMap<string, TableKeyRange>): Promise<void> {
    for (const [name, { first, last }] of alike) {
      const file = await this.read(name);
      const found = tableKeys(file);
      if (found?.first.equals(first) && found.last.equals(last)) continue;
      const corruption = tableCorruption(file);
      this.fail(corruption === null ? `${name} contains another table` : `${name} has ${corruption}`);
    }
  }

  /** Checks the logs. Returns the sequence number of the newest put or delete. */
  private async checkLogs({ logNumber, prevLogNumber, lastSequence }: Manifest): Promise<number> {
    const logs = logsAmong(this.names).filter(
      (name) => parseInt(name) >= logNumber || parseInt(name) === prevLogNumber,
    );
    this.checkPresence(logs, logNumber);
    /**
     * Sequence number that the next batch must have; null before the first batch. The first batch may have any number up to
     * the last known number plus 1.
     */
    let next: number | null = null;
    for (const [i, name] of logs.entries()) {
      const records = logRecords(await this.read(name));
      let end: LogEnd | null = null;
      while (end === null) {
        const step = records.next();
        if (step.done === true) {
          end = step.value;
          break;
        }
        const { offset, payload } = step.value;
        const batch = batchHead(payload);
        if (batch === null || (next === null ? batch.sequence > lastSequence + 1 : batch.sequence !== next))
          end = { kind: 'corrupt', offset, reason: `a gap before byte ${offset}` };
        else next = batch.sequence + batch.count;
      }
      const later = logs.slice(i + 1);
      const reason = end.kind === 'corrupt' ? end.reason : `only ${end.offset} valid bytes`;
      if (this.lacksNoted(name, end)) this.fail(`${name} has ${reason}`);
      if (end.kind === 'whole') continue;
      // LevelDB ignores an incomplete last record at the end of the file, but not an incomplete record that is followed by
      // zeros.
      const isLast = end.kind === 'torn' && later.length === 0;
      if (this.note === null && !isLast) this.fail(`${name} has ${reason}`);
      this.cuts.push({ name, offset: end.offset });
      this.dropped.push(...later);
      break;
    }
    return Math.max(lastSequence, (next ?? 0) - 1);
  }

  /**
   * Checks that the needed logs exist. The log named in the manifest was created before the manifest. The log in the note is
   * not deleted until the manifest names a later log.
   */
  private checkPresence(logs: readonly string[], logNumber: number): void {
    const needed = [logNumber, ...(this.note !== null && this.note.log >= logNumber ? [this.note.log] : [])];
    for (const number of needed) {
      if (number > 0 && !logs.some((name) => parseInt(name) === number))
        this.fail(`${digitsOf(number)}.log is missing`);
    }
  }

  /** Whether the note says that data after the log's end was on disk. */
  private lacksNoted(log: string, { kind, offset }: LogEnd): boolean {
    if (this.note === null) return false;
    const number = parseInt(log);
    if (number === this.note.log) return offset < this.note.sizeBytes;
    return number < this.note.log && kind !== 'whole';
  }
}

/** A file number with the leading zeros that file names have. */
function digitsOf(number: number): string {
  return String(number).padStart(6, '0');
}
