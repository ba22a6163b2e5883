/** Keys, signatures and a spending transaction for the tests of the interpreter. */
import { ecdsaBackend, signHash } from '../../../src/crypto/ecdsa.js';
import type { Transaction } from '../../../src/primitives/transaction.js';
import { TransactionChecker } from '../../../src/script/checker.js';
import { verifyScript } from '../../../src/script/interpreter.js';
import { SCRIPT_ERROR, type ScriptErrorName } from '../../../src/script/scriptError.js';
import { SIG_VERSION, signatureHash, type SigVersion } from '../../../src/script/sighash.js';
import type { Bytes } from '../../../src/util/bytes.js';

export interface TestKey {
  secret: Buffer;
  compressed: Buffer;
  full: Buffer;
}

export function testKey(seed: number): TestKey {
  const secret = Buffer.alloc(32, seed);
  return {
    secret,
    compressed: ecdsaBackend().publicKeyOf(secret, true),
    full: ecdsaBackend().publicKeyOf(secret, false),
  };
}

export const AMOUNT = 12_345n;

export function spendingTransaction(changes: Partial<Transaction> & { sequence?: number } = {}): Transaction {
  return {
    version: changes.version ?? 2,
    inputs: [
      {
        prevout: { hash: Buffer.alloc(32, 1), index: 0 },
        scriptSig: Buffer.alloc(0),
        sequence: changes.sequence ?? 0xfffffffe,
        witness: [],
      },
    ],
    outputs: [{ value: 1000n, script: Buffer.of(0x51) }],
    lockTime: changes.lockTime ?? 0,
  };
}

export const TX = spendingTransaction();

/** Signature of the first input with its hash type byte. */
export function sign(
  key: TestKey,
  scriptCode: Bytes,
  version: SigVersion = SIG_VERSION.BASE,
  type = 1,
): Buffer {
  const hash = signatureHash(scriptCode, TX, 0, type, AMOUNT, version);
  return Buffer.concat([signHash(hash, key.secret), Buffer.of(type)]);
}

const NAMES = new Map(
  Object.entries(SCRIPT_ERROR).map(([name, code]) => [code as number, name as ScriptErrorName]),
);

/** The verdict by name. */
export function spend(
  scriptSig: Bytes,
  scriptPubKey: Bytes,
  flags: number,
  witness: Bytes[] = [],
  tx: Transaction = TX,
): ScriptErrorName {
  const checker = new TransactionChecker(tx, 0, AMOUNT);
  return NAMES.get(verifyScript(scriptSig, scriptPubKey, witness, flags, checker))!;
}
