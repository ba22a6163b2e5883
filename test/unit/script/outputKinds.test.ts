/** Spending outputs of script hashes and witness programs, also with claim prefixes. */
import { describe, expect, it } from 'vitest';
import { hash160, sha256 } from '../../../src/crypto/hash.js';
import { buildClaimPrefix, buildSupportPrefix, buildUpdatePrefix } from '../../../src/script/claimScript.js';
import { SCRIPT_VERIFY, STANDARD_SCRIPT_VERIFY_FLAGS } from '../../../src/script/flags.js';
import { OP } from '../../../src/script/opcodes.js';
import { buildScript, pushData } from '../../../src/script/script.js';
import { SIG_VERSION } from '../../../src/script/sighash.js';
import { fromHex } from '../../../src/util/bytes.js';
import { sign, spend, testKey } from './spending.js';

const { WITNESS_V0 } = SIG_VERSION;
const NONE = 0;
const P2SH = SCRIPT_VERIFY.P2SH;
const WITNESS = SCRIPT_VERIFY.P2SH | SCRIPT_VERIFY.WITNESS;
const STANDARD = STANDARD_SCRIPT_VERIFY_FLAGS;
const EMPTY = Buffer.alloc(0);

describe('pay to script hash', () => {
  const redeem = buildScript(OP.OP_ADD, OP.OP_5, OP.OP_EQUAL);
  const script = buildScript(OP.OP_HASH160, hash160(redeem), OP.OP_EQUAL);

  it('runs the redeem script if the flag is set', () => {
    expect(spend(buildScript(OP.OP_2, OP.OP_3, redeem), script, P2SH)).toBe('OK');
    expect(spend(buildScript(OP.OP_2, OP.OP_2, redeem), script, P2SH)).toBe('EVAL_FALSE');
    expect(spend(buildScript(OP.OP_2, OP.OP_2, redeem), script, NONE)).toBe('OK');
    expect(spend(buildScript(OP.OP_1, OP.OP_2, OP.OP_3, redeem), script, P2SH)).toBe('OK');
    expect(spend(buildScript(OP.OP_1, OP.OP_2, OP.OP_3, redeem), script, STANDARD)).toBe('CLEANSTACK');
  });

  it('requires pushes only', () => {
    const scriptSig = buildScript(OP.OP_2, OP.OP_3, OP.OP_NOP, redeem);
    expect(spend(scriptSig, script, NONE)).toBe('OK');
    expect(spend(scriptSig, script, P2SH)).toBe('SIG_PUSHONLY');
  });

  it('accepts a redeem script of up to 20,000 bytes', () => {
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

  it('allow no scriptSig, and no witness for other outputs', () => {
    expect(spend(Buffer.of(OP.OP_1), byKey, WITNESS, keyWitness)).toBe('WITNESS_MALLEATED');
    expect(spend(Buffer.of(OP.OP_1), EMPTY, WITNESS, [EMPTY])).toBe('WITNESS_UNEXPECTED');
    expect(spend(Buffer.of(OP.OP_1), EMPTY, P2SH, [EMPTY])).toBe('OK');
  });

  it('must leave one element with any flags, and limit the size of elements', () => {
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

  it('of other versions and lengths are handled as in the reference', () => {
    expect(spend(EMPTY, buildScript(OP.OP_1, keyHash), WITNESS, [Buffer.of(9)])).toBe('OK');
    expect(spend(EMPTY, buildScript(OP.OP_1, keyHash), STANDARD)).toBe(
      'DISCOURAGE_UPGRADABLE_WITNESS_PROGRAM',
    );
    expect(spend(EMPTY, buildScript(OP.OP_0, Buffer.alloc(21, 1)), WITNESS)).toBe(
      'WITNESS_PROGRAM_WRONG_LENGTH',
    );
  });

  it('require compressed keys and minimal conditions by policy', () => {
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

  it('may contain a separator, and signatures in the script', () => {
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
    // The signature must cover the claim prefix.
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

  it('do not enforce minimal pushes, nor does the scriptSig', () => {
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

  it('do not require minimal pushes because of the opcode alone, even if the prefix is incomplete', () => {
    const notWhole = buildScript(OP.OP_CLAIM_NAME, OP.OP_DROP);
    expect(spend(fromHex('0101'), notWhole, STANDARD)).toBe('OK');
    expect(spend(fromHex('0101'), buildScript(OP.OP_NOP, OP.OP_CLAIM_NAME, OP.OP_DROP), STANDARD)).toBe(
      'MINIMALDATA',
    );
  });

  it('are not script hashes behind an incomplete prefix', () => {
    const redeem = buildScript(OP.OP_0);
    const toScriptHash = buildScript(OP.OP_HASH160, hash160(redeem), OP.OP_EQUAL);
    const script = Buffer.concat([buildScript(OP.OP_CLAIM_NAME, OP.OP_DROP), toScriptHash]);
    expect(spend(pushData(redeem), script, P2SH)).toBe('OK');
    expect(spend(pushData(redeem), Buffer.concat([prefixes.claim, toScriptHash]), P2SH)).toBe('EVAL_FALSE');
  });
});
