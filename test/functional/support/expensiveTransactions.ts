/**
 * Transactions that are cheap to send and expensive to validate. Like `rawChain.ts`, this file shares no code with the sources.
 */
import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import { transaction, type Input, type Output } from './rawChain.js';
import { count, list, u32, u64, withLength } from './rawMessages.js';

const sha256 = (data: Buffer): Buffer => createHash('sha256').update(data).digest();

const OP_1 = 0x51;
const CHECKMULTISIG = 0xae;
const CHECKMULTISIGVERIFY = 0xaf;
const NOT = 0x91;
/** Number of keys of a multisig, and number of multisig checks in a script. The signing key is tried last. */
const KEYS = 20;
const CHECKS = 5;
/** SIGHASH_NONE | SIGHASH_ANYONECANPAY: a signature for one input of any transaction. */
const HASH_TYPE = 0x82;
const SEQUENCE = 0xffffffff;
const NO_HASH = Buffer.alloc(32);

function makeKey(): { readonly secret: KeyObject; readonly compressed: Buffer } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'secp256k1' });
  const { x, y } = publicKey.export({ format: 'jwk' });
  const parity = Buffer.from(y!, 'base64url').at(-1)! & 1;
  return {
    secret: privateKey,
    compressed: Buffer.concat([Buffer.of(2 + parity), Buffer.from(x!, 'base64url')]),
  };
}

/** A signature with a low S, as the relay policy requires. */
function signLow(message: Buffer, secret: KeyObject): Buffer {
  for (;;) {
    const der = sign('sha256', sha256(message), { key: secret, dsaEncoding: 'der' });
    const half = der.subarray(4 + der[3]! + 2);
    if (half.length < 32 || (half.length === 32 && half[0]! < 0x7f))
      return Buffer.concat([der, Buffer.of(HASH_TYPE)]);
  }
}

/** Outputs whose spending takes a hundred signature checks, and transactions in which only the last check fails. */
export class ExpensiveSignatures {
  private readonly secret: KeyObject;
  private readonly script: Buffer;
  /** The output script of such an output. */
  readonly outputScript: Buffer;

  constructor() {
    const { secret, compressed } = makeKey();
    this.secret = secret;
    const keys = [compressed, ...Array.from({ length: KEYS - 1 }, () => makeKey().compressed)];
    const check = Buffer.concat([Buffer.of(OP_1), ...keys.map(withLength), Buffer.of(1, KEYS)]);
    const checks = Array.from({ length: CHECKS }, (_, n) => [
      check,
      n < CHECKS - 1 ? Buffer.of(CHECKMULTISIGVERIFY) : Buffer.of(CHECKMULTISIG, NOT),
    ]);
    this.script = Buffer.concat(checks.flat());
    this.outputScript = Buffer.concat([Buffer.of(0, 32), sha256(this.script)]);
  }

  /**
   * Spends such outputs. A dummy signature of the last check that should be empty is invalid, which only the policy refuses.
   */
  spend(
    coins: readonly { readonly txid: Buffer; readonly index: number; readonly valueSat: bigint }[],
  ): Buffer {
    const inputs = coins.map(({ txid, index }): Input => ({ txid, index, script: Buffer.alloc(0) }));
    const stripped = transaction(inputs, [{ valueSat: 1_000_000n }]);
    const witnesses = coins.map(({ txid, index, valueSat }, n) => {
      const message = Buffer.concat([
        u32(2),
        NO_HASH,
        NO_HASH,
        txid,
        u32(index),
        withLength(this.script),
        u64(valueSat),
        u32(SEQUENCE),
        NO_HASH,
        u32(0),
        u32(HASH_TYPE),
      ]);
      const right = signLow(message, this.secret);
      const last = n < coins.length - 1 ? Buffer.alloc(0) : signLow(randomBytes(32), this.secret);
      const signatures = [last, ...Array.from({ length: CHECKS - 1 }, () => right)];
      // One more item for each check, because the reference removes one too many from the stack.
      const items = signatures.flatMap((signature) => [Buffer.alloc(0), signature]);
      return list([...items, this.script].map(withLength));
    });
    return Buffer.concat([
      stripped.subarray(0, 4),
      Buffer.of(0, 1),
      stripped.subarray(4, -4),
      ...witnesses,
      u32(0),
    ]);
  }
}

/** An invalid transaction with this number of one-byte items in its witness. */
export function longWitness(items: number): Buffer {
  const stripped = transaction([{ txid: Buffer.alloc(32, 7) }], [{ valueSat: 1n }]);
  const head = [stripped.subarray(0, 4), Buffer.of(0, 1), stripped.subarray(4, -4)];
  return Buffer.concat([...head, count(items), Buffer.alloc(2 * items, 1), u32(0)]);
}

/** The same with this number of the smallest outputs. */
export function manyOutputs(outputs: number): Buffer {
  const smallest: Output = { valueSat: 0n, script: Buffer.alloc(0) };
  return transaction([{ txid: Buffer.alloc(32, 7) }], Array<Output>(outputs).fill(smallest));
}
