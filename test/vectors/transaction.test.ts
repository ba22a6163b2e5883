/** The reference's tx_valid.json, tx_invalid.json and sighash.json, as its transaction_tests.cpp and sighash_tests.cpp run them. */
import { describe, expect, it } from 'vitest';
import { checkTransaction } from '../../src/consensus/checkTransaction.js';
import { parseTransaction, type OutPoint, type Transaction } from '../../src/primitives/transaction.js';
import { hashFromHex, hashToHex, toHex, type Bytes } from '../../src/util/bytes.js';
import { Reader } from '../../src/util/reader.js';
import { TransactionChecker } from '../../src/script/checker.js';
import { verifyScript } from '../../src/script/interpreter.js';
import { SCRIPT_ERROR } from '../../src/script/scriptError.js';
import { PrecomputedSighash, SIG_VERSION, signatureHash } from '../../src/script/sighash.js';
import { parseFlags, parseScript, readCoreVectors } from './support.js';

interface Coin {
  script: Bytes;
  amount: bigint;
}

interface TransactionCase {
  tx: Transaction;
  coins: Map<string, Coin>;
  flags: number;
  text: string;
}

function coinKey(outPoint: OutPoint): string {
  return `${toHex(outPoint.hash)}:${outPoint.index}`;
}

function parseHexTransaction(hex: string): Transaction {
  return parseTransaction(new Reader(Buffer.from(hex, 'hex')));
}

/** Null for a comment. */
function parseCase(row: unknown[]): TransactionCase | null {
  if (!Array.isArray(row[0])) return null;
  const [inputs, hex, flags] = row as [[string, number, string, number?][], string, string];
  const coins = new Map<string, Coin>();
  for (const [hash, index, script, amount] of inputs) {
    const key = coinKey({ hash: hashFromHex(hash), index: index >>> 0 });
    coins.set(key, { script: parseScript(script), amount: BigInt(amount ?? 0) });
  }
  return { tx: parseHexTransaction(hex), coins, flags: parseFlags(flags), text: JSON.stringify(row) };
}

function parseCases(rows: unknown[] | null): TransactionCase[] {
  return (rows ?? []).map((row) => parseCase(row as unknown[])).filter((test) => test !== null);
}

/** Whether the transaction passes its own checks and all its inputs' scripts. */
function passes(test: TransactionCase): boolean {
  if (checkTransaction(test.tx) !== null) return false;
  const shared = new PrecomputedSighash(test.tx);
  return test.tx.inputs.every((input, i) => {
    const coin = test.coins.get(coinKey(input.prevout));
    if (coin === undefined) throw new Error(`no coin for input ${i} of ${test.text}`);
    const checker = new TransactionChecker(test.tx, i, coin.amount, shared);
    return verifyScript(input.scriptSig, coin.script, input.witness, test.flags, checker) === SCRIPT_ERROR.OK;
  });
}

const validRows = readCoreVectors('tx_valid.json');
const invalidRows = readCoreVectors('tx_invalid.json');
const sighashRows = readCoreVectors('sighash.json');

describe.skipIf(validRows === null)('tx_valid.json', () => {
  it('accepts every transaction', () => {
    const cases = parseCases(validRows);
    for (const test of cases) expect(passes(test), test.text).toBe(true);
    console.log(`tx_valid.json: ${cases.length} cases`);
    expect(cases.length).toBeGreaterThan(100);
  });
});

describe.skipIf(invalidRows === null)('tx_invalid.json', () => {
  it('refuses every transaction', () => {
    const cases = parseCases(invalidRows);
    for (const test of cases) expect(passes(test), test.text).toBe(false);
    console.log(`tx_invalid.json: ${cases.length} cases`);
    expect(cases.length).toBeGreaterThan(70);
  });
});

describe.skipIf(sighashRows === null)('sighash.json', () => {
  it('hashes every case alike', () => {
    const cases = (sighashRows ?? []).filter((row) => (row as unknown[]).length > 1);
    for (const row of cases) {
      const [hex, script, index, hashType, expected] = row as [string, string, number, number, string];
      const tx = parseHexTransaction(hex);
      expect(checkTransaction(tx), hex).toBeNull();
      const hash = signatureHash(Buffer.from(script, 'hex'), tx, index, hashType, 0n, SIG_VERSION.BASE);
      expect(hashToHex(hash), hex).toBe(expected);
    }
    console.log(`sighash.json: ${cases.length} cases`);
    expect(cases.length).toBe(500);
  });
});
