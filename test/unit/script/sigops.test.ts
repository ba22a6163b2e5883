import { describe, expect, it } from 'vitest';
import { buildClaimPrefix } from '../../../src/script/claimScript.js';
import { SCRIPT_VERIFY } from '../../../src/script/flags.js';
import { OP } from '../../../src/script/opcodes.js';
import { buildScript, pushData } from '../../../src/script/script.js';
import { countLegacySigops, countP2shSigops, countWitnessSigops } from '../../../src/script/sigops.js';
import { fromHex } from '../../../src/util/bytes.js';

const KEY = Buffer.alloc(33, 2);
const TWO_OF_THREE = buildScript(OP.OP_2, KEY, KEY, KEY, OP.OP_3, OP.OP_CHECKMULTISIG);
const P2SH_OUTPUT = buildScript(OP.OP_HASH160, Buffer.alloc(20), OP.OP_EQUAL);
const CLAIM = buildClaimPrefix(Buffer.from('n'), Buffer.from('v'));
const EMPTY = Buffer.alloc(0);

describe('countLegacySigops', () => {
  it('counts 20 for a multisig unless its keys are counted', () => {
    expect(countLegacySigops(TWO_OF_THREE, false)).toBe(20);
    expect(countLegacySigops(TWO_OF_THREE, true)).toBe(3);
    expect(countLegacySigops(buildScript(OP.OP_CHECKMULTISIG), true)).toBe(20);
    expect(countLegacySigops(buildScript(OP.OP_0, OP.OP_CHECKMULTISIG), true)).toBe(20);
    expect(countLegacySigops(buildScript(OP.OP_16, OP.OP_CHECKMULTISIGVERIFY), true)).toBe(16);
    expect(countLegacySigops(buildScript(OP.OP_1, OP.OP_NOP, OP.OP_CHECKMULTISIG), true)).toBe(20);
  });

  it('counts CHECKSIG anywhere except within pushes', () => {
    expect(countLegacySigops(fromHex('acad6363ac'), false)).toBe(3);
    expect(countLegacySigops(fromHex('02acac'), false)).toBe(0);
  });

  it('stops at a push that exceeds the script', () => {
    expect(countLegacySigops(fromHex('ac4c05acac'), false)).toBe(1);
    expect(countLegacySigops(fromHex('ac4dff'), true)).toBe(1);
  });

  it('does not strip a claim prefix', () => {
    const inside = Buffer.concat([buildScript(OP.OP_CLAIM_NAME, OP.OP_CHECKSIG), CLAIM]);
    expect(countLegacySigops(inside, false)).toBe(1);
  });
});

describe('countP2shSigops', () => {
  it('counts the redeem script accurately, behind a claim prefix too', () => {
    const scriptSig = buildScript(OP.OP_0, TWO_OF_THREE);
    expect(countP2shSigops(scriptSig, P2SH_OUTPUT)).toBe(3);
    expect(countP2shSigops(scriptSig, Buffer.concat([CLAIM, P2SH_OUTPUT]))).toBe(3);
    expect(countP2shSigops(scriptSig, buildScript(OP.OP_CHECKSIG))).toBe(0);
    expect(countP2shSigops(scriptSig, Buffer.concat([CLAIM.subarray(0, 5), P2SH_OUTPUT]))).toBe(0);
  });

  it('is 0 if the scriptSig has other operations than pushes', () => {
    expect(countP2shSigops(buildScript(OP.OP_NOP, TWO_OF_THREE), P2SH_OUTPUT)).toBe(0);
    expect(countP2shSigops(pushData(TWO_OF_THREE).subarray(0, 50), P2SH_OUTPUT)).toBe(0);
    expect(countP2shSigops(EMPTY, P2SH_OUTPUT)).toBe(0);
    // The last push counts: here it is the empty one of OP_1.
    expect(countP2shSigops(buildScript(TWO_OF_THREE, OP.OP_1), P2SH_OUTPUT)).toBe(0);
  });
});

describe('countWitnessSigops', () => {
  const flags = SCRIPT_VERIFY.P2SH | SCRIPT_VERIFY.WITNESS;
  const byKey = buildScript(OP.OP_0, Buffer.alloc(20));
  const byScript = buildScript(OP.OP_0, Buffer.alloc(32));
  const witness = [EMPTY, TWO_OF_THREE];

  it('counts programs of version 0, native and within P2SH', () => {
    expect(countWitnessSigops(EMPTY, byKey, [], flags)).toBe(1);
    expect(countWitnessSigops(EMPTY, byScript, witness, flags)).toBe(3);
    expect(countWitnessSigops(EMPTY, byScript, [], flags)).toBe(0);
    expect(countWitnessSigops(pushData(byKey), P2SH_OUTPUT, [], flags)).toBe(1);
    expect(countWitnessSigops(pushData(byScript), P2SH_OUTPUT, witness, flags)).toBe(3);
    expect(countWitnessSigops(EMPTY, Buffer.concat([CLAIM, byKey]), [], flags)).toBe(1);
    expect(countWitnessSigops(pushData(byKey), Buffer.concat([CLAIM, P2SH_OUTPUT]), [], flags)).toBe(1);
  });

  it('counts nothing for other programs', () => {
    expect(countWitnessSigops(EMPTY, byKey, [], SCRIPT_VERIFY.P2SH)).toBe(0);
    expect(countWitnessSigops(EMPTY, buildScript(OP.OP_1, Buffer.alloc(20)), [], flags)).toBe(0);
    expect(countWitnessSigops(EMPTY, buildScript(OP.OP_0, Buffer.alloc(21)), [], flags)).toBe(0);
    expect(countWitnessSigops(buildScript(OP.OP_NOP, byKey), P2SH_OUTPUT, [], flags)).toBe(0);
    expect(countWitnessSigops(EMPTY, TWO_OF_THREE, witness, flags)).toBe(0);
  });

  it('treats WITNESS without P2SH as a bug', () => {
    expect(() => countWitnessSigops(EMPTY, byKey, [], SCRIPT_VERIFY.WITNESS)).toThrow('WITNESS without P2SH');
  });
});
