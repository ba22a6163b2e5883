import { describe, expect, it } from 'vitest';
import { BerkeleyDbError, isBerkeleyDb, readBerkeleyDb } from '../../../../src/wallet/transfer/berkeleyDb.js';
import { BerkeleyFile } from '../../../support/berkeleyFile.js';
import { randomOf } from '../../../support/claimLife.js';

const text = (value: string): Buffer => Buffer.from(value);
const rowsOf = (bytes: Buffer, name = 'main'): [string, string][] =>
  [...readBerkeleyDb(bytes, name)].map(([key, value]) => [key.toString(), value.toString()]);

/** A file with a database `main`, as wallets are. */
function wallet(isLittleEndian: boolean): Buffer {
  const file = new BerkeleyFile(isLittleEndian);
  const master = file.meta(0x20);
  const main = file.meta();
  const place = Buffer.alloc(4);
  place.writeUInt32BE(main.number, 0);
  master.setRoot(file.leaf([[text('main'), place]]));
  const left = file.leaf([
    [text('a'), text('1')],
    [text('b'), text('gone'), true],
    [text('c'), text('x'.repeat(2000))],
  ]);
  const right = file.leaf([[text('k'.repeat(700)), text('')]]);
  main.setRoot(file.internal([left, right]));
  return file.bytes;
}

const ROWS: [string, string][] = [
  ['a', '1'],
  ['c', 'x'.repeat(2000)],
  ['k'.repeat(700), ''],
];

describe('readBerkeleyDb', () => {
  it.each([true, false])('reads the database with the given name, little endian %s', (isLittleEndian) => {
    const bytes = wallet(isLittleEndian);
    expect(isBerkeleyDb(bytes)).toBe(true);
    expect(rowsOf(bytes)).toEqual(ROWS);
    expect(() => rowsOf(bytes, 'other')).toThrow('has no database other');
  });

  it('reads a file with a single database', () => {
    const file = new BerkeleyFile(true);
    const meta = file.meta();
    meta.setRoot(file.leaf([[text('key'), text('value')]]));
    expect(rowsOf(file.bytes, 'any')).toEqual([['key', 'value']]);
  });

  it('refuses other files', () => {
    expect(isBerkeleyDb(Buffer.alloc(0))).toBe(false);
    expect(() => rowsOf(Buffer.alloc(600))).toThrow(BerkeleyDbError);
    const version = wallet(true);
    version.writeUInt32LE(8, 16);
    expect(() => rowsOf(version)).toThrow('version 8');
    const encrypted = wallet(true);
    encrypted[24] = 1;
    expect(() => rowsOf(encrypted)).toThrow('encrypted as a whole');
  });

  it('refuses a tree with a cycle', () => {
    const file = new BerkeleyFile(true);
    const meta = file.meta();
    const leaf = file.leaf([[text('key'), text('value')]]);
    meta.setRoot(file.internal([leaf, leaf]));
    expect(() => rowsOf(file.bytes)).toThrow('in the tree twice');
  });

  it('ends with rows or its own error for any file', () => {
    const random = randomOf(9);
    const whole = wallet(true);
    let refused = 0;
    for (let turn = 0; turn < 2000; turn++) {
      const bytes = Buffer.from(whole.subarray(0, random(3) === 0 ? random(whole.length) : whole.length));
      for (let flips = random(6); flips > 0 && bytes.length > 0; flips--)
        bytes[random(bytes.length)] = random(256);
      try {
        rowsOf(bytes);
      } catch (error) {
        expect(error).toBeInstanceOf(BerkeleyDbError);
        refused++;
      }
    }
    expect(refused).toBeGreaterThan(500);
  });
});
