/**
 * The image of a wallet: a cache file beside the wallet file, with which the wallet opens without reading every row. The
 * image contains the positions of the rows, the public keys, and the state of the transactions, but not the private keys. It
 * is derived from the wallet file. It is written when the wallet is closed, and after many changes (`imageKeeper.ts`). If it
 * is missing or corrupt, or very old, all rows are read. An image is used only if the wallet file begins with exactly the
 * bytes for which the image was created. A backup has its image in the wallet file, after the last commit (`attachImage`).
 */
import { randomBytes } from 'node:crypto';
import { readSync } from 'node:fs';
import { rm, type FileHandle } from 'node:fs/promises';
import { crc32c } from '../../crypto/crc32c.js';
import { inSlices } from '../../scheduler/slices.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import type { Slices } from '../../util/slices.js';
import {
  appendColumns,
  ColumnFile,
  PIECE_BYTES,
  writeColumns,
  type ColumnGroups,
  type Columns,
} from './columnFile.js';
import { RowIndex, type RowColumns } from './rowIndex.js';
import { HEAD_BYTES } from './walletFileHead.js';

/** Version of the image format. Images of other versions are not used. */
const VERSION = 3;

export const imagePath = (path: string): string => `${path}.cache`;

/** The data of the wallet in an image, besides the positions of its rows: columns and notes by topic. */
export interface WalletParts {
  readonly columns: Readonly<Record<'keys' | 'transactions', Columns>>;
  /** Data of the wallet that is not in columns; any JSON value. */
  readonly notes: unknown;
}

interface ImageNotes {
  readonly version: number;
  /**
   * `end` and `number`: end offset and number of the commits in the wallet file. `crcs`: checksums of the bytes before
   * `end`, one for each piece.
   */
  readonly end: number;
  readonly number: number;
  readonly crcs: readonly number[];
  readonly liveBytes: number;
  readonly parts: unknown;
}

/** An image that was found valid for the wallet file. */
export interface WalletImage {
  readonly index: RowIndex;
  /** Numbers of the rows that `parts` does not contain, in the order of the file. */
  readonly others: Uint32Array;
  /** Number of rows that the image describes. */
  readonly rowCount: number;
  readonly end: number;
  readonly number: number;
  readonly parts: WalletParts;
}

/**
 * Checksums of a wallet file up to `end` without its head, one for each piece. Null if the file is shorter, or when
 * `isValid` returns false. `fd` may be closed then.
 */
async function checksums(
  fd: number,
  end: number,
  isValid: () => boolean = () => true,
): Promise<number[] | null> {
  const crcs: number[] = [];
  const memory = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, end - HEAD_BYTES));
  let since = performance.now();
  try {
    for (let at = HEAD_BYTES; at < end; at += PIECE_BYTES) {
      const piece = memory.subarray(0, Math.min(PIECE_BYTES, end - at));
      if (readSync(fd, piece, 0, piece.length, at) !== piece.length) return null;
      crcs.push(crc32c(piece));
      since = await yieldIfDue(since);
      if (!isValid()) return null;
    }
  } finally {
    // The buffer is overwritten, because it may contain private keys.
    memory.fill(0);
  }
  return crcs;
}

/**
 * Reads the image beside a wallet file that has `sizeBytes` bytes. Null if no image exists or the image is not valid.
 */
export function readImage(path: string, fd: number, sizeBytes: number): Promise<WalletImage | null> {
  return readImageIn(imagePath(path), 0, fd, sizeBytes);
}

/** Reads the image that a backup has after its commits, which end at `end`. Null if there is none or it is not valid. */
export function readAttachedImage(path: string, fd: number, end: number): Promise<WalletImage | null> {
  return readImageIn(path, end, fd, end);
}

/** Reads an image at an offset of a file. `sizeBytes`: maximum length of the commits that it may describe. */
async function readImageIn(
  path: string,
  offset: number,
  fd: number,
  sizeBytes: number,
): Promise<WalletImage | null> {
  const file = await ColumnFile.open<ImageNotes>(path, offset);
  if (file === null) return null;
  try {
    const { version, end, number, crcs, liveBytes, parts } = file.notes;
    if (version !== VERSION || end > sizeBytes) return null;
    const found = await checksums(fd, end);
    if (found?.length !== crcs.length || found.some((crc, at) => crc !== crcs[at])) return null;
    const rows = await file.group('rows');
    const keys = await file.group('keys');
    const transactions = await file.group('transactions');
    if (rows === null || keys === null || transactions === null) return null;
    const { others, ...columns } = rows as unknown as RowColumns & { others: Uint32Array };
    return {
      index: RowIndex.restore(columns, liveBytes),
      others: others.slice(),
      rowCount: columns.keyPlaces.length,
      end,
      number,
      parts: { columns: { keys, transactions }, notes: parts },
    };
  } catch {
    // A corrupt image is not used.
    return null;
  } finally {
    await file.close();
  }
}

/** Numbers of the rows for whose keys `isOther` returns true, in file order. */
function* othersOf(
  { keyBytes, keyPlaces, keySizes, offsets }: RowColumns,
  isOther: (key: Buffer) => boolean,
): Slices<Uint32Array> {
  const bytes = Buffer.from(keyBytes.buffer, keyBytes.byteOffset, keyBytes.length);
  const found: number[] = [];
  for (let row = 0; row < keyPlaces.length; row++) {
    const at = keyPlaces[row]!;
    if (isOther(bytes.subarray(at, at + keySizes[row]!))) found.push(row);
    if (row % 1024 === 0) yield;
  }
  return Uint32Array.from(found).sort((a, b) => offsets[a]! - offsets[b]!);
}

/** The data of the wallet file for which an image is written. */
export interface ImageSource {
  readonly path: string;
  readonly fd: number;
  readonly index: RowIndex;
  readonly end: number;
  readonly number: number;
  /** Whether the rows and the data of the wallet are unchanged. */
  isValid(): boolean;
}

/** Columns of the rows for an image. The rows must not change during the call. Null if an image cannot contain these rows. */
export function* imageRows(
  index: RowIndex,
  isOther: (key: Buffer) => boolean,
): Slices<(RowColumns & { readonly others: Uint32Array }) | null> {
  const columns = yield* index.columns();
  return columns === null ? null : { ...columns, others: yield* othersOf(columns, isOther) };
}

type ImageRows = RowColumns & { readonly others: Uint32Array };

/** The content of an image. `crcs`: checksums of the commits. */
function imageContent(
  { index, end, number }: Pick<ImageSource, 'index' | 'end' | 'number'>,
  crcs: readonly number[],
  rows: ImageRows,
  { columns, notes: parts }: WalletParts,
): ColumnGroups<ImageNotes> {
  const { keyBytes, keyPlaces, keySizes, offsets, sizes, crcs: rowCrcs, slots, others } = rows;
  return {
    notes: { version: VERSION, end, number, crcs, liveBytes: index.liveBytes, parts },
    groups: {
      rows: { keyBytes, keyPlaces, keySizes, offsets, sizes, crcs: rowCrcs, slots, others },
      ...columns,
    },
  };
}

/**
 * Writes the image of a wallet file. Resolves to false if the data changed before it was copied, or after a disk error. After
 * an error the wallet has no image.
 */
export async function writeImage(source: ImageSource, rows: ImageRows, parts: WalletParts): Promise<boolean> {
  const { path, fd, end, isValid } = source;
  try {
    const crcs = await checksums(fd, end, isValid);
    if (crcs === null || !isValid()) return false;
    await writeColumns(
      imagePath(path),
      `${path}.${randomBytes(6).toString('hex')}.tmp`,
      imageContent(source, crcs, rows, parts),
    );
    return true;
  } catch {
    await rm(imagePath(path), { force: true }).catch(() => undefined);
    return false;
  }
}

/** Returns the parts with a copy of each column. */
export function copyParts({ columns, notes }: WalletParts): WalletParts {
  const copy = (from: Columns): Columns =>
    Object.fromEntries(Object.entries(from).map(([name, column]) => [name, column.slice()]));
  return { columns: { keys: copy(columns.keys), transactions: copy(columns.transactions) }, notes };
}

/**
 * Writes an image into a wallet file, after its commits, so that a backup is one file and opens fast. Older versions
 * remove the image as incomplete data after the last commit. The data must not change during the call. After a disk
 * error the file has no image.
 */
export async function attachImage(
  file: FileHandle,
  source: Pick<ImageSource, 'index' | 'end' | 'number'>,
  parts: WalletParts,
  isOther: (key: Buffer) => boolean,
): Promise<void> {
  try {
    const rows = await inSlices(imageRows(source.index, isOther));
    const crcs = await checksums(file.fd, source.end);
    if (rows === null || crcs === null) return;
    await appendColumns(file, source.end, imageContent(source, crcs, rows, parts));
  } catch {
    await file.truncate(source.end);
  }
}
