/**
 * Creates single signatures: for an input of a transaction, or dummy signatures of the same size for estimates. Signatures
 * are deterministic (RFC 6979) and have a low R, so equal data gives equal bytes. Source: Core 0.17 script/sign.cpp
 * `MutableTransactionSignatureCreator`, `DummySignatureCreator`.
 */
import { ecdsaBackend, signHash } from '../crypto/ecdsa.js';
import { COMPRESSED_KEY_SIZE } from '../crypto/ecdsaEncoding.js';
import type { Transaction } from '../primitives/transaction.js';
import { TransactionChecker, type SignatureChecker } from '../script/checker.js';
import {
  PrecomputedSighash,
  SIG_VERSION,
  SIGHASH,
  signatureHash,
  type SigVersion,
} from '../script/sighash.js';
import { concatBytes, type Bytes } from '../util/bytes.js';
import type { SigningProvider } from './signingProvider.js';

export interface SignatureCreator {
  /** Checks signatures of the input, so that the created data can be verified against the output. */
  readonly checker: SignatureChecker;
  /** Creates a signature (DER, then the hash type byte). Null if the provider does not have the private key. */
  createSignature(
    provider: SigningProvider,
    keyId: Bytes,
    scriptCode: Bytes,
    version: SigVersion,
  ): Bytes | null;
}

/**
 * Creates signatures for one input. The transaction must not change while the signer is used, except for scriptSigs and
 * witnesses.
 */
export class InputSigner implements SignatureCreator {
  readonly checker: SignatureChecker;
  private readonly tx: Transaction;
  private readonly inputIndex: number;
  private readonly amount: bigint;
  private readonly hashType: number;
  private readonly shared: PrecomputedSighash;

  /** `amount`: amount of the spent output. All inputs of a transaction may share one `PrecomputedSighash`. */
  constructor(
    tx: Transaction,
    inputIndex: number,
    amount: bigint,
    hashType: number = SIGHASH.ALL,
    shared: PrecomputedSighash = new PrecomputedSighash(tx),
  ) {
    this.tx = tx;
    this.inputIndex = inputIndex;
    this.amount = amount;
    this.hashType = hashType;
    this.shared = shared;
    this.checker = new TransactionChecker(tx, inputIndex, amount, shared, ecdsaBackend());
  }

  createSignature(
    provider: SigningProvider,
    keyId: Bytes,
    scriptCode: Bytes,
    version: SigVersion,
  ): Bytes | null {
    const key = provider.signingKey(keyId);
    if (key === null) return null;
    if (version === SIG_VERSION.WITNESS_V0 && key.publicKey.length !== COMPRESSED_KEY_SIZE) return null;
    const hash = signatureHash(
      scriptCode,
      this.tx,
      this.inputIndex,
      this.hashType,
      this.amount,
      version,
      this.shared,
    );
    return concatBytes(signHash(hash, key.privateKey, true, ecdsaBackend()), Buffer.of(this.hashType));
  }
}

const ACCEPT_ALL: SignatureChecker = {
  checkSignature: () => true,
  checkLockTime: () => false,
  checkSequence: () => false,
};

/** A dummy signature in strict DER. `rLength` and `sLength` are the lengths of R and S. */
function dummySignature(rLength: number, sLength: number): Bytes {
  const signature = Buffer.alloc(rLength + sLength + 7);
  signature[0] = 0x30;
  signature[1] = rLength + sLength + 4;
  signature[2] = 0x02;
  signature[3] = rLength;
  signature[4] = 0x01;
  signature[4 + rLength] = 0x02;
  signature[5 + rLength] = sLength;
  signature[6 + rLength] = 0x01;
  signature[6 + rLength + sLength] = SIGHASH.ALL;
  return signature;
}

function dummyCreator(rLength: number): SignatureCreator {
  return { checker: ACCEPT_ALL, createSignature: () => dummySignature(rLength, 32) };
}

/** Creates dummy signatures of 71 bytes for every key. Used to estimate the size of an input. */
export const DUMMY_CREATOR: SignatureCreator = dummyCreator(32);
/** Creates dummy signatures of 72 bytes. Used to estimate the maximum size of an input that others sign. */
export const DUMMY_MAXIMUM_CREATOR: SignatureCreator = dummyCreator(33);
