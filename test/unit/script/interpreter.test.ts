/** Script cases of our own, which do not need the reference's vectors. */
import { describe, expect, it } from 'vitest';
import { SCRIPT_VERIFY } from '../../../src/script/flags.js';
import { OP } from '../../../src/script/opcodes.js';
import { pushData, pushNumber } from '../../../src/script/script.js';
import { scriptErrorMessage, SCRIPT_ERROR, type ScriptErrorName } from '../../../src/script/scriptError.js';
import { fromHex } from '../../../src/util/bytes.js';
import { parseFlags, parseScript } from '../../vectors/support.js';
import { spend, spendingTransaction } from './spending.js';

const NONE = 0;
const EMPTY = Buffer.alloc(0);

/** scriptSig, output script, flags, verdict. */
const UNSIGNED: [string, string, string, ScriptErrorName][] = [
  ['1', '', '', 'OK'],
  ['', '', '', 'EVAL_FALSE'],
  ['0', '', '', 'EVAL_FALSE'],
  ["'x'", '0x0180', '', 'EVAL_FALSE'],
  ['1', '0x028000', '', 'OK'],
  ['0', '0x020080', '', 'EVAL_FALSE'],
  ['', '0x4c', '', 'BAD_OPCODE'],
  ['1', '0x05 0x0102', '', 'BAD_OPCODE'],
  ['1', '0xba', '', 'BAD_OPCODE'],
  ['1', 'RESERVED', '', 'BAD_OPCODE'],
  ['1', 'VER', '', 'BAD_OPCODE'],
  ['1', '0 IF VER ENDIF', '', 'OK'],
  ['1', '0 IF VERIF ENDIF', '', 'BAD_OPCODE'],
  ['1', '0 IF VERNOTIF ENDIF', '', 'BAD_OPCODE'],
  ['1', '0 IF CAT ENDIF', '', 'DISABLED_OPCODE'],
  ['1', '0 IF LSHIFT ENDIF', '', 'DISABLED_OPCODE'],
  ['1', '0 IF RESERVED1 ENDIF', '', 'OK'],
  ['1', 'RETURN', '', 'OP_RETURN'],
  ['1', '0 IF RETURN ENDIF', '', 'OK'],
  // Flow.
  ['1', 'IF 1 ELSE 0 ENDIF', '', 'OK'],
  ['0', 'IF 0 ELSE 1 ENDIF', '', 'OK'],
  ['0', 'NOTIF 1 ELSE 0 ENDIF', '', 'OK'],
  ['1 1', 'IF IF 1 ELSE 0 ENDIF ENDIF', '', 'OK'],
  ['1 0', 'IF IF 0 ELSE 0 ENDIF ELSE 1 IF 1 ELSE RETURN ENDIF ENDIF', '', 'OK'],
  ['1', 'IF 1 ELSE 0 ELSE 1 ENDIF', '', 'OK'],
  ['1', 'IF 1', '', 'UNBALANCED_CONDITIONAL'],
  ['1', 'ENDIF', '', 'UNBALANCED_CONDITIONAL'],
  ['1', 'ELSE', '', 'UNBALANCED_CONDITIONAL'],
  ['', 'IF ENDIF', '', 'UNBALANCED_CONDITIONAL'],
  ['1 IF 1', 'ENDIF', '', 'UNBALANCED_CONDITIONAL'],
  ['1 1', 'VERIFY', '', 'OK'],
  ['1 0', 'VERIFY', '', 'VERIFY'],
  ['', 'VERIFY', '', 'INVALID_STACK_OPERATION'],
  // Stack.
  ['1 2 3', 'TOALTSTACK DROP FROMALTSTACK 3 EQUALVERIFY', '', 'OK'],
  ['1', 'FROMALTSTACK', '', 'INVALID_ALTSTACK_OPERATION'],
  ['1 TOALTSTACK 1', 'FROMALTSTACK', '', 'INVALID_ALTSTACK_OPERATION'],
  ['1 2', '2DUP 2 EQUALVERIFY 1 EQUALVERIFY 2 EQUALVERIFY', '', 'OK'],
  ['1 2 3', '3DUP 3 EQUALVERIFY 2 EQUALVERIFY 1 EQUALVERIFY DEPTH 3 EQUAL', '', 'OK'],
  ['1 2 3 4', '2OVER 2 EQUALVERIFY 1 EQUALVERIFY 4 EQUAL', '', 'OK'],
  [
    '1 2 3 4 5 6',
    '2ROT 2 EQUALVERIFY 1 EQUALVERIFY 6 EQUALVERIFY 5 EQUALVERIFY 4 EQUALVERIFY 3 EQUAL',
    '',
    'OK',
  ],
  ['1 2 3 4 5 6', '2ROT 2DROP 2DROP 4 EQUALVERIFY 3 EQUAL', '', 'OK'],
  ['1 2 3 4', '2SWAP 2 EQUALVERIFY 1 EQUALVERIFY 4 EQUALVERIFY 3 EQUAL', '', 'OK'],
  ['0', 'IFDUP DEPTH 1 EQUAL', '', 'OK'],
  ['1', 'IFDUP DEPTH 2 EQUAL', '', 'OK'],
  ['1 2', 'NIP DEPTH 1 EQUALVERIFY 2 EQUAL', '', 'OK'],
  ['1 2', 'OVER 1 EQUALVERIFY 2 EQUAL', '', 'OK'],
  ['5 6 7', '2 PICK 5 EQUALVERIFY DEPTH 3 EQUAL', '', 'OK'],
  ['5 6 7', '2 ROLL 5 EQUALVERIFY DEPTH 2 EQUAL', '', 'OK'],
  ['5 6 7', '0 ROLL 7 EQUAL', '', 'OK'],
  ['5 6 7', '3 PICK', '', 'INVALID_STACK_OPERATION'],
  ['5 6 7', '-1 ROLL', '', 'INVALID_STACK_OPERATION'],
  ['5 6 7', "'12345' PICK", '', 'UNKNOWN_ERROR'],
  ['1 2 3', 'ROT 1 EQUALVERIFY 3 EQUALVERIFY 2 EQUAL', '', 'OK'],
  ['1 2', 'SWAP 1 EQUALVERIFY 2 EQUAL', '', 'OK'],
  ['1 2', 'TUCK 2 EQUALVERIFY 1 EQUALVERIFY 2 EQUAL', '', 'OK'],
  ["'abc'", 'SIZE 3 EQUALVERIFY', '', 'OK'],
  ['1 2', 'EQUALVERIFY', '', 'EQUALVERIFY'],
  ['1', 'SWAP', '', 'INVALID_STACK_OPERATION'],
  // Numbers.
  ['2147483647', '1ADD 0x05 0x0000008000 EQUAL', '', 'OK'],
  ['2147483647', '1ADD 1SUB', '', 'UNKNOWN_ERROR'],
  ['-1', 'NEGATE 1 EQUAL', '', 'OK'],
  ['-5', 'ABS 5 EQUAL', '', 'OK'],
  ['5 3', 'SUB 2 EQUAL', '', 'OK'],
  ['3 5', 'SUB -2 EQUAL', '', 'OK'],
  ['0', 'NOT', '', 'OK'],
  ['2', 'NOT', '', 'EVAL_FALSE'],
  ['2', '0NOTEQUAL 1 EQUAL', '', 'OK'],
  ['1 2', 'BOOLAND', '', 'OK'],
  ['0 2', 'BOOLAND', '', 'EVAL_FALSE'],
  ['0 2', 'BOOLOR', '', 'OK'],
  ['0x0100 0', 'NUMEQUAL', '', 'OK'],
  ['1 2', 'NUMNOTEQUAL', '', 'OK'],
  ['1 2', 'NUMEQUALVERIFY 1', '', 'NUMEQUALVERIFY'],
  ['1 2', 'LESSTHAN', '', 'OK'],
  ['2 2', 'LESSTHAN', '', 'EVAL_FALSE'],
  ['2 2', 'LESSTHANOREQUAL', '', 'OK'],
  ['3 2', 'GREATERTHAN', '', 'OK'],
  ['2 2', 'GREATERTHANOREQUAL', '', 'OK'],
  ['-3 2', 'MIN -3 EQUAL', '', 'OK'],
  ['-3 2', 'MAX 2 EQUAL', '', 'OK'],
  ['1 1 3', 'WITHIN', '', 'OK'],
  ['3 1 3', 'WITHIN', '', 'EVAL_FALSE'],
  ['1 2', 'WITHIN', '', 'INVALID_STACK_OPERATION'],
  // Hashes, of the empty string.
  ['0', 'RIPEMD160 0x14 0x9c1185a5c5e9fc54612808977ee8f548b2258d31 EQUAL', '', 'OK'],
  ['0', 'SHA1 0x14 0xda39a3ee5e6b4b0d3255bfef95601890afd80709 EQUAL', '', 'OK'],
  ['0', 'SHA256 0x20 0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 EQUAL', '', 'OK'],
  ['0', 'HASH160 0x14 0xb472a266d0bd89c13706a4132ccfb16f7c3b9fcb EQUAL', '', 'OK'],
  ['0', 'HASH256 0x20 0x5df6e0e2761359d30a8275058e299fcc0381534545f55cf43e41983f5d4c9456 EQUAL', '', 'OK'],
  // Minimal data.
  ['0x4c0101', 'DROP 1', '', 'OK'],
  ['0x4c0101', 'DROP 1', 'MINIMALDATA', 'MINIMALDATA'],
  ['0x0105', 'DROP 1', 'MINIMALDATA', 'MINIMALDATA'],
  ['0x0181', 'DROP 1', 'MINIMALDATA', 'MINIMALDATA'],
  ['1', '0 IF 0x4c0101 ENDIF', 'MINIMALDATA', 'OK'],
  ['0x020100', '1 NUMEQUAL', '', 'OK'],
  ['0x020100', '1 NUMEQUAL', 'MINIMALDATA', 'UNKNOWN_ERROR'],
  // Opcodes without effect, and claim opcodes.
  ['1', 'NOP NOP1 NOP4 NOP5 NOP9 NOP10', '', 'OK'],
  ['1', 'NOP', 'DISCOURAGE_UPGRADABLE_NOPS', 'OK'],
  ['1', 'NOP4', 'DISCOURAGE_UPGRADABLE_NOPS', 'DISCOURAGE_UPGRADABLE_NOPS'],
  ['1', '0 IF NOP4 ENDIF', 'DISCOURAGE_UPGRADABLE_NOPS', 'OK'],
  ['1', 'CLAIM_NAME DROP', 'DISCOURAGE_UPGRADABLE_NOPS', 'OK'],
  ['1', 'CLAIM_NAME', '', 'EVAL_FALSE'],
  ['', 'SUPPORT_CLAIM SIZE 0 EQUALVERIFY 0 EQUAL', '', 'OK'],
  ['', 'UPDATE_CLAIM NOT', '', 'OK'],
  ['1', '0 IF CLAIM_NAME ENDIF', '', 'OK'],
  // Lock time opcodes have no effect without their flags.
  ['', 'CHECKLOCKTIMEVERIFY 1', '', 'OK'],
  ['', 'CHECKLOCKTIMEVERIFY 1', 'CHECKLOCKTIMEVERIFY', 'INVALID_STACK_OPERATION'],
  ['-1', 'CHECKLOCKTIMEVERIFY 1', 'CHECKLOCKTIMEVERIFY', 'NEGATIVE_LOCKTIME'],
  ["'123456'", 'CHECKLOCKTIMEVERIFY 1', 'CHECKLOCKTIMEVERIFY', 'UNKNOWN_ERROR'],
  ['', 'CHECKSEQUENCEVERIFY 1', '', 'OK'],
  ['', 'CHECKSEQUENCEVERIFY 1', 'CHECKSEQUENCEVERIFY', 'INVALID_STACK_OPERATION'],
  ['-1', 'CHECKSEQUENCEVERIFY 1', 'CHECKSEQUENCEVERIFY', 'NEGATIVE_LOCKTIME'],
  ['0x05 0x0000008000', 'CHECKSEQUENCEVERIFY', 'CHECKSEQUENCEVERIFY', 'OK'],
  // Multisig counts without signatures.
  ['0 0 0', 'CHECKMULTISIG', '', 'OK'],
  ['0 0', 'CHECKMULTISIG', '', 'INVALID_STACK_OPERATION'],
  ['0 0 21', 'CHECKMULTISIG', '', 'PUBKEY_COUNT'],
  ['0 0 -1', 'CHECKMULTISIG', '', 'PUBKEY_COUNT'],
  ['0 1 0', 'CHECKMULTISIG', '', 'SIG_COUNT'],
  ['0 -1 0', 'CHECKMULTISIG', '', 'SIG_COUNT'],
  ['1 0 0', 'CHECKMULTISIG', '', 'OK'],
  ['1 0 0', 'CHECKMULTISIG', 'NULLDUMMY', 'SIG_NULLDUMMY'],
  // Clean stack, push only.
  ['1 1', '', '', 'OK'],
  ['1 1', '', 'CLEANSTACK,P2SH,WITNESS', 'CLEANSTACK'],
  ['NOP 1', '', '', 'OK'],
  ['NOP 1', '', 'SIGPUSHONLY', 'SIG_PUSHONLY'],
];

describe('unsigned scripts', () => {
  it.each(UNSIGNED)('%s | %s | %s: %s', (scriptSig, scriptPubKey, flags, expected) => {
    expect(spend(parseScript(scriptSig), parseScript(scriptPubKey), parseFlags(flags))).toBe(expected);
  });
});

describe('limits', () => {
  const repeat = (opcode: number, count: number): Buffer => Buffer.alloc(count, opcode);

  it('an element may have 20,000 bytes', () => {
    expect(spend(pushData(Buffer.alloc(20_000, 1)), EMPTY, NONE)).toBe('OK');
    expect(spend(pushData(Buffer.alloc(20_001, 1)), EMPTY, NONE)).toBe('PUSH_SIZE');
    // In a skipped branch too.
    const skipped = Buffer.concat([Buffer.of(OP.OP_IF), pushData(Buffer.alloc(20_001))]);
    expect(skipped.length).toBe(20_005);
    expect(spend(Buffer.of(OP.OP_0), skipped, NONE)).toBe('PUSH_SIZE');
  });

  it('a script may have 20,005 bytes', () => {
    const fill = Buffer.concat([pushData(Buffer.alloc(20_000, 1)), fromHex('7551')]);
    expect(fill.length).toBe(20_005);
    expect(spend(EMPTY, fill, NONE)).toBe('OK');
    expect(spend(EMPTY, Buffer.concat([fill, fromHex('51')]), NONE)).toBe('SCRIPT_SIZE');
  });

  it('a script may have 201 operations, pushes and OP_RESERVED not counted', () => {
    expect(spend(fromHex('51'), repeat(OP.OP_NOP, 201), NONE)).toBe('OK');
    expect(spend(fromHex('51'), repeat(OP.OP_NOP, 202), NONE)).toBe('OP_COUNT');
    expect(spend(fromHex('51'), Buffer.concat([repeat(OP.OP_NOP, 201), repeat(OP.OP_1, 300)]), NONE)).toBe(
      'OK',
    );
    const skipped = Buffer.concat([
      fromHex('0063'),
      repeat(OP.OP_RESERVED, 500),
      repeat(OP.OP_NOP, 199),
      fromHex('6851'),
    ]);
    expect(spend(EMPTY, skipped, NONE)).toBe('OK');
    expect(spend(EMPTY, Buffer.concat([fromHex('61'), skipped]), NONE)).toBe('OP_COUNT');
  });

  it('keys of a multisig count as operations', () => {
    const multisig = (keys: number): Buffer =>
      Buffer.concat([
        repeat(OP.OP_0, 2),
        repeat(OP.OP_0, keys),
        pushNumber(keys),
        Buffer.of(OP.OP_CHECKMULTISIG),
      ]);
    expect(spend(EMPTY, Buffer.concat([repeat(OP.OP_NOP, 180), multisig(20)]), NONE)).toBe('OK');
    expect(spend(EMPTY, Buffer.concat([repeat(OP.OP_NOP, 181), multisig(20)]), NONE)).toBe('OP_COUNT');
  });

  it('both stacks together may have 1,000 elements', () => {
    expect(spend(EMPTY, repeat(OP.OP_1, 1000), NONE)).toBe('OK');
    expect(spend(EMPTY, repeat(OP.OP_1, 1001), NONE)).toBe('STACK_SIZE');
    expect(spend(EMPTY, Buffer.concat([fromHex('516b'), repeat(OP.OP_1, 1000)]), NONE)).toBe('STACK_SIZE');
  });
});

describe('lock times', () => {
  const CLTV = SCRIPT_VERIFY.CHECKLOCKTIMEVERIFY;
  const CSV = SCRIPT_VERIFY.CHECKSEQUENCEVERIFY;

  function check(
    operand: number,
    opcode: number,
    changes: Parameters<typeof spendingTransaction>[0],
  ): string {
    const script = Buffer.concat([pushNumber(operand), Buffer.of(opcode, OP.OP_DROP, OP.OP_1)]);
    return spend(EMPTY, script, CLTV | CSV, [], spendingTransaction(changes));
  }

  it('compares absolute ones of one kind with a transaction that is not final', () => {
    const at = (operand: number, lockTime: number, sequence = 0): string =>
      check(operand, OP.OP_CHECKLOCKTIMEVERIFY, { lockTime, sequence });
    expect(at(100, 100)).toBe('OK');
    expect(at(101, 100)).toBe('UNSATISFIED_LOCKTIME');
    expect(at(100, 500_000_000)).toBe('UNSATISFIED_LOCKTIME');
    expect(at(500_000_000, 500_000_000)).toBe('OK');
    expect(at(499_999_999, 499_999_999)).toBe('OK');
    expect(at(0xffffffff, 0xffffffff)).toBe('OK');
    expect(at(0x100000000, 0xffffffff)).toBe('UNSATISFIED_LOCKTIME');
    expect(at(100, 100, 0xffffffff)).toBe('UNSATISFIED_LOCKTIME');
  });

  it('compares relative ones of one kind from version 2 on', () => {
    const at = (operand: number, sequence: number, version = 2): string =>
      check(operand, OP.OP_CHECKSEQUENCEVERIFY, { sequence, version });
    expect(at(10, 10)).toBe('OK');
    expect(at(11, 10)).toBe('UNSATISFIED_LOCKTIME');
    expect(at(10, 10, 1)).toBe('UNSATISFIED_LOCKTIME');
    expect(at(10, 10, -1)).toBe('OK');
    expect(at(10, 0x40000a)).toBe('UNSATISFIED_LOCKTIME');
    expect(at(0x40000a, 0x40000a)).toBe('OK');
    expect(at(10, 0x8000000a)).toBe('UNSATISFIED_LOCKTIME');
    expect(at(0x8000ffff, 1)).toBe('OK');
    // Bits without a meaning are ignored on both sides; bit 32 and above too.
    expect(at(0x1f000a, 0x3f000a)).toBe('OK');
    expect(at(0x100000000, 0)).toBe('OK');
  });
});

describe('combinations of flags', () => {
  it('with missing prerequisites are a bug', () => {
    expect(() => spend(Buffer.of(OP.OP_1), EMPTY, SCRIPT_VERIFY.CLEANSTACK)).toThrow('CLEANSTACK');
    expect(() => spend(Buffer.of(OP.OP_1), EMPTY, SCRIPT_VERIFY.WITNESS)).toThrow('WITNESS');
  });
});

describe('messages', () => {
  it('are the texts of the reference; the unknown error has none', () => {
    expect(scriptErrorMessage(SCRIPT_ERROR.OK)).toBe('No error');
    expect(scriptErrorMessage(SCRIPT_ERROR.PUBKEYTYPE)).toBe(
      'Public key is neither compressed or uncompressed',
    );
    expect(scriptErrorMessage(SCRIPT_ERROR.UNKNOWN_ERROR)).toBe('unknown error');
    const texts = Object.values(SCRIPT_ERROR).map(scriptErrorMessage);
    expect(new Set(texts).size).toBe(texts.length);
  });
});
