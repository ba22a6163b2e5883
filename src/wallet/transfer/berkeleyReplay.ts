/**
 * Replays the log of a Berkeley DB file in a copy: missing changes of committed transactions are redone, and changes of
 * unfinished transactions are undone. Record types that the log of a wallet does not contain (compaction, truncation) are
 * rejected. Source: Oracle Berkeley DB, btree/bt_rec.c, db/db_rec.c, db/db_dup.c.
 */
import type { Slices } from '../../util/slices.js';
import { BerkeleyDbError } from './berkeleyDb.js';
import {
  changesOfFile,
  compareLsn,
  isNotLogged,
  type LogFile,
  type BerkeleyLogRecord,
  type Lsn,
} from './berkeleyLog.js';
import {
  adjustIndex,
  copyItems,
  DELETED,
  deleteItem,
  initPage,
  insertItem,
  markItem,
  PAGE,
  putLsn,
  replaceItem,
  TYPE,
  lsnOf,
} from './berkeleyPage.js';
import {
  ADD,
  ADD_BIG,
  addremOf,
  APPEND_BIG,
  codeOf,
  FLAGS_FIRST,
  markOf,
  RECORD,
  REMOVE,
  replaceOf,
} from './berkeleyRecords.js';

const META = { magic: 12, pageSize: 20, free: 28, lastPage: 32, fileId: 52, root: 88 } as const;
const MAGIC = 0x00053162;
const FILE_ID_BYTES = 20;
/** Maximum number of pages that one record adds to the file. A split is counted together with the records before it. */
const PAGES_A_RECORD = 2;

const HEAD_BYTES = PAGE.items;
/** Number of records that are processed between two yields to the event loop. */
const RECORDS_A_SLICE = 64;

/**
 * Returns a copy of the file with all committed changes. `from`, if given, is used instead of the LSN of the last
 * checkpoint. Throws `BerkeleyDbError` if the file and the log do not match.
 */
export function* replayLog(file: Buffer, log: readonly LogFile[], from?: Lsn): Slices<Buffer> {
  if (file.length < 512 || file.readUInt32LE(META.magic) !== MAGIC)
    throw new BerkeleyDbError('The file is not a little-endian Berkeley DB B-tree');
  const fileId = Buffer.from(file.subarray(META.fileId, META.fileId + FILE_ID_BYTES));
  const { committed, unfinished, start } = yield* changesOfFile(log, fileId, from);
  const replay = new Replay(file, start, committed.length);
  for (const [n, record] of committed.entries()) {
    guard(() => replay.redo(record));
    if (n % RECORDS_A_SLICE === 0) yield;
  }
  for (const record of [...unfinished].reverse()) guard(() => replay.undo(record));
  return replay.bytes();
}

type LogFields = BerkeleyLogRecord['fields'];

class Replay {
  private readonly pageBytes: number;
  private readonly pages: Buffer[] = [];
  private readonly start: Lsn;
  private readonly mostPages: number;

  constructor(file: Buffer, start: Lsn, records: number) {
    this.start = start;
    this.pageBytes = file.readUInt32LE(META.pageSize);
    const { pageBytes } = this;
    if ((pageBytes & (pageBytes - 1)) !== 0 || pageBytes < 512 || pageBytes > 65_536)
      throw new BerkeleyDbError(`The file has pages of ${pageBytes} bytes`);
    this.mostPages = Math.ceil(file.length / pageBytes) + PAGES_A_RECORD * records + 1;
    for (let at = 0; at + pageBytes <= file.length; at += pageBytes)
      this.pages.push(Buffer.from(file.subarray(at, at + pageBytes)));
  }

  bytes(): Buffer {
    return Buffer.concat(this.pages);
  }

  /** Returns a page. If the file is too short for it, pages of zeros are added. */
  private page(number: number): Buffer {
    if (number >= this.mostPages) throw new BerkeleyDbError(`The log names a page ${number}`);
    while (this.pages.length <= number) this.pages.push(Buffer.alloc(this.pageBytes));
    return this.pages[number]!;
  }

  /** Whether a page still has the LSN (log sequence number) from before a change, so that the change must be applied. */
  private isBefore(page: Buffer, before: Lsn): boolean {
    const now = lsnOf(page);
    const order = compareLsn(now, before);
    if (order === 0) return true;
    // When all changes are in the file, the reference resets the LSNs of the pages in the log records. Pages may still
    // have older LSNs.
    if (isNotLogged(before) && compareLsn(now, this.start) < 0) return true;
    if (order < 0 && !isNotLogged(now))
      throw new BerkeleyDbError('The log does not begin where the file ends: a part of it is missing');
    return false;
  }

  /** Applies a change to a page unless the page's LSN shows that the change was already applied. */
  private change(number: number, before: Lsn, lsn: Lsn, task: (page: Buffer) => void): void {
    const page = this.page(number);
    if (!this.isBefore(page, before)) return;
    task(page);
    putLsn(page, lsn);
  }

  redo(record: BerkeleyLogRecord): void {
    const { type } = record;
    const fields = record.fields.again();
    switch (type) {
      case RECORD.addrem:
        return this.redoAddrem(record);
      case RECORD.big:
        return this.redoBig(record, fields);
      case RECORD.allocate:
        return this.redoAllocate(record, fields);
      case RECORD.free:
      case RECORD.freeData:
        return this.redoFree(record, fields);
      case RECORD.markDeleted: {
        const { page, before, index } = markOf(record);
        return this.change(page, before, record.lsn, (bytes) => markItem(bytes, index, true));
      }
      case RECORD.replace: {
        const { page, before, index, replacement, prefix, suffix } = replaceOf(record);
        return this.change(page, before, record.lsn, (bytes) =>
          replaceItem(bytes, index, replacement, prefix, suffix),
        );
      }
      case RECORD.split:
        return this.split(record, record.version);
      case RECORD.reverseSplit:
        return this.redoReverseSplit(record, fields);
      case RECORD.relink:
        return this.redoRelink(record, fields);
      default:
        return this.redoOnePage(record, fields);
    }
  }

  /** Redoes records that change one page and have only a few fields. */
  private redoOnePage(record: BerkeleyLogRecord, fields: LogFields): void {
    const { type, lsn } = record;
    switch (type) {
      case RECORD.adjust: {
        fields.u32();
        const page = fields.u32();
        const before = fields.lsn();
        const [index, copied, isInsert] = [fields.u32(), fields.u32(), fields.u32() !== 0];
        return this.change(page, before, lsn, (bytes) => adjustIndex(bytes, index, copied, isInsert));
      }
      case RECORD.root: {
        fields.u32();
        const [meta, root] = [fields.u32(), fields.u32()];
        return this.change(meta, fields.lsn(), lsn, (bytes) => bytes.writeUInt32LE(root, META.root));
      }
      case RECORD.metaPage: {
        fields.u32();
        const page = fields.u32();
        const whole = fields.data();
        return this.change(page, fields.lsn(), lsn, (bytes) => whole.copy(bytes, 0, 0, this.pageBytes));
      }
      case RECORD.ovref: {
        fields.u32();
        const page = fields.u32();
        const adjustment = fields.u32() | 0;
        return this.change(page, fields.lsn(), lsn, (bytes) =>
          bytes.writeUInt16LE(bytes.readUInt16LE(PAGE.count) + adjustment, PAGE.count),
        );
      }
      case RECORD.noop:
      case RECORD.countAdjust: {
        fields.u32();
        const page = fields.u32();
        return this.change(page, fields.lsn(), lsn, () => undefined);
      }
      default:
        throw unknown(record);
    }
  }

  private redoAddrem(record: BerkeleyLogRecord): void {
    const { lsn } = record;
    const { code, page, index, size, head, data, before } = addremOf(record);
    this.change(page, before, lsn, (bytes) => {
      if (code === ADD) insertItem(bytes, index, size, head, data);
      else if (code === REMOVE) deleteItem(bytes, index, size);
      else throw unknown(record);
    });
  }

  private redoBig({ lsn, version }: BerkeleyLogRecord, fields: LogFields): void {
    const code = codeOf(fields.u32(), version);
    fields.u32();
    const [page, previous, next] = [fields.u32(), fields.u32(), fields.u32()];
    const data = fields.data();
    const [before, previousBefore] = [fields.lsn(), fields.lsn()];
    this.change(page, before, lsn, (bytes) => {
      if (code === ADD_BIG) {
        initPage(bytes, { number: page, previous, next, level: 0, type: TYPE.overflow });
        bytes.writeUInt16LE(1, PAGE.count);
        bytes.writeUInt16LE(data.length, PAGE.heap);
        data.copy(bytes, HEAD_BYTES);
      } else if (code === APPEND_BIG) {
        const length = bytes.readUInt16LE(PAGE.heap);
        data.copy(bytes, HEAD_BYTES + length);
        bytes.writeUInt16LE(length + data.length, PAGE.heap);
      }
    });
    if (code === ADD_BIG && previous !== 0)
      this.change(previous, previousBefore, lsn, (bytes) => bytes.writeUInt32LE(page, PAGE.next));
  }

  private redoAllocate({ lsn }: BerkeleyLogRecord, fields: LogFields): void {
    fields.u32();
    const metaBefore = fields.lsn();
    const meta = fields.u32();
    const before = fields.lsn();
    const [page, kind, next] = [fields.u32(), fields.u32(), fields.u32()];
    this.change(meta, metaBefore, lsn, (bytes) => {
      bytes.writeUInt32LE(next, meta === 0 ? META.free : PAGE.next);
      if (meta === 0 && page > bytes.readUInt32LE(META.lastPage)) bytes.writeUInt32LE(page, META.lastPage);
    });
    this.change(page, before, lsn, (bytes) =>
      initPage(bytes, {
        number: page,
        previous: 0,
        next: 0,
        level: kind === TYPE.leaf ? 1 : 0,
        type: kind,
      }),
    );
  }

  private redoFree({ lsn }: BerkeleyLogRecord, fields: LogFields): void {
    fields.u32();
    const page = fields.u32();
    const metaBefore = fields.lsn();
    const meta = fields.u32();
    const head = fields.data();
    const [next, last] = [fields.u32(), fields.u32()];
    // If the page is the last one, the file is truncated.
    const isCut = page === last;
    this.change(page, lsnOf(head), isCut ? NOWHERE : lsn, (bytes) =>
      isCut
        ? bytes.fill(0)
        : initPage(bytes, { number: page, previous: 0, next, level: 0, type: TYPE.invalid }),
    );
    this.change(meta, metaBefore, lsn, (bytes) => {
      if (isCut) bytes.writeUInt32LE(page - 1, META.lastPage);
      else bytes.writeUInt32LE(page, meta === 0 ? META.free : PAGE.next);
    });
  }

  private redoReverseSplit({ lsn }: BerkeleyLogRecord, fields: LogFields): void {
    fields.u32();
    const page = fields.u32();
    const whole = fields.data();
    const root = fields.u32();
    fields.u32();
    fields.data();
    this.change(root, fields.lsn(), lsn, (bytes) => {
      whole.copy(bytes, 0, 0, this.pageBytes);
      bytes.writeUInt32LE(root, PAGE.number);
    });
    // The next record adds this page to the list of free pages.
    this.change(page, lsnOf(whole), lsn, () => undefined);
  }

  private redoRelink({ lsn }: BerkeleyLogRecord, fields: LogFields): void {
    fields.u32();
    const [, replacement, previous] = [fields.u32(), fields.u32(), fields.u32()];
    const previousBefore = fields.lsn();
    const next = fields.u32();
    const nextBefore = fields.lsn();
    if (next !== 0)
      this.change(next, nextBefore, lsn, (bytes) =>
        bytes.writeUInt32LE(replacement === 0 ? previous : replacement, PAGE.previous),
      );
    if (previous !== 0)
      this.change(previous, previousBefore, lsn, (bytes) =>
        bytes.writeUInt32LE(replacement === 0 ? next : replacement, PAGE.next),
      );
  }

  /** Splits the items of a page into two pages, and updates the parent page. Source: `__bam_split_recover`. */
  private split({ fields: all, lsn }: BerkeleyLogRecord, version: number): void {
    const fields = all.again();
    fields.u32();
    if (version >= FLAGS_FIRST) fields.u32();
    const left = fields.u32();
    const leftBefore = fields.lsn();
    const right = fields.u32();
    const rightBefore = fields.lsn();
    const index = fields.u32();
    const next = fields.u32();
    const nextBefore = fields.lsn();
    const parent = fields.u32();
    const parentBefore = fields.lsn();
    const parentIndex = fields.u32();
    const whole = Buffer.from(fields.data());
    const [leftEntry, rightEntry] = [fields.data(), fields.data()];
    if (whole.length < HEAD_BYTES || whole.length > this.pageBytes)
      throw new BerkeleyDbError('A split record of the log has no page');
    const number = whole.readUInt32LE(PAGE.number);
    const isRoot = parent === number;
    const level = whole[PAGE.level]!;
    const type = whole[PAGE.type]!;
    const isLeaf = type === TYPE.leaf;
    const count = whole.readUInt16LE(PAGE.count);
    this.change(left, leftBefore, lsn, (bytes) => {
      const previous = isLeaf && !isRoot ? whole.readUInt32LE(PAGE.previous) : 0;
      initPage(bytes, { number: isRoot ? left : number, previous, next: isLeaf ? right : 0, level, type });
      copyItems(whole, bytes, 0, index);
    });
    this.change(right, rightBefore, lsn, (bytes) => {
      const after = isLeaf && !isRoot ? whole.readUInt32LE(PAGE.next) : 0;
      initPage(bytes, { number: right, previous: isLeaf ? left : 0, next: after, level, type });
      copyItems(whole, bytes, index, count);
    });
    this.change(parent, isRoot ? lsnOf(whole) : parentBefore, lsn, (bytes) => {
      if (isRoot) {
        initPage(bytes, { number, previous: 0, next: 0, level: level + 1, type: TYPE.internal });
        insertItem(bytes, parentIndex, leftEntry.length, leftEntry, EMPTY);
      }
      insertItem(bytes, parentIndex + 1, rightEntry.length, rightEntry, EMPTY);
    });
    if (!isRoot && next !== 0)
      this.change(next, nextBefore, lsn, (bytes) => bytes.writeUInt32LE(right, PAGE.previous));
  }

  /** Undoes a change of an unfinished transaction. */
  undo(record: BerkeleyLogRecord): void {
    const { type, lsn } = record;
    const takeBack = (number: number, before: Lsn, task: (page: Buffer) => void): void => {
      const page = this.page(number);
      if (compareLsn(lsnOf(page), lsn) !== 0) return;
      task(page);
      putLsn(page, before);
    };
    switch (type) {
      case RECORD.addrem: {
        const { code, page, index, size, head, data, before } = addremOf(record);
        takeBack(page, before, (bytes) => {
          if (code === ADD) deleteItem(bytes, index, size);
          else insertItem(bytes, index, size, head, data);
        });
        return;
      }
      case RECORD.markDeleted: {
        const { page, before, index } = markOf(record);
        takeBack(page, before, (bytes) => markItem(bytes, index, false));
        return;
      }
      case RECORD.replace: {
        const { page, before, index, original, prefix, suffix, wasDeleted } = replaceOf(record);
        takeBack(page, before, (bytes) => {
          replaceItem(bytes, index, original, prefix, suffix);
          if (wasDeleted) bytes[bytes.readUInt16LE(PAGE.items + 2 * index) + 2]! |= DELETED;
        });
        return;
      }
      default:
        // Only changes of rows are undone. A page that was allocated for an unfinished transaction stays unused.
        if (this.pages.some((page) => compareLsn(lsnOf(page), lsn) === 0) && TOUCHES_ROWS.has(type))
          throw new BerkeleyDbError('The file contains a part of an unfinished change that cannot be undone');
    }
  }
}

const TOUCHES_ROWS: ReadonlySet<number> = new Set([RECORD.split, RECORD.reverseSplit, RECORD.root]);
const EMPTY = Buffer.alloc(0);
const NOWHERE: Lsn = { file: 0, offset: 0 };

const unknown = ({ type }: BerkeleyLogRecord): BerkeleyDbError =>
  new BerkeleyDbError(`The log has a record of type ${type}, which wallets do not have`);

/**
 * Runs a task. Converts an offset error (`RangeError`) to an error about file corruption, because a corrupt page or record
 * causes it, not a bug.
 */
function guard(task: () => void): void {
  try {
    task();
  } catch (error) {
    if (error instanceof RangeError) throw new BerkeleyDbError('Log and file contradict each other');
    throw error;
  }
}
