import { describe, expect, it } from 'vitest';
import {
  isClaimOpcode,
  isSmallInteger,
  OP,
  opcodeName,
  smallIntegerOf,
  smallIntegerOpcode,
} from '../../../src/script/opcodes.js';
import {
  buildScript,
  hasValidOps,
  isPayToScriptHash,
  isPushOnly,
  isUnspendable,
  isWitnessProgram,
  lastPush,
  MAX_SCRIPT_ELEMENT_SIZE,
  MAX_SCRIPT_SIZE,
  nextOp,
  opDataStart,
  pushData,
  pushNumber,
  witnessVersion,
} from '../../../src/script/script.js';
import { decodeScriptNumber, encodeScriptNumber } from '../../../src/script/scriptNumber.js';
import { fromHex, toHex } from '../../../src/util/bytes.js';

describe('opcodes', () => {
  it('have the reference names', () => {
    const names = [
      0x00, 0x01, 0x4b, 0x4c, 0x4f, 0x50, 0x51, 0x60, 0x61, 0xac, 0xb1, 0xb2, 0xb4, 0xb9, 0xba, 0xff,
    ];
    expect(names.map(opcodeName)).toEqual([
      '0',
      'OP_UNKNOWN',
      'OP_UNKNOWN',
      'OP_PUSHDATA1',
      '-1',
      'OP_RESERVED',
      '1',
      '16',
      'OP_NOP',
      'OP_CHECKSIG',
      'OP_CHECKLOCKTIMEVERIFY',
      'OP_CHECKSEQUENCEVERIFY',
      'OP_NOP5',
      'OP_NOP10',
      'OP_UNKNOWN',
      'OP_INVALIDOPCODE',
    ]);
    expect([0xb5, 0xb6, 0xb7].map(opcodeName)).toEqual([
      'OP_CLAIM_NAME',
      'OP_SUPPORT_CLAIM',
      'OP_UPDATE_CLAIM',
    ]);
    expect([0xb4, 0xb5, 0xb7, 0xb8].map(isClaimOpcode)).toEqual([false, true, true, false]);
  });

  it('convert small numbers both ways', () => {
    for (let n = 0; n <= 16; n++) expect(smallIntegerOf(smallIntegerOpcode(n))).toBe(n);
    expect([OP.OP_0, OP.OP_RESERVED, OP.OP_1, OP.OP_16, OP.OP_NOP].map(isSmallInteger)).toEqual([
      false,
      false,
      true,
      true,
      false,
    ]);
  });
});

describe('nextOp', () => {
  it('steps over each form of a push', () => {
    for (const [hex, dataStart, next] of [
      ['00', 1, 1],
      ['0141', 1, 2],
      ['4c0141', 2, 3],
      ['4d010041', 3, 4],
      ['4e0100000041', 5, 6],
      ['51', 1, 1],
      ['ac', 1, 1],
    ] as const) {
      const script = fromHex(`${hex}ac`);
      expect(nextOp(script, 0)).toBe(next);
      expect(opDataStart(script[0]!, 0)).toBe(dataStart);
    }
  });

  it('detects a push that exceeds the script', () => {
    for (const hex of [
      '01',
      '024141',
      '4c',
      '4c01',
      '4d',
      '4d01',
      '4d0100',
      '4e',
      '4e010000',
      '4e01000000',
      '4effffffff41',
    ]) {
      expect(nextOp(fromHex(hex === '024141' ? '0241' : hex), 0), hex).toBe(-1);
    }
  });
});

describe('shapes', () => {
  const hash = Buffer.alloc(20, 7);

  it('P2SH is exactly one form', () => {
    const script = buildScript(OP.OP_HASH160, hash, OP.OP_EQUAL);
    expect(isPayToScriptHash(script)).toBe(true);
    expect(isPayToScriptHash(Buffer.concat([script, Buffer.of(OP.OP_NOP)]))).toBe(false);
    expect(isPayToScriptHash(Buffer.concat([fromHex('a94c14'), hash, fromHex('87')]))).toBe(false);
  });

  it('witness programs are a version and one direct push of 2 to 40 bytes', () => {
    for (const [size, accepted] of [
      [1, false],
      [2, true],
      [40, true],
      [41, false],
    ] as const) {
      expect(isWitnessProgram(buildScript(OP.OP_0, Buffer.alloc(size)))).toBe(accepted);
      expect(isWitnessProgram(buildScript(OP.OP_16, Buffer.alloc(size)))).toBe(accepted);
    }
    expect(isWitnessProgram(fromHex('4f020102'))).toBe(false);
    expect(isWitnessProgram(fromHex('50020102'))).toBe(false);
    expect(isWitnessProgram(fromHex('004c020102'))).toBe(false);
    expect(isWitnessProgram(fromHex('0002010251'))).toBe(false);
    expect(witnessVersion(fromHex('00020102'))).toBe(0);
    expect(witnessVersion(fromHex('60020102'))).toBe(16);
  });

  it('push-only scripts may contain OP_RESERVED and numbers', () => {
    expect(isPushOnly(fromHex('0001414f5060'))).toBe(true);
    expect(isPushOnly(fromHex('61'))).toBe(false);
    expect(isPushOnly(fromHex('6a0141'), 1)).toBe(true);
    expect(isPushOnly(fromHex('0241'))).toBe(false);
    expect(isPushOnly(Buffer.alloc(0))).toBe(true);
  });

  it('the last push is the redeem script', () => {
    expect(toHex(lastPush(fromHex('0141024243'))!)).toBe('4243');
    expect(toHex(lastPush(fromHex('014151'))!)).toBe('');
    expect(toHex(lastPush(Buffer.alloc(0))!)).toBe('');
    expect(lastPush(fromHex('014161'))).toBeNull();
    expect(lastPush(fromHex('01410542'))).toBeNull();
  });

  it('outputs are unspendable by a leading OP_RETURN or by their size', () => {
    expect(isUnspendable(fromHex('6a'))).toBe(true);
    expect(isUnspendable(fromHex('516a'))).toBe(false);
    expect(isUnspendable(Buffer.alloc(0))).toBe(false);
    expect(isUnspendable(Buffer.alloc(MAX_SCRIPT_SIZE))).toBe(false);
    expect(isUnspendable(Buffer.alloc(MAX_SCRIPT_SIZE + 1))).toBe(true);
  });

  it('valid operations are complete, known and small enough', () => {
    expect(hasValidOps(fromHex('014161b9'))).toBe(true);
    expect(hasValidOps(fromHex('ba'))).toBe(false);
    expect(hasValidOps(fromHex('0541'))).toBe(false);
    expect(hasValidOps(pushData(Buffer.alloc(MAX_SCRIPT_ELEMENT_SIZE)))).toBe(true);
    expect(hasValidOps(pushData(Buffer.alloc(MAX_SCRIPT_ELEMENT_SIZE + 1)))).toBe(false);
  });
});

describe('building', () => {
  it('uses the shortest length form and keeps single bytes as pushes', () => {
    expect(toHex(pushData(Buffer.alloc(0)))).toBe('00');
    expect(toHex(pushData(Buffer.of(5)))).toBe('0105');
    expect(toHex(pushData(Buffer.of(0x81)))).toBe('0181');
    for (const [size, head] of [
      [75, '4b'],
      [76, '4c4c'],
      [255, '4cff'],
      [256, '4d0001'],
      [65535, '4dffff'],
      [65536, '4e00000100'],
    ] as const) {
      const push = pushData(Buffer.alloc(size, 1));
      expect(toHex(push.subarray(0, push.length - size))).toBe(head);
      expect(nextOp(push, 0)).toBe(push.length);
    }
  });

  it('pushes numbers by opcode if there is one', () => {
    const cases = [-1, 0, 1, 16, 17, 127, 128, -128, 255, 256, 500, 1_000_000];
    expect(cases.map((n) => toHex(pushNumber(n)))).toEqual([
      '4f',
      '00',
      '51',
      '60',
      '0111',
      '017f',
      '028000',
      '028080',
      '02ff00',
      '020001',
      '02f401',
      '0340420f',
    ]);
  });
});

describe('script numbers', () => {
  it('round-trip', () => {
    for (const n of [
      0, 1, -1, 16, 17, -17, 127, 128, -127, -128, 255, 256, 32767, 32768, -32768, 0x7fffffff, -0x7fffffff,
    ]) {
      expect(decodeScriptNumber(encodeScriptNumber(n), true)).toBe(n);
    }
    const wide = 2 ** 39 - 1;
    expect(decodeScriptNumber(encodeScriptNumber(wide), true, 5)).toBe(wide);
    expect(toHex(encodeScriptNumber(2 ** 32))).toBe('0000000001');
    expect(toHex(encodeScriptNumber(-0x80000000))).toBe('0000008080');
  });

  it('refuse too many bytes and, on request, needless ones', () => {
    expect(decodeScriptNumber(Buffer.alloc(5), false)).toBeNaN();
    expect(decodeScriptNumber(Buffer.alloc(5), false, 5)).toBe(0);
    expect(decodeScriptNumber(Buffer.alloc(6), false, 5)).toBeNaN();
    for (const hex of ['00', '80', '0100', '0180', '7f00', '000000']) {
      expect(decodeScriptNumber(fromHex(hex), true), hex).toBeNaN();
      expect(decodeScriptNumber(fromHex(hex), false), hex).not.toBeNaN();
    }
    for (const [hex, value] of [
      ['8000', 128],
      ['8080', -128],
      ['ff00', 255],
      ['81', -1],
    ] as const) {
      expect(decodeScriptNumber(fromHex(hex), true)).toBe(value);
    }
  });

  it('read negative zero as zero', () => {
    expect(Object.is(decodeScriptNumber(fromHex('80'), false), 0)).toBe(true);
    expect(Object.is(decodeScriptNumber(fromHex('000080'), false), 0)).toBe(true);
  });
});
