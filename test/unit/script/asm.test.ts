import { describe, expect, it } from 'vitest';
import { formatAsm, sighashName } from '../../../src/script/asm.js';
import { buildClaimPrefix, buildSupportPrefix, buildUpdatePrefix } from '../../../src/script/claimScript.js';
import { OP } from '../../../src/script/opcodes.js';
import { buildScript, pushData } from '../../../src/script/script.js';
import { fromHex, toHex } from '../../../src/util/bytes.js';
import { sign, testKey } from './spending.js';

describe('formatAsm', () => {
  it('names opcodes and shows short pushes as numbers, long ones as hex', () => {
    const cases: [string, string][] = [
      ['', ''],
      ['00', '0'],
      ['0101', '1'],
      ['0181', '-1'],
      ['0180', '0'],
      ['02ff00', '255'],
      ['04ffffff7f', '2147483647'],
      ['04ffffffff', '-2147483647'],
      ['050102030405', '0102030405'],
      ['4f515260', '-1 1 2 16'],
      ['4c0105', '5'],
      ['76a9ac', 'OP_DUP OP_HASH160 OP_CHECKSIG'],
      ['b1b2b3', 'OP_CHECKLOCKTIMEVERIFY OP_CHECKSEQUENCEVERIFY OP_NOP4'],
      ['50baff', 'OP_RESERVED OP_UNKNOWN OP_INVALIDOPCODE'],
      ['51054142', '1 [error]'],
      ['4c', '[error]'],
      [`76a914${'ab'.repeat(20)}88ac`, `OP_DUP OP_HASH160 ${'ab'.repeat(20)} OP_EQUALVERIFY OP_CHECKSIG`],
    ];
    for (const [hex, asm] of cases) expect(formatAsm(fromHex(hex)), hex).toBe(asm);
  });

  it('shows every push as hex from a claim opcode on', () => {
    const rest = buildScript(OP.OP_1);
    const id = Buffer.alloc(20, 9);
    const claim = Buffer.concat([buildClaimPrefix(Buffer.from('hi'), Buffer.from('data')), rest]);
    expect(formatAsm(claim)).toBe('OP_CLAIM_NAME 6869 64617461 OP_2DROP OP_DROP 1');
    expect(formatAsm(Buffer.concat([buildSupportPrefix(Buffer.from('hi'), id), rest]))).toBe(
      `OP_SUPPORT_CLAIM 6869 ${'09'.repeat(20)} OP_2DROP OP_DROP 1`,
    );
    expect(formatAsm(Buffer.concat([buildUpdatePrefix(Buffer.from('a'), id, Buffer.alloc(0)), rest]))).toBe(
      `OP_UPDATE_CLAIM 61 ${'09'.repeat(20)}  OP_2DROP OP_2DROP 1`,
    );
    expect(formatAsm(buildClaimPrefix(Buffer.alloc(0), Buffer.alloc(0)))).toBe(
      'OP_CLAIM_NAME   OP_2DROP OP_DROP',
    );
    expect(formatAsm(fromHex('0105b70105'))).toBe('5 OP_UPDATE_CLAIM 05');
  });

  it('shows the hash types of signatures on request', () => {
    const key = testKey(1);
    for (const [type, name] of [
      [1, 'ALL'],
      [2, 'NONE'],
      [3, 'SINGLE'],
      [0x81, 'ALL|ANYONECANPAY'],
      [0x82, 'NONE|ANYONECANPAY'],
      [0x83, 'SINGLE|ANYONECANPAY'],
    ] as const) {
      const signature = sign(key, Buffer.of(OP.OP_1), 0, type);
      const scriptSig = buildScript(signature, key.compressed);
      const keyHex = toHex(key.compressed);
      expect(formatAsm(scriptSig, true)).toBe(`${toHex(signature.subarray(0, -1))}[${name}] ${keyHex}`);
      expect(formatAsm(scriptSig)).toBe(`${toHex(signature)} ${keyHex}`);
      expect(sighashName(type)).toBe(name);
    }
    expect(sighashName(4)).toBe('');
  });

  it('does not change undefined types, invalid signatures and data outputs', () => {
    const signature = sign(testKey(1), Buffer.of(OP.OP_1));
    const odd = Buffer.from(signature);
    odd[odd.length - 1] = 0x41;
    expect(formatAsm(pushData(odd), true)).toBe(toHex(odd));
    const broken = signature.subarray(1);
    expect(formatAsm(pushData(broken), true)).toBe(toHex(broken));
    const data = Buffer.concat([Buffer.of(OP.OP_RETURN), pushData(signature)]);
    expect(formatAsm(data, true)).toBe(`OP_RETURN ${toHex(signature)}`);
    // An empty push after a claim opcode is shown as an empty signature without hash type.
    expect(formatAsm(fromHex('b500'), true)).toBe('OP_CLAIM_NAME ');
  });
});
