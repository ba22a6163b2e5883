/** The reference's script_tests.json, as its script_tests.cpp runs it. */
import { describe, expect, it } from 'vitest';
import { ecdsaBackend } from '../../src/crypto/ecdsa.js';
import { fallbackEcdsa } from '../../src/crypto/ecdsaFallback.js';
import { txid, type Transaction } from '../../src/primitives/transaction.js';
import { EMPTY_BYTES, type Bytes } from '../../src/util/bytes.js';
import { TransactionChecker } from '../../src/script/checker.js';
import { SCRIPT_VERIFY } from '../../src/script/flags.js';
import { verifyScript } from '../../src/script/interpreter.js';
import { SCRIPT_ERROR, type ScriptErrorCode } from '../../src/script/scriptError.js';
import { PrecomputedSighash } from '../../src/script/sighash.js';
import { parseFlags, parseScript, readCoreVectors } from './support.js';

/** A transaction that spends an output with this script. The output belongs to an artificial coinbase. */
function spendingTransaction(
  scriptPubKey: Bytes,
  scriptSig: Bytes,
  witness: Bytes[],
  amount: bigint,
): Transaction {
  const credit: Transaction = {
    version: 1,
    inputs: [
      {
        prevout: { hash: Buffer.alloc(32), index: 0xffffffff },
        scriptSig: Buffer.of(0, 0),
        sequence: 0xffffffff,
        witness: [],
      },
    ],
    outputs: [{ value: amount, script: scriptPubKey }],
    lockTime: 0,
  };
  return {
    version: 1,
    inputs: [{ prevout: { hash: txid(credit), index: 0 }, scriptSig, sequence: 0xffffffff, witness }],
    outputs: [{ value: amount, script: EMPTY_BYTES }],
    lockTime: 0,
  };
}

interface ScriptCase {
  witness: Buffer[];
  amount: bigint;
  scriptSig: Buffer;
  scriptPubKey: Buffer;
  flags: number;
  expected: ScriptErrorCode;
  text: string;
}

function errorCode(name: string): ScriptErrorCode {
  const code = (SCRIPT_ERROR as Record<string, ScriptErrorCode>)[name === 'NULLFAIL' ? 'SIG_NULLFAIL' : name];
  if (code === undefined) throw new Error(`unknown script error ${name}`);
  return code;
}

/** Null for a comment. */
function parseCase(row: unknown[]): ScriptCase | null {
  const text = JSON.stringify(row);
  let witness: Buffer[] = [];
  let amount = 0n;
  let fields = row;
  if (Array.isArray(row[0])) {
    const items = row[0] as unknown[];
    witness = items.slice(0, -1).map((hex) => Buffer.from(hex as string, 'hex'));
    amount = BigInt(Math.round((items[items.length - 1] as number) * 1e8));
    fields = row.slice(1);
  }
  if (fields.length === 1) return null;
  if (fields.length < 4) throw new Error(`bad case ${text}`);
  const [scriptSig, scriptPubKey, flags, expected] = fields as [string, string, string, string];
  let bits = parseFlags(flags);
  if (bits & SCRIPT_VERIFY.CLEANSTACK) bits |= SCRIPT_VERIFY.P2SH | SCRIPT_VERIFY.WITNESS;
  return {
    witness,
    amount,
    scriptSig: parseScript(scriptSig),
    scriptPubKey: parseScript(scriptPubKey),
    flags: bits,
    expected: errorCode(expected),
    text,
  };
}

function run(test: ScriptCase, flags: number, ecdsa = ecdsaBackend()): ScriptErrorCode {
  const tx = spendingTransaction(test.scriptPubKey, test.scriptSig, test.witness, test.amount);
  const checker = new TransactionChecker(tx, 0, test.amount, new PrecomputedSighash(tx), ecdsa);
  return verifyScript(test.scriptSig, test.scriptPubKey, test.witness, flags, checker);
}

/** Whether the interpreter accepts the combination of flags. */
function isMeaningful(flags: number): boolean {
  if (flags & SCRIPT_VERIFY.CLEANSTACK && ~flags & (SCRIPT_VERIFY.P2SH | SCRIPT_VERIFY.WITNESS)) return false;
  return !(flags & SCRIPT_VERIFY.WITNESS && ~flags & SCRIPT_VERIFY.P2SH);
}

/** Repeatable pseudo-random 16 bits. */
function makeRandomBits(): () => number {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return state >>> 16;
  };
}

const rows = readCoreVectors('script_tests.json');

describe.skipIf(rows === null)('script_tests.json', () => {
  const cases = (rows ?? []).map((row) => parseCase(row as unknown[])).filter((test) => test !== null);

  it('gives each case its error', () => {
    for (const test of cases) expect(run(test, test.flags), test.text).toBe(test.expected);
    console.log(`script_tests.json: ${cases.length} cases`);
    expect(cases.length).toBeGreaterThan(1000);
  });

  it('gives each case its error with the readable ECDSA too', () => {
    for (const test of cases) expect(run(test, test.flags, fallbackEcdsa), test.text).toBe(test.expected);
  });

  it('a passing case passes with fewer flags, a failing one fails with more', () => {
    const randomBits = makeRandomBits();
    let combinations = 0;
    for (const test of cases) {
      const passes = test.expected === SCRIPT_ERROR.OK;
      for (let i = 0; i < 16; i++) {
        const extra = randomBits();
        const flags = passes ? test.flags & ~extra : test.flags | extra;
        if (!isMeaningful(flags)) continue;
        combinations += 1;
        expect(run(test, flags) === SCRIPT_ERROR.OK, `${test.text} with flags ${flags}`).toBe(passes);
      }
    }
    console.log(`script_tests.json: ${combinations} further combinations of flags`);
    expect(combinations).toBeGreaterThan(cases.length);
  });
});
