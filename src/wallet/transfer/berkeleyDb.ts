/**
 * Reads the rows of a Berkeley DB file: B-trees of version 9 and 10, with one or several databases in a file, in either byte
 * order. The reference's `wallet.dat` has this format. The file is only read. It is not trusted: every inconsistency throws
 * `BerkeleyDbError`. Source: Oracle Berkeley DB, dbinc/db_page.h.
 */
import type { Bytes } from '../../util/bytes.js';

/** Error: the file is not a supported Berkeley DB, or is corrupt. */
export class BerkeleyDbError extends Error {
  override readonly name = 'BerkeleyDbError';
}

export type BerkeleyDbRow = readonly [key: Buffer, value: Buffer];

const MAGIC = 0x00053162;
const VERSIONS = [9, 10];
const MIN_PAGE_BYTES = 512;
const MAX_PAGE_BYTES = 65_536;
/** Offsets of fields in a meta page (the page that describes a database). */
const META = {
  magic: 12,
  version: 16,
  pageSize: 20,
  encryption: 24,
  type: 25,
  flags: 48,
  root: 88,
  end: 92,
} as const;
/** Flag of a database whose rows list the other databases of the file by name. */
const HAS_DATABASES = 0x20;
const PAGE = { number: 8, next: 16, count: 20, overflowLength: 22, type: 25, items: 26 } as const;
const TYPE = { internal: 3, leaf: 5, overflow: 7, btreeMeta: 9 } as const;
const ITEM = { data: 1, duplicate: 2, overflow: 3 } as const;
const DELETED = 0x80;
const INTERNAL_DATA = 12;
const OVERFLOW_ITEM_BYTES = 12;

/** Whether the bytes start like a Berkeley DB B-tree file. */
export function isBerkeleyDb(bytes: Bytes): boolean {
  if (bytes.length < META.end) return false;
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return view.readUInt32LE(META.magic) === MAGIC || view.readUInt32BE(META.magic) === MAGIC;
}

/** The pages of a file, either unchanged or after a log was applied. */
class Pages {
  readonly pageBytes: number;
  readonly isLittleEndian: boolean;
  private readonly bytes: Buffer;

  constructor(bytes: Bytes) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    if (!isBerkeleyDb(bytes)) throw new BerkeleyDbError('The file is not a Berkeley DB B-tree');
    this.isLittleEndian = this.bytes.readUInt32LE(META.magic) === MAGIC;
    this.pageBytes = this.u32(this.bytes, META.pageSize);
    const isPower = (this.pageBytes & (this.pageBytes - 1)) === 0;
    if (!isPower || this.pageBytes < MIN_PAGE_BYTES || this.pageBytes > MAX_PAGE_BYTES) {
      throw new BerkeleyDbError(`The file has pages of ${this.pageBytes} bytes`);
    }
  }

  u16(page: Buffer, at: number): number {
    return this.isLittleEndian ? page.readUInt16LE(at) : page.readUInt16BE(at);
  }

  u32(page: Buffer, at: number): number {
    return this.isLittleEndian ? page.readUInt32LE(at) : page.readUInt32BE(at);
  }

  get count(): number {
    return Math.floor(this.bytes.length / this.pageBytes);
  }

  /** Returns the page with this number. Throws if the page header contains another number. */
  read(number: number): Buffer {
    if (number >= this.count) throw new BerkeleyDbError(`Page ${number} is after the end of the file`);
    const page = this.bytes.subarray(number * this.pageBytes, (number + 1) * this.pageBytes);
    if (this.u32(page, PAGE.number) !== number)
      throw new BerkeleyDbError(`Page ${number} is not at its position`);
    return page;
  }
}

/** Number of the root page of the database that a meta page describes. */
function rootOf(pages: Pages, metaNumber: number): { root: number; hasDatabases: boolean } {
  const meta = pages.read(metaNumber);
  if (pages.u32(meta, META.magic) !== MAGIC || meta[META.type] !== TYPE.btreeMeta) {
    throw new BerkeleyDbError(`Page ${metaNumber} does not describe a B-tree`);
  }
  const version = pages.u32(meta, META.version);
  if (!VERSIONS.includes(version)) throw new BerkeleyDbError(`The file has version ${version} of the format`);
  if (meta[META.encryption] !== 0) throw new BerkeleyDbError('The file is encrypted as a whole');
  return {
    root: pages.u32(meta, META.root),
    hasDatabases: (pages.u32(meta, META.flags) & HAS_DATABASES) !== 0,
  };
}

/**
 * Reads the rows of one database in a file, in key order. If the file contains several databases, `name` selects one. A
 * returned buffer is a copy if its item spans several pages, otherwise a view of `bytes`.
 */
export function* readBerkeleyDb(bytes: Bytes, name: string): Generator<BerkeleyDbRow> {
  const pages = new Pages(bytes);
  const { root, hasDatabases } = rootOf(pages, 0);
  if (!hasDatabases) {
    yield* rowsBelow(pages, root);
    return;
  }
  for (const [key, value] of rowsBelow(pages, root)) {
    if (key.toString('latin1') !== name) continue;
    // The number of the database's meta page is always big-endian.
    if (value.length !== 4) throw new BerkeleyDbError(`The position of the database ${name} is corrupt`);
    yield* rowsBelow(pages, rootOf(pages, value.readUInt32BE(0)).root);
    return;
  }
  throw new BerkeleyDbError(`The file has no database ${name}`);
}

/** Rows of all leaves below a page, from left to right. Throws if a page is reached twice. */
function* rowsBelow(pages: Pages, root: number): Generator<BerkeleyDbRow> {
  const seen = new Set<number>();
  const waiting = [root];
  for (let number = waiting.pop(); number !== undefined; number = waiting.pop()) {
    if (seen.has(number)) throw new BerkeleyDbError(`Page ${number} is in the tree twice`);
    seen.add(number);
    const page = pages.read(number);
    if (page[PAGE.type] === TYPE.internal) waiting.push(...childrenOf(pages, page).reverse());
    else if (page[PAGE.type] === TYPE.leaf) yield* rowsOf(pages, page);
    else
      throw new BerkeleyDbError(
        `Page ${number} has type ${page[PAGE.type]}, which does not occur in a B-tree`,
      );
  }
}

/** Offsets of the items of a page. */
function itemsOf(pages: Pages, page: Buffer, leastBytes: number): number[] {
  const count = pages.u16(page, PAGE.count);
  if (PAGE.items + 2 * count > page.length) throw new BerkeleyDbError('A page has more items than fit');
  return Array.from({ length: count }, (_, i) => {
    const offset = pages.u16(page, PAGE.items + 2 * i);
    if (offset < PAGE.items + 2 * count || offset + leastBytes > page.length)
      throw new BerkeleyDbError('An item of a page lies outside of it');
    return offset;
  });
}

function childrenOf(pages: Pages, page: Buffer): number[] {
  return itemsOf(pages, page, INTERNAL_DATA).map((offset) => pages.u32(page, offset + 4));
}

function* rowsOf(pages: Pages, page: Buffer): Generator<BerkeleyDbRow> {
  const items = itemsOf(pages, page, 3);
  if (items.length % 2 !== 0) throw new BerkeleyDbError('A page has a key without value');
  for (let i = 0; i < items.length; i += 2) {
    const key = items[i]!;
    const value = items[i + 1]!;
    if (((page[key + 2]! | page[value + 2]!) & DELETED) !== 0) continue;
    yield [itemBytes(pages, page, key), itemBytes(pages, page, value)];
  }
}

function itemBytes(pages: Pages, page: Buffer, offset: number): Buffer {
  const type = page[offset + 2]!;
  if (type === ITEM.data) {
    const end = offset + 3 + pages.u16(page, offset);
    if (end > page.length) throw new BerkeleyDbError('An item reaches beyond its page');
    return page.subarray(offset + 3, end);
  }
  if (type !== ITEM.overflow || offset + OVERFLOW_ITEM_BYTES > page.length)
    throw new BerkeleyDbError(`An item has type ${type}, which wallets do not have`);
  return overflowBytes(pages, pages.u32(page, offset + 4), pages.u32(page, offset + 8));
}

/** Reads an item that is stored in a chain of overflow pages. */
function overflowBytes(pages: Pages, first: number, length: number): Buffer {
  const parts: Buffer[] = [];
  let sum = 0;
  for (let number = first; number !== 0 && parts.length <= pages.count;) {
    const page = pages.read(number);
    const size = pages.u16(page, PAGE.overflowLength);
    if (page[PAGE.type] !== TYPE.overflow || PAGE.items + size > page.length)
      throw new BerkeleyDbError(`Page ${number} has unexpected contents`);
    parts.push(page.subarray(PAGE.items, PAGE.items + size));
    sum += size;
    number = pages.u32(page, PAGE.next);
  }
  if (sum !== length) throw new BerkeleyDbError('A long item has an unexpected length');
  return Buffer.concat(parts);
}
