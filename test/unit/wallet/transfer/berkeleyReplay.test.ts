import { describe, expect, it } from 'vitest';
import { BerkeleyDbError, readBerkeleyDb } from '../../../../src/wallet/transfer/berkeleyDb.js';
import type { LogFile, Lsn } from '../../../../src/wallet/transfer/berkeleyLog.js';
import { initPage, insertItem, lsnOf, putLsn } from '../../../../src/wallet/transfer/berkeleyPage.js';
import { replayLog } from '../../../../src/wallet/transfer/berkeleyReplay.js';
import { atOnce } from '../../../../src/util/slices.js';
import { BerkeleyFile, PAGE_BYTES } from '../../../support/berkeleyFile.js';
import { randomOf } from '../../../support/claimLife.js';

const FILE_ID = Buffer.alloc(20, 7);
const FILE_NUMBER = 3;
const text = (value: string): Buffer => Buffer.from(value);

const u32 = (...numbers: number[]): Buffer => {
  const bytes = Buffer.alloc(4 * numbers.length);
  numbers.forEach((number, i) => bytes.writeUInt32LE(number >>> 0, 4 * i));
  return bytes;
};
const data = (bytes: Buffer): Buffer => Buffer.concat([u32(bytes.length), bytes]);
const lsn = ({ file, offset }: Lsn): Buffer => u32(file, offset);

/** Writes a log as Berkeley DB 5.3 does. */
class LogBuilder {
  private readonly parts: Buffer[] = [];
  private size = 0;
  private previous = 0;

  constructor() {
    this.write(u32(0x040988, 19, 1 << 20, 0));
    this.record(2, 0, Buffer.concat([u32(3), data(text('wallet.dat\0')), data(FILE_ID), u32(FILE_NUMBER)]));
  }

  private write(body: Buffer): Lsn {
    const at = { file: 1, offset: this.size };
    const length = body.length + 12;
    let sum = 0;
    for (const byte of body) sum = (Math.imul(sum, 33) + byte) | 0;
    this.parts.push(u32(this.previous, length, (sum ^ this.previous ^ length) >>> 0), body);
    this.previous = this.size;
    this.size += length;
    return at;
  }

  record(type: number, transaction: number, fields: Buffer): Lsn {
    return this.write(Buffer.concat([u32(type, transaction, 0, 0), fields]));
  }

  commit(transaction: number): void {
    this.record(10, transaction, u32(1, 0, 0, 0));
  }

  /** Inserts or removes an item of a page. */
  addrem(transaction: number, isAdd: boolean, page: number, index: number, item: Buffer, before: Lsn): Lsn {
    const size = (item.length + 6) & ~3;
    const fields = [u32(((isAdd ? 1 : 2) << 8) | 5, FILE_NUMBER, page, index, size), data(Buffer.alloc(0))];
    return this.record(41, transaction, Buffer.concat([...fields, data(item), lsn(before)]));
  }

  get files(): LogFile[] {
    return [{ number: 1, bytes: Buffer.concat([...this.parts, Buffer.alloc(100)]) }];
  }
}

const START: Lsn = { file: 0, offset: 1 };

/** A file of one leaf, number 1, as root. */
function smallFile(...rows: [string, string][]): Buffer {
  const file = new BerkeleyFile(true);
  const meta = file.meta();
  meta.setRoot(1);
  const { page } = file.page(5);
  initPage(page, { number: 1, previous: 0, next: 0, level: 1, type: 5 });
  for (const [i, item] of rows.flat().entries())
    insertItem(page, i, (item.length + 6) & ~3, Buffer.alloc(0), text(item));
  const { bytes } = file;
  FILE_ID.copy(bytes, 52);
  putLsn(bytes.subarray(PAGE_BYTES), START);
  return bytes;
}

const replay = (file: Buffer, log: LogFile[]): Buffer => atOnce(replayLog(file, log));
const rowsOf = (file: Buffer): string[] =>
  [...readBerkeleyDb(file, 'main')].map(([key, value]) => `${key.toString()}=${value.toString()}`);

describe('replayLog', () => {
  it('applies the changes of committed transactions, and no others', () => {
    const file = smallFile(['a', '1'], ['c', 'a longer value']);
    const log = new LogBuilder();
    let at = log.addrem(9, true, 1, 2, text('b'), START);
    at = log.addrem(9, true, 1, 3, text('two'), at);
    log.commit(9);
    // The middle of a value is replaced by something longer.
    const repl = [u32(FILE_NUMBER, 1), lsn(at), u32(5, 0), data(text('long')), data(text('much long'))];
    at = log.record(58, 10, Buffer.concat([...repl, u32(2, 8)]));
    log.commit(10);
    // A row is marked as deleted.
    at = log.record(57, 11, Buffer.concat([u32(FILE_NUMBER, 1), lsn(at), u32(0)]));
    log.commit(11);
    // The last transaction was not committed.
    log.addrem(12, true, 1, 6, text('z'), at);
    const whole = replay(file, log.files);
    expect(rowsOf(whole)).toEqual(['b=two', 'c=a much longer value']);
    expect(lsnOf(whole.subarray(PAGE_BYTES))).toEqual(at);
    expect(rowsOf(file)).toEqual(['a=1', 'c=a longer value']);
    // Changes that are already in the file are not applied again.
    expect(replay(whole, log.files)).toEqual(whole);
  });

  it('reverts the changes of unfinished transactions in the file', () => {
    const file = smallFile(['a', '1']);
    const log = new LogBuilder();
    const first = log.addrem(9, true, 1, 2, text('b'), START);
    const second = log.addrem(9, true, 1, 3, text('2'), first);
    const log2 = new LogBuilder();
    log2.addrem(9, true, 1, 2, text('b'), START);
    log2.addrem(9, true, 1, 3, text('2'), first);
    log2.commit(9);
    const done = replay(file, log2.files);
    expect(lsnOf(done.subarray(PAGE_BYTES))).toEqual(second);
    const undone = replay(done, log.files);
    expect(rowsOf(undone)).toEqual(['a=1']);
    expect(lsnOf(undone.subarray(PAGE_BYTES))).toEqual(START);
  });

  it('splits pages that the file does not have yet', () => {
    const file = smallFile(['a', '1'], ['b', '2'], ['c', '3']);
    const log = new LogBuilder();
    const leaf = file.subarray(PAGE_BYTES, 2 * PAGE_BYTES);
    let meta: Lsn = { file: 0, offset: 0 };
    const allocated: Lsn[] = [];
    for (const page of [2, 3]) {
      const fields = [u32(FILE_NUMBER), lsn(meta), u32(0), u32(0, 0), u32(page, 5, 0, page)];
      meta = log.record(49, 9, Buffer.concat(fields));
      allocated.push(meta);
    }
    const entry = (key: string, page: number): Buffer =>
      Buffer.concat([Buffer.of(key.length, 0, 1, 0), u32(page, 0), text(key.padEnd(4, '\0'))]);
    const split = log.record(
      62,
      9,
      Buffer.concat([
        u32(FILE_NUMBER, 5, 2),
        lsn(allocated[0]!),
        u32(3),
        lsn(allocated[1]!),
        u32(2, 0),
        u32(0, 0),
        u32(1),
        lsn({ file: 0, offset: 0 }),
        u32(0),
        data(leaf),
        data(entry('', 2)),
        data(entry('b', 3)),
      ]),
    );
    log.addrem(9, true, 3, 4, text('d'), split);
    log.commit(9);
    // Keys come in pairs with their values.
    const log2 = log.files;
    const whole = replay(file, log2);
    expect(whole.length).toBe(4 * PAGE_BYTES);
    expect(() => rowsOf(whole)).toThrow('a key without value');
    const last: Lsn = lsnOf(whole.subarray(3 * PAGE_BYTES));
    log.addrem(9, true, 3, 5, text('4'), last);
    log.commit(9);
    expect(rowsOf(replay(file, log.files))).toEqual(['a=1', 'b=2', 'c=3', 'd=4']);
  });

  it('begins at the last checkpoint, and refuses a log that begins later', () => {
    const file = smallFile(['a', '1']);
    const log = new LogBuilder();
    const at = log.addrem(9, true, 1, 2, text('b'), START);
    log.addrem(9, true, 1, 3, text('2'), at);
    log.commit(9);
    const next = log.addrem(10, true, 1, 2, text('x'), START);
    log.addrem(10, true, 1, 3, text('3'), next);
    log.commit(10);
    log.record(11, 0, Buffer.concat([lsn(next), lsn(next), u32(0, 0, 0)]));
    expect(rowsOf(replay(file, log.files))).toEqual(['a=1', 'x=3']);
    const later = new LogBuilder();
    later.addrem(9, true, 1, 2, text('b'), { file: 1, offset: 5000 });
    later.commit(9);
    const behind = Buffer.from(file);
    putLsn(behind.subarray(PAGE_BYTES), { file: 1, offset: 4000 });
    expect(() => replay(behind, later.files)).toThrow('a part of it is missing');
  });

  it('does not change a file that the log does not mention', () => {
    const file = smallFile(['a', '1']);
    file[52]! ^= 1;
    const log = new LogBuilder();
    log.addrem(9, true, 1, 2, text('b'), START);
    log.commit(9);
    expect(replay(file, log.files)).toEqual(file);
  });

  it('ends with a file or its own error for any log', () => {
    const file = smallFile(['a', '1'], ['c', '3']);
    const random = randomOf(4);
    let refused = 0;
    for (let turn = 0; turn < 3000; turn++) {
      const log = new LogBuilder();
      let at = START;
      for (let n = 0; n < 3; n++) {
        const fields = Buffer.from(Array.from({ length: 60 }, () => (random(3) > 0 ? 0 : random(256))));
        u32(FILE_NUMBER, 1).copy(fields, random(2) * 4);
        lsn(at).copy(fields, 8);
        const types = [41, 43, 44, 48, 49, 50, 55, 57, 58, 59, 62, 63, 66, 142, 147];
        at = log.record(types[random(types.length)]!, 9, fields);
      }
      if (random(2) === 0) log.commit(9);
      try {
        replay(file, log.files);
      } catch (error) {
        expect(error).toBeInstanceOf(BerkeleyDbError);
        refused++;
      }
    }
    expect(refused).toBeGreaterThan(200);
  });
});
