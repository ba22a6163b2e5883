/**
 * A file of named columns of numbers. Each column is a typed array with the same layout in memory and on disk. Defines the
 * layout and the checksums, not the meaning of the columns.
 *
 * Layout: `8 bytes of magic ‖ u32 length of the directory ‖ u32 CRC-32C of the directory ‖ directory`, then the groups. The
 * directory is JSON: the notes of the writer, and for each group its length, its CRC-32C and its columns. A group and each
 * column in it begin at a multiple of 8 bytes. Numbers are little endian. On big-endian processors no file is written.
 */
import { readSync } from 'node:fs';
import { endianness } from 'node:os';
import { open, rename, rm, type FileHandle } from 'node:fs/promises';
import { crc32c } from '../../crypto/crc32c.js';
import { yieldIfDue } from '../../scheduler/yield.js';

const MAGIC = Buffer.from('lbcwcol1', 'latin1');
const HEAD_BYTES = 16;
const ALIGNMENT = 8;
/** Number of bytes that are read or written in one call. Each piece of this size has its own checksum. */
export const PIECE_BYTES = 1 << 20;
const MAX_DIRECTORY_BYTES = 16 << 20;

const TYPES = { Uint8Array, Uint32Array, Int32Array, Float64Array, BigInt64Array } as const;
type TypeName = keyof typeof TYPES;
export type Column = Uint8Array | Uint32Array | Int32Array | Float64Array | BigInt64Array;
export type Columns = Readonly<Record<string, Column>>;

/** The content of a file. `notes` may be any JSON value. */
export interface ColumnGroups<Notes> {
  readonly notes: Notes;
  readonly groups: Readonly<Record<string, Columns>>;
}

interface GroupEntry {
  readonly offset: number;
  readonly sizeBytes: number;
  readonly crcs: readonly number[];
  readonly columns: readonly (readonly [name: string, type: TypeName, offset: number, length: number])[];
}

interface Directory<Notes> {
  readonly notes: Notes;
  readonly groups: Readonly<Record<string, GroupEntry>>;
}

const aligned = (size: number): number => Math.ceil(size / ALIGNMENT) * ALIGNMENT;
const bytesOf = (column: Column): Buffer => Buffer.from(column.buffer, column.byteOffset, column.byteLength);

/** Name of a column's array type. A Buffer counts as `Uint8Array`. */
const typeOf = (column: Column): TypeName =>
  column instanceof Uint8Array ? 'Uint8Array' : (column.constructor.name as TypeName);

/** Checksums of `bytes`, one for each piece. */
async function piecesOf(bytes: Buffer): Promise<number[]> {
  const crcs: number[] = [];
  let since = performance.now();
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    crcs.push(crc32c(bytes.subarray(at, at + PIECE_BYTES)));
    since = await yieldIfDue(since);
  }
  return crcs;
}

/** Concatenates the columns of a group, and records their positions. */
function joined(columns: Columns): { bytes: Buffer; columns: GroupEntry['columns'] } {
  const places: GroupEntry['columns'][number][] = [];
  let end = 0;
  for (const [name, column] of Object.entries(columns)) {
    places.push([name, typeOf(column), end, column.length]);
    end = aligned(end + column.byteLength);
  }
  const bytes = Buffer.alloc(end);
  for (const [name, , at] of places) bytesOf(columns[name]!).copy(bytes, at);
  return { bytes, columns: places };
}

/**
 * The bytes of a column file, in several buffers. The columns are copied before the function returns, so the caller may
 * change them while the promise is pending. Null on big-endian processors.
 */
async function columnBytes<Notes>({ notes, groups }: ColumnGroups<Notes>): Promise<Buffer[] | null> {
  if (endianness() === 'BE') return null;
  const entries: Record<string, GroupEntry> = {};
  const bodies: Buffer[] = [];
  let offset = 0;
  const copies = Object.entries(groups).map(([name, columns]) => ({ name, group: joined(columns) }));
  for (const { name, group } of copies) {
    const crcs = await piecesOf(group.bytes);
    entries[name] = { offset, sizeBytes: group.bytes.length, crcs, columns: group.columns };
    bodies.push(group.bytes);
    offset += group.bytes.length;
  }
  const directory = Buffer.from(JSON.stringify({ notes, groups: entries } satisfies Directory<Notes>));
  const head = Buffer.alloc(aligned(HEAD_BYTES + directory.length));
  MAGIC.copy(head);
  head.writeUInt32LE(directory.length, 8);
  head.writeUInt32LE(crc32c(directory), 12);
  directory.copy(head, HEAD_BYTES);
  return [head, ...bodies];
}

/**
 * Writes a file under `temporary` and moves it to `path`. The columns are copied before the function returns, so the caller
 * may change them while the promise is pending. Only the user that runs the node can read the file. The file is not synced: after a
 * crash its checksums show whether it is complete. On a system error the function removes the file and rejects.
 */
export async function writeColumns<Notes>(
  path: string,
  temporary: string,
  content: ColumnGroups<Notes>,
): Promise<void> {
  const bytes = await columnBytes(content);
  if (bytes === null) return;
  const file = await open(temporary, 'wx', 0o600);
  try {
    await file.writev(bytes);
    await file.close();
    await rename(temporary, path);
  } catch (error) {
    await file.close().catch(() => undefined);
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Writes the columns into an open file at `offset`. Rejects with a system error. */
export async function appendColumns<Notes>(
  file: FileHandle,
  offset: number,
  content: ColumnGroups<Notes>,
): Promise<void> {
  const bytes = await columnBytes(content);
  if (bytes !== null) await file.writev(bytes, offset);
}

/** Whether the bytes begin with the magic bytes of a column file. */
export function beginsWithColumns(bytes: Buffer): boolean {
  return MAGIC.equals(bytes.subarray(0, MAGIC.length));
}

/** Whether a file has the magic bytes of a column file at `offset`. */
export function hasColumnsAt(fd: number, offset: number): boolean {
  const start = Buffer.alloc(MAGIC.length);
  return readSync(fd, start, 0, start.length, offset) === start.length && beginsWithColumns(start);
}

/** An open column file whose directory was read. The caller reads its groups one by one and must then close the file. */
export class ColumnFile<Notes> {
  readonly notes: Notes;
  private readonly file: FileHandle;
  private readonly groups: Directory<Notes>['groups'];
  private readonly start: number;

  private constructor(file: FileHandle, { notes, groups }: Directory<Notes>, start: number) {
    this.file = file;
    this.notes = notes;
    this.groups = groups;
    this.start = start;
  }

  /** Opens a file whose columns begin at `offset`. Null if it is missing or its directory is corrupt. */
  static async open<Notes>(path: string, offset = 0): Promise<ColumnFile<Notes> | null> {
    if (endianness() === 'BE') return null;
    let file: FileHandle;
    try {
      file = await open(path, 'r');
    } catch {
      return null;
    }
    try {
      const found = await readDirectory<Notes>(file, offset);
      if (found !== null) return new ColumnFile(file, found.directory, found.start);
    } catch {
      // A file that cannot be read is treated as missing.
    }
    await file.close();
    return null;
  }

  /** Reads the columns of a group into a new buffer. Null if the checksum does not match. */
  async group(name: string): Promise<Columns | null> {
    const entry = this.groups[name];
    if (entry === undefined) return null;
    const bytes = Buffer.allocUnsafeSlow(entry.sizeBytes);
    if (!(await readWhole(this.file, bytes, this.start + entry.offset))) return null;
    const crcs = await piecesOf(bytes);
    if (crcs.length !== entry.crcs.length || crcs.some((crc, at) => crc !== entry.crcs[at])) return null;
    const columns: Record<string, Column> = {};
    for (const [column, type, at, length] of entry.columns)
      columns[column] = new TYPES[type](bytes.buffer, bytes.byteOffset + at, length);
    return columns;
  }

  close(): Promise<void> {
    return this.file.close();
  }
}

async function readDirectory<Notes>(
  file: FileHandle,
  offset: number,
): Promise<{ directory: Directory<Notes>; start: number } | null> {
  const stat = await file.stat();
  if (!stat.isFile()) return null;
  const head = Buffer.alloc(HEAD_BYTES);
  if (!(await readWhole(file, head, offset)) || !MAGIC.equals(head.subarray(0, MAGIC.length))) return null;
  const length = head.readUInt32LE(8);
  if (length > Math.min(MAX_DIRECTORY_BYTES, stat.size)) return null;
  const directory = Buffer.alloc(length);
  const isRead = await readWhole(file, directory, offset + HEAD_BYTES);
  if (!isRead || crc32c(directory) !== head.readUInt32LE(12)) return null;
  const parsed = JSON.parse(directory.toString('utf8')) as Directory<Notes>;
  const start = offset + aligned(HEAD_BYTES + length);
  // Rejects groups that extend beyond the end of the file, so that no more memory than the size of the file is allocated.
  for (const group of Object.values(parsed.groups))
    if (start + group.offset + group.sizeBytes > stat.size) return null;
  return { directory: parsed, start };
}

/** Fills a buffer from a file. Returns false if the file is too short. */
async function readWhole(file: FileHandle, bytes: Buffer, offset: number): Promise<boolean> {
  for (let done = 0; done < bytes.length;) {
    const { bytesRead } = await file.read(bytes, done, bytes.length - done, offset + done);
    if (bytesRead === 0) return false;
    done += bytesRead;
  }
  return true;
}
