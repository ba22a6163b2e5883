/** Entries of the indirect symbol table that the linker leaves uninitialized in an addon for macOS. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { withoutLeftovers } from '../../../scripts/native/machO.mjs';

const TABLE_AT = 400;
const SIGNATURE_AT = 448;
const HASHES_AT = SIGNATURE_AT + 20 + 88;

/** A program with two stubs, one pointer to a symbol of its own, and two lazy pointers; `entries` is its symbol table. */
function programWith(entries: readonly number[]): Buffer {
  const bytes = Buffer.alloc(HASHES_AT + 32);
  const words = (at: number, ...values: number[]): void =>
    values.forEach((value, i) => void bytes.writeUInt32LE(value, at + 4 * i));
  words(16, 4);
  // A segment with one section of stubs: 24 bytes, 12 for each, from entry 0 on.
  words(32, 0x19, 152);
  words(96, 1);
  bytes.writeBigUInt64LE(24n, 104 + 40);
  words(104 + 64, 0x8, 0, 12);
  words(184, 0xb, 80);
  words(184 + 56, TABLE_AT, entries.length);
  words(264, 0x1b, 24);
  words(288, 0x1d, 16, SIGNATURE_AT, 140);
  words(TABLE_AT, ...entries);
  const signed = [0xfade0cc0, 140, 1, 0, 20, 0xfade0c02, 120, 0, 0, 88, 0, 0, 1, SIGNATURE_AT];
  signed.forEach((value, i) => void bytes.writeUInt32BE(value, SIGNATURE_AT + 4 * i));
  bytes.set([32, 2, 0, 12], SIGNATURE_AT + 20 + 36);
  return bytes;
}

describe('an addon for macOS', () => {
  it('has the same bytes and a valid signature for any uninitialized entries', () => {
    const [one, other] = [7, 0xffffffff].map((left) => withoutLeftovers(programWith([5, 6, 5, 6, left])));
    expect(one).toEqual(other);
    expect(one!.readUInt32LE(TABLE_AT + 16)).toBe(0x80000000);
    const page = createHash('sha256').update(one!.subarray(0, SIGNATURE_AT)).digest();
    expect(one!.subarray(HASHES_AT, HASHES_AT + 32)).toEqual(page);
    expect(one!.subarray(272, 288).equals(Buffer.alloc(16))).toBe(false);
    expect(withoutLeftovers(one!)).toEqual(one);
  });

  it('is unchanged if the linker wrote the whole table', () => {
    const program = programWith([5, 6, 9, 5, 6]);
    expect(withoutLeftovers(program)).toBe(program);
  });
});
