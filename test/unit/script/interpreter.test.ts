/** Our own script cases: they hold without the reference's vectors. */
import { describe, expect, it } from 'vitest';
import { hash160, sha256 } from '../../../src/crypto/hash.js';
import { buildClaimPrefix, buildSupportPrefix, buildUpdatePrefix } from '../../../src/script/claimScript.js';
import { SCRIPT_VERIFY, STANDARD_SCRIPT_VERIFY_FLAGS } from '../../../src/script/flags.js';
import { OP } from '../../../src/script/opcodes.js';
import { buildScript, pushData, pushNumber } from '../../../src/script/script.js';
import { scriptErrorMessage, SCRIPT_ERROR, type ScriptErrorName } from '../../../src/script/scriptError.js';
import { SIG_VERSION } from '../../../src/script/sighash.js';
import { findAndDelete } from '../../../src/script/signatureOps.js';
import { fromHex, toHex } from '../../../src/util/bytes.js';
import { parseFlags, parseScript } from '../../vectors/support.js';
import { sign, spend, spendingTransaction, testKey } from './spending.js';

const { WITNESS_V0 } = SIG_VERSION;
const NONE = 0;
const P2SH = SCRIPT_VERIFY.P2SH;
const WITNESS = SCRIPT_VERIFY.P2SH | SCRIPT_VERIFY.WITNESS;
const STANDARD = STANDARD_SCRIPT_VERIFY_FLAGS;
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
  // No-ops and claim opcodes.
  ['1', 'NOP NOP1 NOP4 NOP5 NOP9 NOP10', '', 'OK'],
  ['1', 'NOP', 'DISCOURAGE_UPGRADABLE_NOPS', 'OK'],
  ['1', 'NOP4', 'DISCOURAGE_UPGRADABLE_NOPS', 'DISCOURAGE_UPGRADABLE_NOPS'],
  ['1', '0 IF NOP4 ENDIF', 'DISCOURAGE_UPGRADABLE_NOPS', 'OK'],
  ['1', 'CLAIM_NAME DROP', 'DISCOURAGE_UPGRADABLE_NOPS', 'OK'],
  ['1', 'CLAIM_NAME', '', 'EVAL_FALSE'],
  ['', 'SUPPORT_CLAIM SIZE 0 EQUALVERIFY 0 EQUAL', '', 'OK'],
  ['', 'UPDATE_CLAIM NOT', '', 'OK'],
  ['1', '0 IF CLAIM_NAME ENDIF', '', 'OK'],
  // Lock times are no-ops without their flag.
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

describe('signatures', () => {
  const key = testKey(1);
  const other = testKey(2);
  const p2pk = buildScript(key.compressed, OP.OP_CHECKSIG);
  const p2pkh = buildScript(
    OP.OP_DUP,
    OP.OP_HASH160,
    hash160(key.compressed),
    OP.OP_EQUALVERIFY,
    OP.OP_CHECKSIG,
  );

  it('spend a public key and a public key hash', () => {
    expect(spend(pushData(sign(key, p2pk)), p2pk, STANDARD)).toBe('OK');
    expect(spend(buildScript(sign(key, p2pkh), key.compressed), p2pkh, STANDARD)).toBe('OK');
    expect(spend(buildScript(sign(other, p2pkh), key.compressed), p2pkh, P2SH)).toBe('EVAL_FALSE');
    expect(spend(buildScript(sign(other, p2pkh), key.compressed), p2pkh, STANDARD)).toBe('SIG_NULLFAIL');
    expect(spend(buildScript(sign(key, p2pkh), other.compressed), p2pkh, STANDARD)).toBe('EQUALVERIFY');
    expect(spend(buildScript(OP.OP_0), p2pk, STANDARD)).toBe('EVAL_FALSE');
    expect(spend(EMPTY, p2pk, STANDARD)).toBe('INVALID_STACK_OPERATION');
  });

  it('fail at once in the VERIFY form', () => {
    const verify = buildScript(key.compressed, OP.OP_CHECKSIGVERIFY, OP.OP_1);
    expect(spend(pushData(sign(key, verify)), verify, STANDARD)).toBe('OK');
    expect(spend(pushData(sign(other, verify)), verify, NONE)).toBe('CHECKSIGVERIFY');
  });

  it('sign what their hash type says', () => {
    for (const type of [1, 2, 3, 0x81, 0x82, 0x83]) {
      expect(spend(pushData(sign(key, p2pk, SIG_VERSION.BASE, type)), p2pk, STANDARD)).toBe('OK');
    }
    const undefinedType = pushData(sign(key, p2pk, SIG_VERSION.BASE, 5));
    expect(spend(undefinedType, p2pk, NONE)).toBe('OK');
    expect(spend(undefinedType, p2pk, SCRIPT_VERIFY.STRICTENC)).toBe('SIG_HASHTYPE');
    const changedType = Buffer.from(sign(key, p2pk));
    changedType[changedType.length - 1] = 2;
    expect(spend(pushData(changedType), p2pk, NONE)).toBe('EVAL_FALSE');
  });

  it('are judged by their encoding first', () => {
    const good = sign(key, p2pk);
    const padded = Buffer.concat([
      good.subarray(0, 1),
      Buffer.of(good[1]! + 1, 2, good[3]! + 1, 0),
      good.subarray(4),
    ]);
    expect(spend(pushData(padded), p2pk, NONE)).toBe('OK');
    expect(spend(pushData(padded), p2pk, SCRIPT_VERIFY.DERSIG)).toBe('SIG_DER');
    const hybrid = Buffer.from(key.full);
    hybrid[0] = 6 | (hybrid[64]! & 1);
    const toHybrid = buildScript(hybrid, OP.OP_CHECKSIG);
    expect(spend(pushData(sign(key, toHybrid)), toHybrid, NONE)).toBe('OK');
    expect(spend(pushData(sign(key, toHybrid)), toHybrid, SCRIPT_VERIFY.STRICTENC)).toBe('PUBKEYTYPE');
  });

  it('cover the script from the last executed separator on', () => {
    const tail = buildScript(key.compressed, OP.OP_CHECKSIG);
    const script = Buffer.concat([buildScript(OP.OP_1, OP.OP_DROP, OP.OP_CODESEPARATOR), tail]);
    expect(spend(pushData(sign(key, tail)), script, NONE)).toBe('OK');
    expect(spend(pushData(sign(key, script)), script, NONE)).toBe('EVAL_FALSE');
    expect(spend(pushData(sign(key, tail)), script, SCRIPT_VERIFY.CONST_SCRIPTCODE)).toBe('OP_CODESEPARATOR');
    const skipped = Buffer.concat([buildScript(OP.OP_0, OP.OP_IF, OP.OP_CODESEPARATOR, OP.OP_ENDIF), tail]);
    expect(spend(pushData(sign(key, skipped)), skipped, NONE)).toBe('OK');
    expect(spend(pushData(sign(key, skipped)), skipped, SCRIPT_VERIFY.CONST_SCRIPTCODE)).toBe(
      'OP_CODESEPARATOR',
    );
  });

  it('are deleted from the script that they sign', () => {
    const signed = Buffer.concat([buildScript(OP.OP_DROP), buildScript(key.compressed, OP.OP_CHECKSIG)]);
    const signature = sign(key, signed);
    const script = Buffer.concat([pushData(signature), signed]);
    expect(spend(pushData(signature), script, NONE)).toBe('OK');
    expect(spend(pushData(signature), script, SCRIPT_VERIFY.CONST_SCRIPTCODE)).toBe('SIG_FINDANDDELETE');
  });

  describe('of many', () => {
    const keys = [1, 2, 3].map(testKey);
    const twoOfThree = buildScript(OP.OP_2, ...keys.map((k) => k.compressed), OP.OP_3, OP.OP_CHECKMULTISIG);
    const signatures = keys.map((k) => sign(k, twoOfThree));

    it('must be enough and in the order of the keys', () => {
      for (const [a, b, expected] of [
        [0, 1, 'OK'],
        [0, 2, 'OK'],
        [1, 2, 'OK'],
        [1, 0, 'EVAL_FALSE'],
        [2, 0, 'EVAL_FALSE'],
        [0, 0, 'EVAL_FALSE'],
      ] as const) {
        expect(
          spend(buildScript(OP.OP_0, signatures[a]!, signatures[b]!), twoOfThree, P2SH),
          `${a} ${b}`,
        ).toBe(expected);
      }
    });

    it('consume one element more, which may have to be empty', () => {
      const scriptSig = buildScript(OP.OP_1, signatures[0]!, signatures[1]!);
      expect(spend(scriptSig, twoOfThree, P2SH)).toBe('OK');
      expect(spend(scriptSig, twoOfThree, SCRIPT_VERIFY.NULLDUMMY)).toBe('SIG_NULLDUMMY');
      expect(spend(buildScript(signatures[0]!, signatures[1]!), twoOfThree, P2SH)).toBe(
        'INVALID_STACK_OPERATION',
      );
    });

    it('must be empty when they fail on purpose', () => {
      const not = Buffer.concat([twoOfThree, Buffer.of(OP.OP_NOT)]);
      expect(spend(buildScript(OP.OP_0, OP.OP_0, OP.OP_0), not, SCRIPT_VERIFY.NULLFAIL)).toBe('OK');
      expect(spend(buildScript(OP.OP_0, signatures[0]!, OP.OP_0), not, NONE)).toBe('OK');
      expect(spend(buildScript(OP.OP_0, signatures[0]!, OP.OP_0), not, SCRIPT_VERIFY.NULLFAIL)).toBe(
        'SIG_NULLFAIL',
      );
    });

    it('are looked at from the top, and no further than needed', () => {
      const broken = Buffer.of(0x30, 1);
      // Too many have failed before the lower one is reached.
      const not = Buffer.concat([twoOfThree, Buffer.of(OP.OP_NOT)]);
      const never = buildScript(OP.OP_0, broken, sign(testKey(9), twoOfThree));
      expect(spend(never, not, SCRIPT_VERIFY.DERSIG)).toBe('OK');
      const first = buildScript(OP.OP_0, sign(testKey(9), twoOfThree), broken);
      expect(spend(first, not, SCRIPT_VERIFY.DERSIG)).toBe('SIG_DER');
    });

    it('fail at once in the VERIFY form', () => {
      const verify = buildScript(OP.OP_1, keys[0]!.compressed, OP.OP_1, OP.OP_CHECKMULTISIGVERIFY, OP.OP_1);
      expect(spend(buildScript(OP.OP_0, sign(keys[0]!, verify)), verify, STANDARD)).toBe('OK');
      expect(spend(buildScript(OP.OP_0, OP.OP_0), verify, NONE)).toBe('CHECKMULTISIGVERIFY');
    });
  });
});

describe('findAndDelete', () => {
  it('deletes where an operation begins, and nowhere else', () => {
    const cut = (script: string, pattern: string): string =>
      toHex(findAndDelete(fromHex(script), fromHex(pattern)));
    expect(cut('5152', '')).toBe('5152');
    expect(cut('515251', '51')).toBe('52');
    expect(cut('02515251', '51')).toBe('025152');
    expect(cut('0302ff030302ff03', '0302ff03')).toBe('');
    expect(cut('0302ff030302ff03', '02')).toBe('0302ff030302ff03');
    // Behind a deleted part reading goes on there, in the middle of what was a push.
    expect(cut('0302ff030302ff03', '03')).toBe('02ff0302ff03');
    expect(cut('02feed5169', 'feed51')).toBe('02feed5169');
    expect(cut('02feed5169', '02feed51')).toBe('69');
    expect(cut('5105ff', '05')).toBe('51ff');
    expect(cut('5105ff51', '51')).toBe('05ff51');
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

describe('pay to script hash', () => {
  const redeem = buildScript(OP.OP_ADD, OP.OP_5, OP.OP_EQUAL);
  const script = buildScript(OP.OP_HASH160, hash160(redeem), OP.OP_EQUAL);

  it('runs the redeem script where the flag is on', () => {
    expect(spend(buildScript(OP.OP_2, OP.OP_3, redeem), script, P2SH)).toBe('OK');
    expect(spend(buildScript(OP.OP_2, OP.OP_2, redeem), script, P2SH)).toBe('EVAL_FALSE');
    expect(spend(buildScript(OP.OP_2, OP.OP_2, redeem), script, NONE)).toBe('OK');
    expect(spend(buildScript(OP.OP_1, OP.OP_2, OP.OP_3, redeem), script, P2SH)).toBe('OK');
    expect(spend(buildScript(OP.OP_1, OP.OP_2, OP.OP_3, redeem), script, STANDARD)).toBe('CLEANSTACK');
  });

  it('wants nothing but pushes', () => {
    const scriptSig = buildScript(OP.OP_2, OP.OP_3, OP.OP_NOP, redeem);
    expect(spend(scriptSig, script, NONE)).toBe('OK');
    expect(spend(scriptSig, script, P2SH)).toBe('SIG_PUSHONLY');
  });

  it('takes a redeem script of up to 20,000 bytes', () => {
    const large = Buffer.concat([pushData(Buffer.alloc(19_990, 1)), Buffer.of(OP.OP_DROP, OP.OP_1)]);
    expect(spend(pushData(large), buildScript(OP.OP_HASH160, hash160(large), OP.OP_EQUAL), P2SH)).toBe('OK');
  });
});

describe('witness programs', () => {
  const key = testKey(1);
  const keyHash = hash160(key.compressed);
  const byKey = buildScript(OP.OP_0, keyHash);
  const keyCode = buildScript(OP.OP_DUP, OP.OP_HASH160, keyHash, OP.OP_EQUALVERIFY, OP.OP_CHECKSIG);
  const keyWitness = [sign(key, keyCode, WITNESS_V0), key.compressed];
  const inner = buildScript(key.compressed, OP.OP_CHECKSIG);
  const byScript = buildScript(OP.OP_0, sha256(inner));
  const scriptWitness = [sign(key, inner, WITNESS_V0), inner];

  it('are spent by key and by script', () => {
    expect(spend(EMPTY, byKey, STANDARD, keyWitness)).toBe('OK');
    expect(spend(EMPTY, byScript, STANDARD, scriptWitness)).toBe('OK');
    expect(spend(EMPTY, byKey, P2SH)).toBe('OK');
    expect(spend(EMPTY, byKey, WITNESS)).toBe('WITNESS_PROGRAM_MISMATCH');
    expect(spend(EMPTY, byScript, WITNESS)).toBe('WITNESS_PROGRAM_WITNESS_EMPTY');
    expect(spend(EMPTY, byScript, WITNESS, [scriptWitness[0]!, keyCode])).toBe('WITNESS_PROGRAM_MISMATCH');
    expect(spend(EMPTY, byKey, WITNESS, [...keyWitness, EMPTY])).toBe('WITNESS_PROGRAM_MISMATCH');
    expect(spend(EMPTY, byKey, WITNESS, [sign(key, keyCode), key.compressed])).toBe('EVAL_FALSE');
  });

  it('are spent through P2SH', () => {
    const script = buildScript(OP.OP_HASH160, hash160(byKey), OP.OP_EQUAL);
    expect(spend(pushData(byKey), script, STANDARD, keyWitness)).toBe('OK');
    expect(spend(Buffer.concat([Buffer.of(OP.OP_1), pushData(byKey)]), script, WITNESS, keyWitness)).toBe(
      'WITNESS_MALLEATED_P2SH',
    );
    expect(
      spend(Buffer.concat([Buffer.of(OP.OP_PUSHDATA1, byKey.length), byKey]), script, WITNESS, keyWitness),
    ).toBe('WITNESS_MALLEATED_P2SH');
  });

  it('allow no scriptSig and no witness where none belongs', () => {
    expect(spend(Buffer.of(OP.OP_1), byKey, WITNESS, keyWitness)).toBe('WITNESS_MALLEATED');
    expect(spend(Buffer.of(OP.OP_1), EMPTY, WITNESS, [EMPTY])).toBe('WITNESS_UNEXPECTED');
    expect(spend(Buffer.of(OP.OP_1), EMPTY, P2SH, [EMPTY])).toBe('OK');
  });

  it('leave one element whatever the flags, and keep to the size of elements', () => {
    const many = buildScript(OP.OP_1);
    const program = buildScript(OP.OP_0, sha256(many));
    expect(spend(EMPTY, program, WITNESS, [many])).toBe('OK');
    expect(spend(EMPTY, program, WITNESS, [Buffer.of(1), many])).toBe('CLEANSTACK');
    const drop = buildScript(OP.OP_DROP, OP.OP_1);
    const dropper = buildScript(OP.OP_0, sha256(drop));
    expect(spend(EMPTY, dropper, WITNESS, [Buffer.alloc(20_000), drop])).toBe('OK');
    expect(spend(EMPTY, dropper, WITNESS, [Buffer.alloc(20_001), drop])).toBe('PUSH_SIZE');
    const no = buildScript(OP.OP_0);
    expect(spend(EMPTY, buildScript(OP.OP_0, sha256(no)), WITNESS, [no])).toBe('EVAL_FALSE');
  });

  it('of other versions and lengths', () => {
    expect(spend(EMPTY, buildScript(OP.OP_1, keyHash), WITNESS, [Buffer.of(9)])).toBe('OK');
    expect(spend(EMPTY, buildScript(OP.OP_1, keyHash), STANDARD)).toBe(
      'DISCOURAGE_UPGRADABLE_WITNESS_PROGRAM',
    );
    expect(spend(EMPTY, buildScript(OP.OP_0, Buffer.alloc(21, 1)), WITNESS)).toBe(
      'WITNESS_PROGRAM_WRONG_LENGTH',
    );
  });

  it('want compressed keys and minimal conditions by policy', () => {
    const full = buildScript(key.full, OP.OP_CHECKSIG);
    const fullProgram = buildScript(OP.OP_0, sha256(full));
    const witness = [sign(key, full, WITNESS_V0), full];
    expect(spend(EMPTY, fullProgram, WITNESS, witness)).toBe('OK');
    expect(spend(EMPTY, fullProgram, STANDARD, witness)).toBe('WITNESS_PUBKEYTYPE');
    const condition = buildScript(OP.OP_IF, OP.OP_1, OP.OP_ELSE, OP.OP_1, OP.OP_ENDIF);
    const program = buildScript(OP.OP_0, sha256(condition));
    for (const [element, verdict] of [
      ['', 'OK'],
      ['01', 'OK'],
      ['02', 'MINIMALIF'],
      ['00', 'MINIMALIF'],
      ['0100', 'MINIMALIF'],
    ] as const) {
      expect(spend(EMPTY, program, STANDARD, [fromHex(element), condition])).toBe(verdict);
      expect(spend(EMPTY, program, WITNESS, [fromHex(element), condition])).toBe('OK');
    }
    expect(spend(Buffer.of(OP.OP_2), condition, SCRIPT_VERIFY.MINIMALIF)).toBe('OK');
  });

  it('may use a separator, and keep their signatures in the script', () => {
    const tail = buildScript(key.compressed, OP.OP_CHECKSIG);
    const script = Buffer.concat([Buffer.of(OP.OP_CODESEPARATOR), tail]);
    const program = buildScript(OP.OP_0, sha256(script));
    expect(spend(EMPTY, program, STANDARD, [sign(key, tail, WITNESS_V0), script])).toBe('OK');
    expect(spend(EMPTY, program, WITNESS, [sign(key, script, WITNESS_V0), script])).toBe('EVAL_FALSE');
  });
});

describe('outputs with a claim prefix', () => {
  const key = testKey(1);
  const id = Buffer.alloc(20, 3);
  const name = Buffer.from('name');
  const value = Buffer.alloc(100, 7);
  const prefixes = {
    claim: buildClaimPrefix(name, value),
    update: buildUpdatePrefix(name, id, value),
    support: buildSupportPrefix(name, id),
    'support with metadata': buildSupportPrefix(name, id, value),
  };
  const keyHash = hash160(key.compressed);
  const p2pkh = buildScript(OP.OP_DUP, OP.OP_HASH160, keyHash, OP.OP_EQUALVERIFY, OP.OP_CHECKSIG);

  it.each(Object.entries(prefixes))('are spent like others: %s', (_kind, prefix) => {
    const toKeyHash = Buffer.concat([prefix, p2pkh]);
    expect(spend(buildScript(sign(key, toKeyHash), key.compressed), toKeyHash, STANDARD)).toBe('OK');
    // The signature covers the prefix.
    expect(spend(buildScript(sign(key, p2pkh), key.compressed), toKeyHash, P2SH)).toBe('EVAL_FALSE');

    const redeem = buildScript(key.compressed, OP.OP_CHECKSIG);
    const toScriptHash = Buffer.concat([prefix, buildScript(OP.OP_HASH160, hash160(redeem), OP.OP_EQUAL)]);
    expect(spend(buildScript(sign(key, redeem), redeem), toScriptHash, STANDARD)).toBe('OK');
    expect(spend(buildScript(OP.OP_0, redeem), toScriptHash, P2SH)).toBe('EVAL_FALSE');

    const toWitness = Buffer.concat([prefix, buildScript(OP.OP_0, keyHash)]);
    const witness = [sign(key, p2pkh, WITNESS_V0), key.compressed];
    expect(spend(EMPTY, toWitness, STANDARD, witness)).toBe('OK');
    expect(spend(EMPTY, toWitness, WITNESS, [])).toBe('WITNESS_PROGRAM_MISMATCH');
    expect(spend(Buffer.of(OP.OP_1), toWitness, WITNESS, witness)).toBe('WITNESS_MALLEATED');
  });

  it('do not enforce minimal pushes, in the scriptSig neither', () => {
    const long = Buffer.concat([
      Buffer.of(OP.OP_CLAIM_NAME, OP.OP_PUSHDATA1, 4),
      name,
      pushData(value),
      Buffer.of(OP.OP_2DROP, OP.OP_DROP),
    ]);
    expect(spend(Buffer.of(OP.OP_1), long, STANDARD)).toBe('OK');
    expect(spend(fromHex('0101'), Buffer.concat([prefixes.claim]), STANDARD)).toBe('OK');
    expect(spend(fromHex('0101'), EMPTY, STANDARD)).toBe('MINIMALDATA');
  });

  it('lift minimal pushes by the opcode alone, even when the prefix is not whole', () => {
    const notWhole = buildScript(OP.OP_CLAIM_NAME, OP.OP_DROP);
    expect(spend(fromHex('0101'), notWhole, STANDARD)).toBe('OK');
    expect(spend(fromHex('0101'), buildScript(OP.OP_NOP, OP.OP_CLAIM_NAME, OP.OP_DROP), STANDARD)).toBe(
      'MINIMALDATA',
    );
  });

  it('are no script hash behind a prefix that is not whole', () => {
    const redeem = buildScript(OP.OP_0);
    const toScriptHash = buildScript(OP.OP_HASH160, hash160(redeem), OP.OP_EQUAL);
    const script = Buffer.concat([buildScript(OP.OP_CLAIM_NAME, OP.OP_DROP), toScriptHash]);
    expect(spend(pushData(redeem), script, P2SH)).toBe('OK');
    expect(spend(pushData(redeem), Buffer.concat([prefixes.claim, toScriptHash]), P2SH)).toBe('EVAL_FALSE');
  });
});

describe('combinations of flags', () => {
  it('that need others are a bug without them', () => {
    expect(() => spend(Buffer.of(OP.OP_1), EMPTY, SCRIPT_VERIFY.CLEANSTACK)).toThrow('CLEANSTACK');
    expect(() => spend(Buffer.of(OP.OP_1), EMPTY, SCRIPT_VERIFY.WITNESS)).toThrow('WITNESS');
  });
});

describe('messages', () => {
  it('are the reference texts, none for the unknown error', () => {
    expect(scriptErrorMessage(SCRIPT_ERROR.OK)).toBe('No error');
    expect(scriptErrorMessage(SCRIPT_ERROR.PUBKEYTYPE)).toBe(
      'Public key is neither compressed or uncompressed',
    );
    expect(scriptErrorMessage(SCRIPT_ERROR.UNKNOWN_ERROR)).toBe('unknown error');
    const texts = Object.values(SCRIPT_ERROR).map(scriptErrorMessage);
    expect(new Set(texts).size).toBe(texts.length);
  });
});
