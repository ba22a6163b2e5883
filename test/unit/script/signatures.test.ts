/** Signatures in scripts: their hashes, their encodings, and multisig. */
import { describe, expect, it } from 'vitest';
import { hash160 } from '../../../src/crypto/hash.js';
import { SCRIPT_VERIFY, STANDARD_SCRIPT_VERIFY_FLAGS } from '../../../src/script/flags.js';
import { OP } from '../../../src/script/opcodes.js';
import { buildScript, pushData } from '../../../src/script/script.js';
import { SIG_VERSION } from '../../../src/script/sighash.js';
import { findAndDelete } from '../../../src/script/signatureOps.js';
import { fromHex, toHex } from '../../../src/util/bytes.js';
import { sign, spend, testKey } from './spending.js';

const NONE = 0;
const P2SH = SCRIPT_VERIFY.P2SH;
const STANDARD = STANDARD_SCRIPT_VERIFY_FLAGS;
const EMPTY = Buffer.alloc(0);

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

  it('cover the parts that their hash type selects', () => {
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

  it('are checked by their encoding first', () => {
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

  describe('of multisig', () => {
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

    it('consume one additional element, which may have to be empty', () => {
      const scriptSig = buildScript(OP.OP_1, signatures[0]!, signatures[1]!);
      expect(spend(scriptSig, twoOfThree, P2SH)).toBe('OK');
      expect(spend(scriptSig, twoOfThree, SCRIPT_VERIFY.NULLDUMMY)).toBe('SIG_NULLDUMMY');
      expect(spend(buildScript(signatures[0]!, signatures[1]!), twoOfThree, P2SH)).toBe(
        'INVALID_STACK_OPERATION',
      );
    });

    it('must be empty if they fail on purpose', () => {
      const not = Buffer.concat([twoOfThree, Buffer.of(OP.OP_NOT)]);
      expect(spend(buildScript(OP.OP_0, OP.OP_0, OP.OP_0), not, SCRIPT_VERIFY.NULLFAIL)).toBe('OK');
      expect(spend(buildScript(OP.OP_0, signatures[0]!, OP.OP_0), not, NONE)).toBe('OK');
      expect(spend(buildScript(OP.OP_0, signatures[0]!, OP.OP_0), not, SCRIPT_VERIFY.NULLFAIL)).toBe(
        'SIG_NULLFAIL',
      );
    });

    it('are checked from the top, and no further than needed', () => {
      const broken = Buffer.of(0x30, 1);
      // The multisig check fails before it reaches the malformed signature.
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
  it('deletes at the beginning of an operation only', () => {
    const cut = (script: string, pattern: string): string =>
      toHex(findAndDelete(fromHex(script), fromHex(pattern)));
    expect(cut('5152', '')).toBe('5152');
    expect(cut('515251', '51')).toBe('52');
    expect(cut('02515251', '51')).toBe('025152');
    expect(cut('0302ff030302ff03', '0302ff03')).toBe('');
    expect(cut('0302ff030302ff03', '02')).toBe('0302ff030302ff03');
    // After a deleted part, parsing continues at the next byte, in the middle of a former push.
    expect(cut('0302ff030302ff03', '03')).toBe('02ff0302ff03');
    expect(cut('02feed5169', 'feed51')).toBe('02feed5169');
    expect(cut('02feed5169', '02feed51')).toBe('69');
    expect(cut('5105ff', '05')).toBe('51ff');
    expect(cut('5105ff51', '51')).toBe('05ff51');
  });
});
