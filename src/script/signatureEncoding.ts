/**
 * Checks the encoding of signatures and public keys as the flags require, before any curve arithmetic. Source: Core
 * interpreter.cpp `IsValidSignatureEncoding`, `CheckSignatureEncoding`, `CheckPubKeyEncoding`.
 */
import { COMPRESSED_KEY_SIZE, isLowS, UNCOMPRESSED_KEY_SIZE } from '../crypto/ecdsaEncoding.js';
import type { Bytes } from '../util/bytes.js';
import { SCRIPT_VERIFY } from './flags.js';
import { SCRIPT_ERROR, type ScriptErrorCode } from './scriptError.js';
import { SIG_VERSION, SIGHASH, type SigVersion } from './sighash.js';

/** Minimum and maximum size in bytes of a strict DER signature with its hash type byte. */
const MIN_SIGNATURE_SIZE = 9;
const MAX_SIGNATURE_SIZE = 73;

/** Whether an integer of the signature (R or S) is positive and minimally encoded. */
function isMinimalInteger(signature: Bytes, at: number, length: number): boolean {
  if (length === 0 || signature[at]! & 0x80) return false;
  return !(length > 1 && signature[at] === 0 && !(signature[at + 1]! & 0x80));
}

/**
 * Whether the signature is strict DER followed by a hash type byte (BIP66): 30, length of the rest without the hash type,
 * 02, length, R, 02, length, S, hash type.
 */
export function isStrictDer(signature: Bytes): boolean {
  const size = signature.length;
  if (size < MIN_SIGNATURE_SIZE || size > MAX_SIGNATURE_SIZE) return false;
  if (signature[0] !== 0x30 || signature[1] !== size - 3) return false;
  const lengthR = signature[3]!;
  if (5 + lengthR >= size) return false;
  const lengthS = signature[5 + lengthR]!;
  if (lengthR + lengthS + 7 !== size) return false;
  if (signature[2] !== 0x02 || signature[4 + lengthR] !== 0x02) return false;
  return isMinimalInteger(signature, 4, lengthR) && isMinimalInteger(signature, 6 + lengthR, lengthS);
}

/** Whether the hash type byte is ALL, NONE or SINGLE, with or without ANYONECANPAY. */
function hasDefinedHashType(signature: Bytes): boolean {
  if (signature.length === 0) return false;
  const type = signature[signature.length - 1]! & ~SIGHASH.ANYONECANPAY;
  return type >= SIGHASH.ALL && type <= SIGHASH.SINGLE;
}

const DER_FLAGS = SCRIPT_VERIFY.DERSIG | SCRIPT_VERIFY.LOW_S | SCRIPT_VERIFY.STRICTENC;

/**
 * Checks the encoding of a signature. An empty signature always passes, because it is the shortest way to let a signature
 * check fail on purpose.
 */
export function checkSignatureEncoding(signature: Bytes, flags: number): ScriptErrorCode {
  if (signature.length === 0) return SCRIPT_ERROR.OK;
  if ((flags & DER_FLAGS) !== 0 && !isStrictDer(signature)) return SCRIPT_ERROR.SIG_DER;
  if ((flags & SCRIPT_VERIFY.LOW_S) !== 0 && !isLowS(signature.subarray(0, signature.length - 1))) {
    return SCRIPT_ERROR.SIG_HIGH_S;
  }
  if ((flags & SCRIPT_VERIFY.STRICTENC) !== 0 && !hasDefinedHashType(signature)) {
    return SCRIPT_ERROR.SIG_HASHTYPE;
  }
  return SCRIPT_ERROR.OK;
}

function isCompressedKey(publicKey: Bytes): boolean {
  return publicKey.length === COMPRESSED_KEY_SIZE && (publicKey[0] === 2 || publicKey[0] === 3);
}

function isUncompressedKey(publicKey: Bytes): boolean {
  return publicKey.length === UNCOMPRESSED_KEY_SIZE && publicKey[0] === 4;
}

export function checkPublicKeyEncoding(
  publicKey: Bytes,
  flags: number,
  version: SigVersion,
): ScriptErrorCode {
  const compressed = isCompressedKey(publicKey);
  if ((flags & SCRIPT_VERIFY.STRICTENC) !== 0 && !compressed && !isUncompressedKey(publicKey)) {
    return SCRIPT_ERROR.PUBKEYTYPE;
  }
  const compressedOnly =
    (flags & SCRIPT_VERIFY.WITNESS_PUBKEYTYPE) !== 0 && version === SIG_VERSION.WITNESS_V0;
  return compressedOnly && !compressed ? SCRIPT_ERROR.WITNESS_PUBKEYTYPE : SCRIPT_ERROR.OK;
}
