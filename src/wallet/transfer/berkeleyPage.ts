/**
 * Applies log records to one page of a little-endian Berkeley DB file. Items are stored at the end of a page, and their
 * offsets at its beginning. An offset outside the page throws `RangeError`. Source: Oracle Berkeley DB, dbinc/db_page.h,
 * db/db_dup.c `__db_pitem`, `__db_ditem`, btree/bt_put.c `__bam_ritem`, btree/bt_split.c `__bam_copy`.
 */
import type { Lsn } from './berkeleyLog.js';

export const PAGE = {
  number: 8,
  previous: 12,
  next: 16,
  count: 20,
  /** Offset at which the items begin; for an overflow page, the length of its data. */
  heap: 22,
  level: 24,
  type: 25,
  items: 26,
} as const;
export const TYPE = { invalid: 0, internal: 3, leaf: 5, overflow: 7 } as const;

const ITEM = { data: 1, overflow: 3 } as const;
/** Flag in the type of a deleted item. */
export const DELETED = 0x80;
const OVERFLOW_BYTES = 12;
/** Size in bytes of the header before the data of an item, on leaf pages and on inner pages. */
const LEAF_HEAD_BYTES = 3;
const INTERNAL_HEAD_BYTES = 12;

const aligned = (size: number): number => (size + 3) & ~3;
const indexAt = (i: number): number => PAGE.items + 2 * i;

export const lsnOf = (page: Buffer): Lsn => ({ file: page.readUInt32LE(0), offset: page.readUInt32LE(4) });

export function putLsn(page: Buffer, { file, offset }: Lsn): void {
  page.writeUInt32LE(file, 0);
  page.writeUInt32LE(offset, 4);
}

export interface PageHead {
  readonly number: number;
  readonly previous: number;
  readonly next: number;
  readonly level: number;
  readonly type: number;
}

/** Initializes an empty page. The LSN of the page is not changed. */
export function initPage(page: Buffer, { number, previous, next, level, type }: PageHead): void {
  page.writeUInt32LE(number, PAGE.number);
  page.writeUInt32LE(previous, PAGE.previous);
  page.writeUInt32LE(next, PAGE.next);
  page.writeUInt16LE(0, PAGE.count);
  page.writeUInt16LE(page.length & 0xffff, PAGE.heap);
  page.writeUInt8(level, PAGE.level);
  page.writeUInt8(type, PAGE.type);
}

function heapOf(page: Buffer): number {
  const heap = page.readUInt16LE(PAGE.heap);
  return heap === 0 ? page.length : heap;
}

/** Inserts an item of `size` bytes before item `index`. If `head` is empty, the item gets the header of plain data. */
export function insertItem(page: Buffer, index: number, size: number, head: Buffer, data: Buffer): void {
  const count = page.readUInt16LE(PAGE.count);
  const start = heapOf(page) - size;
  if (index > count || start < indexAt(count + 1)) throw new RangeError('no room');
  page.copyWithin(indexAt(index + 1), indexAt(index), indexAt(count));
  page.writeUInt16LE(start, indexAt(index));
  page.writeUInt16LE(count + 1, PAGE.count);
  page.writeUInt16LE(start, PAGE.heap);
  if (head.length === 0) {
    page.writeUInt16LE(data.length, start);
    page.writeUInt8(ITEM.data, start + 2);
    data.copy(page, start + LEAF_HEAD_BYTES);
  } else {
    head.copy(page, start);
    data.copy(page, start + head.length);
  }
}

export function deleteItem(page: Buffer, index: number, size: number): void {
  const count = page.readUInt16LE(PAGE.count);
  if (index >= count) throw new RangeError('no such item');
  if (count === 1) {
    page.writeUInt16LE(0, PAGE.count);
    page.writeUInt16LE(page.length & 0xffff, PAGE.heap);
    return;
  }
  const offset = page.readUInt16LE(indexAt(index));
  moveItems(page, offset, size);
  page.copyWithin(indexAt(index), indexAt(index + 1), indexAt(count));
  page.writeUInt16LE(count - 1, PAGE.count);
}

/** Moves all items before an offset by `by` bytes. A positive number moves them towards the end of the page. */
function moveItems(page: Buffer, offset: number, by: number): void {
  const heap = heapOf(page);
  const count = page.readUInt16LE(PAGE.count);
  if (offset < heap || heap + by < indexAt(count) || offset + by > page.length)
    throw new RangeError('out of the page');
  page.copyWithin(heap + by, heap, offset);
  page.writeUInt16LE((heap + by) & 0xffff, PAGE.heap);
  for (let i = 0; i < count; i++) {
    const at = page.readUInt16LE(indexAt(i));
    if (at < offset) page.writeUInt16LE(at + by, indexAt(i));
  }
}

/** Replaces an item with plain data. The first and last bytes of the old data, as many as the record says, are kept. */
export function replaceItem(
  page: Buffer,
  index: number,
  middle: Buffer,
  prefix: number,
  suffix: number,
): void {
  const offset = page.readUInt16LE(indexAt(index));
  const length = page.readUInt16LE(offset);
  const old = page.subarray(offset + LEAF_HEAD_BYTES, offset + LEAF_HEAD_BYTES + length);
  if (old.length !== length || prefix + suffix > length) throw new RangeError('no such item');
  const data = Buffer.concat([old.subarray(0, prefix), middle, old.subarray(length - suffix)]);
  const by = aligned(LEAF_HEAD_BYTES + length) - aligned(LEAF_HEAD_BYTES + data.length);
  // Several keys of a leaf may refer to the same item.
  const users: number[] = [];
  for (let i = 0; i < page.readUInt16LE(PAGE.count); i++)
    if (page.readUInt16LE(indexAt(i)) === offset) users.push(i);
  if (by !== 0) moveItems(page, offset, by);
  for (const i of users) page.writeUInt16LE(offset + by, indexAt(i));
  page.writeUInt16LE(data.length, offset + by);
  page.writeUInt8(ITEM.data, offset + by + 2);
  data.copy(page, offset + by + LEAF_HEAD_BYTES);
}

/**
 * Appends items of one page to another page of the same type. The first item of a right inner page has no key, so its key is
 * removed.
 */
export function copyItems(from: Buffer, to: Buffer, first: number, end: number): void {
  const isLeaf = from[PAGE.type] === TYPE.leaf;
  let count = to.readUInt16LE(PAGE.count);
  let heap = heapOf(to);
  for (let i = first; i < end; i++, count++) {
    const offset = from.readUInt16LE(indexAt(i));
    // If successive rows have the same key, the key is stored only once.
    if (isLeaf && i - first >= 2 && (i - first) % 2 === 0 && offset === from.readUInt16LE(indexAt(i - 2))) {
      to.writeUInt16LE(to.readUInt16LE(indexAt(count - 2)), indexAt(count));
      continue;
    }
    const isBare = !isLeaf && i === first && first !== 0;
    const size = isBare ? INTERNAL_HEAD_BYTES : itemBytes(from, offset, isLeaf);
    heap -= size;
    if (heap < indexAt(count + 1)) throw new RangeError('no room');
    from.copy(to, heap, offset, offset + size);
    if (isBare) {
      to.writeUInt16LE(0, heap);
      to.writeUInt8(ITEM.data, heap + 2);
    }
    to.writeUInt16LE(heap, indexAt(count));
  }
  to.writeUInt16LE(count, PAGE.count);
  to.writeUInt16LE(heap & 0xffff, PAGE.heap);
}

function itemBytes(page: Buffer, offset: number, isLeaf: boolean): number {
  const length = page.readUInt16LE(offset);
  if (!isLeaf) return aligned(INTERNAL_HEAD_BYTES + length);
  const isData = (page.readUInt8(offset + 2) & ~DELETED) === ITEM.data;
  return isData ? aligned(LEAF_HEAD_BYTES + length) : OVERFLOW_BYTES;
}

/** Sets or clears the deletion flag of an item. On a leaf, the flag of the value after the key is changed. */
export function markItem(page: Buffer, index: number, isDeleted: boolean): void {
  const at = page.readUInt16LE(PAGE.items + 2 * (index + (page[PAGE.type] === TYPE.leaf ? 1 : 0))) + 2;
  page.writeUInt8(isDeleted ? page.readUInt8(at) | DELETED : page.readUInt8(at) & ~DELETED, at);
}

/** Source: `__bam_adjindx`. */
export function adjustIndex(page: Buffer, index: number, copied: number, isInsert: boolean): void {
  const count = page.readUInt16LE(PAGE.count);
  const at = (i: number): number => PAGE.items + 2 * i;
  if (isInsert) {
    const offset = page.readUInt16LE(at(copied));
    page.copyWithin(at(index + 1), at(index), at(count));
    page.writeUInt16LE(offset, at(index));
    page.writeUInt16LE(count + 1, PAGE.count);
  } else {
    page.copyWithin(at(index), at(index + 1), at(count));
    page.writeUInt16LE(count - 1, PAGE.count);
  }
}
