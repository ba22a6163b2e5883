/** Scripts as text in the format of Esplora. */
import { describe, expect, it } from 'vitest';
import { esploraAsm } from '../../../../src/server/esplora/asm.js';
import { fromHex } from '../../../../src/util/bytes.js';
import { atOnce } from '../../../../src/util/slices.js';

describe('a script as operations', () => {
  it.each([
    ['', ''],
    ['00', 'OP_0'],
    ['4f51605a', 'OP_PUSHNUM_NEG1 OP_PUSHNUM_1 OP_PUSHNUM_16 OP_PUSHNUM_10'],
    ['76a90211228887ac', 'OP_DUP OP_HASH160 OP_PUSHBYTES_2 1122 OP_EQUALVERIFY OP_EQUAL OP_CHECKSIG'],
    ['b1b2', 'OP_CLTV OP_CSV'],
    ['b50161b6b7', 'OP_NOP6 OP_PUSHBYTES_1 61 OP_NOP7 OP_NOP8'],
    ['4c020102', 'OP_PUSHDATA1 0102'],
    ['4d0100ab', 'OP_PUSHDATA2 ab'],
    ['4e01000000ab', 'OP_PUSHDATA4 ab'],
    ['fa', 'OP_RETURN_250'],
    // Truncated pushes.
    ['05aabb', 'OP_PUSHBYTES_5 aabb'],
    ['05', 'OP_PUSHBYTES_5'],
    ['4d01', 'OP_PUSHDATA2'],
  ])('%s', (hex, text) => expect(atOnce(esploraAsm(fromHex(hex)))).toBe(text));
});
