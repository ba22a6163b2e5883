/**
 * Checks that a script makes against the spending transaction: signatures, lock time, sequence. `signatureEncoding.ts`
 * checks the encoding of signatures and keys before. Source: Core interpreter.cpp `GenericTransactionSignatureChecker`,
 * `BaseSignatureChecker`.
 */
import { ecdsaBackend, type SignatureVerifier } from '../crypto/ecdsa.js';
import { hasPublicKeySize } from '../crypto/ecdsaEncoding.js';
import { SEQUENCE_FINAL, type Transaction } from '../primitives/transaction.js';
import { EMPTY_BYTES, type Bytes } from '../util/bytes.js';
import { LOCKTIME_THRESHOLD } from './script.js';
import { PrecomputedSighash, signatureHash, type SigVersion } from './sighash.js';

/** Bit of a sequence number that disables its use as relative lock time (BIP68). */
const SEQUENCE_LOCKTIME_DISABLE_FLAG = 0x80000000;
/** Bit of a sequence number: the relative lock time is in units of 512 seconds, not in blocks (BIP68). */
const SEQUENCE_LOCKTIME_TYPE_FLAG = 0x00400000;
const SEQUENCE_LOCKTIME_MASK = 0x0000ffff;

export interface SignatureChecker {
  /**
   * Whether a signature is valid. The last byte of `signature` is its hash type. Returns false for an empty signature or a
   * key of unknown form.
   */
  checkSignature(signature: Bytes, publicKey: Bytes, scriptCode: Bytes, version: SigVersion): boolean;
  /** Whether OP_CHECKLOCKTIMEVERIFY succeeds (BIP65). `lockTime` is in the range 0 to 2^39 − 1. */
  checkLockTime(lockTime: number): boolean;
  /**
   * Whether OP_CHECKSEQUENCEVERIFY succeeds (BIP112). `sequence` is in the range 0 to 2^39 − 1 and does not have the disable
   * flag.
   */
  checkSequence(sequence: number): boolean;
}

/** Whether the operand of OP_CHECKSEQUENCEVERIFY disables the check. The operand may exceed 32 bits. */
export function isSequenceCheckDisabled(sequence: number): boolean {
  return (sequence & SEQUENCE_LOCKTIME_DISABLE_FLAG) !== 0;
}

/** Checker for scripts that run without a transaction: all signatures and lock times fail. */
export const NO_TRANSACTION: SignatureChecker = {
  checkSignature: () => false,
  checkLockTime: () => false,
  checkSequence: () => false,
};

export class TransactionChecker implements SignatureChecker {
  private readonly tx: Transaction;
  private readonly inputIndex: number;
  private readonly amount: bigint;
  private readonly shared: PrecomputedSighash;
  private readonly verifier: SignatureVerifier;

  /** Cache of the last signature hash that was computed. A multisig script needs the same hash for each key. */
  private lastHash: Bytes = EMPTY_BYTES;
  private lastScriptCode: Bytes | null = null;
  private lastHashType = 0;
  private lastVersion: SigVersion = 0;

  /**
   * Creates the checker for one input. `amount` is the amount of the spent output. All inputs of a transaction should share
   * one `PrecomputedSighash`.
   */
  constructor(
    tx: Transaction,
    inputIndex: number,
    amount: bigint,
    precomputed: PrecomputedSighash = new PrecomputedSighash(tx),
    ecdsa: SignatureVerifier = ecdsaBackend(),
  ) {
    this.tx = tx;
    this.inputIndex = inputIndex;
    this.amount = amount;
    this.shared = precomputed;
    this.verifier = ecdsa;
  }

  checkSignature(signature: Bytes, publicKey: Bytes, scriptCode: Bytes, version: SigVersion): boolean {
    if (!hasPublicKeySize(publicKey) || signature.length === 0) return false;
    const last = signature.length - 1;
    const hash = this.signatureHash(scriptCode, signature[last]!, version);
    return this.verifier.verify(hash, signature.subarray(0, last), publicKey);
  }

  checkLockTime(lockTime: number): boolean {
    const txLockTime = this.tx.lockTime;
    if (txLockTime < LOCKTIME_THRESHOLD !== lockTime < LOCKTIME_THRESHOLD) return false;
    if (lockTime > txLockTime) return false;
    // OP_CHECKLOCKTIMEVERIFY fails for an input with a final sequence number, which disables the transaction's lock time.
    return this.tx.inputs[this.inputIndex]!.sequence !== SEQUENCE_FINAL;
  }

  checkSequence(sequence: number): boolean {
    const txSequence = this.tx.inputs[this.inputIndex]!.sequence;
    // The version is compared as an unsigned number, so that a negative version counts as large.
    if (this.tx.version >>> 0 < 2) return false;
    if (isSequenceCheckDisabled(txSequence)) return false;
    const mask = SEQUENCE_LOCKTIME_TYPE_FLAG | SEQUENCE_LOCKTIME_MASK;
    const wanted = sequence & mask;
    const given = txSequence & mask;
    const sameUnit = wanted < SEQUENCE_LOCKTIME_TYPE_FLAG === given < SEQUENCE_LOCKTIME_TYPE_FLAG;
    return sameUnit && wanted <= given;
  }

  private signatureHash(scriptCode: Bytes, hashType: number, version: SigVersion): Bytes {
    if (
      scriptCode !== this.lastScriptCode ||
      hashType !== this.lastHashType ||
      version !== this.lastVersion
    ) {
      this.lastHash = signatureHash(
        scriptCode,
        this.tx,
        this.inputIndex,
        hashType,
        this.amount,
        version,
        this.shared,
      );
      this.lastScriptCode = scriptCode;
      this.lastHashType = hashType;
      this.lastVersion = version;
    }
    return this.lastHash;
  }
}
