/**
 * Scripts as text in lbcd's format. The expected texts follow lbcd's txscript (`DisasmString`, opcode table). Some were compared
 * with answers of a running lbcd.
 */
import { expect, it } from 'vitest';
import { formatLbcdAsmInSlices } from '../../../src/script/lbcdAsm.js';
import { fromHex } from '../../../src/util/bytes.js';
import { atOnce } from '../../../src/util/slices.js';

it.each([
  ['', ''],
  ['00', '0'],
  ['4f51', '-1 1'],
  ['0105', '05'],
  ['0400000080', '00000080'],
  ['b5016102beef6d75', 'OP_CLAIMNAME 61 beef OP_2DROP OP_DROP'],
  ['b60161', 'OP_SUPPORTCLAIM 61'],
  ['b70161', 'OP_UPDATECLAIM 61'],
  ['ba', 'OP_UNKNOWN186'],
  ['fafbfcfdfeff', 'OP_SMALLINTEGER OP_PUBKEYS OP_UNKNOWN252 OP_PUBKEYHASH OP_PUBKEY OP_INVALIDOPCODE'],
  ['b1b2', 'OP_CHECKLOCKTIMEVERIFY OP_CHECKSEQUENCEVERIFY'],
  ['4c00ac', ' OP_CHECKSIG'],
  ['0201', '[error]'],
  ['ac0201', 'OP_CHECKSIG [error]'],
  // A signature is shown with its hash type.
  ['0930060201010201010' + '1', '300602010102010101'],
])('%s', (hex, text) => {
  expect(atOnce(formatLbcdAsmInSlices(fromHex(hex)))).toBe(text);
});

it('is formatted in slices', () => {
  const slices = formatLbcdAsmInSlices(Buffer.alloc(1000, 0xac));
  expect(slices.next().done).toBe(false);
});
