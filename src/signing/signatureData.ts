/**
 * Data for satisfying one output: signatures and scripts found so far, and the scriptSig and witness created from them.
 * Source: Core 0.17 script/sign.h `SignatureData`.
 */
import { hasPublicKeySize } from '../crypto/ecdsaEncoding.js';
import { hash160 } from '../crypto/hash.js';
import { EMPTY_BYTES, toLatin1, type Bytes } from '../util/bytes.js';
import { sortedInSlices, type Slices } from '../util/slices.js';

/** A signature (DER and its hash type byte) and its public key. */
export interface KeySignature {
  readonly publicKey: Bytes;
  readonly signature: Bytes;
}

export interface SignatureData {
  /** Whether scriptSig and witness satisfy the script of the output. */
  complete: boolean;
  /** Whether a witness was created. Witness signatures cover the amount. */
  witness: boolean;
  scriptSig: Bytes;
  scriptWitness: Bytes[];
  /** Redeem script and witness script; empty if the output does not need them or they are unknown. */
  redeemScript: Bytes;
  witnessScript: Bytes;
  /** Signatures by key id (`keyIdOf`). */
  signatures: Map<string, KeySignature>;
  /** All public keys that were found, by key id (HASH160). */
  publicKeys: Map<string, Bytes>;
}

export function emptySignatureData(): SignatureData {
  return {
    complete: false,
    witness: false,
    scriptSig: EMPTY_BYTES,
    scriptWitness: [],
    redeemScript: EMPTY_BYTES,
    witnessScript: EMPTY_BYTES,
    signatures: new Map(),
    publicKeys: new Map(),
  };
}

/**
 * Returns the bytes if their length matches the length that their first byte implies; otherwise an empty key. Source:
 * `CPubKey::Set`.
 */
export function asPublicKey(bytes: Bytes): Bytes {
  return hasPublicKeySize(bytes) ? bytes : EMPTY_BYTES;
}

/** Key id for maps: HASH160 of the public key as latin1. The strings sort in the order of the bytes. */
export function keyIdOf(publicKey: Bytes): string {
  return toLatin1(hash160(publicKey));
}

/** Inserts those entries of `from` whose keys are not in `into`. */
export function insertAll<V>(into: Map<string, V>, from: ReadonlyMap<string, V>): void {
  for (const [key, value] of from) if (!into.has(key)) into.set(key, value);
}

/** The entries of a map, sorted by the bytes of their keys. */
export function* sortedEntriesInSlices<V>(map: ReadonlyMap<string, V>): Slices<[string, V][]> {
  const entries: [string, V][] = [];
  for (const entry of map) {
    if (entries.push(entry) % 1024 === 0) yield;
  }
  return entries.length < 2 ? entries : yield* sortedInSlices(entries, compareEntries);
}

function compareEntries([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Adds the data of `other` to `into`. If `other` is complete, it replaces the data of `into`. Source: `MergeSignatureData`. */
export function combineSignatures(into: SignatureData, other: SignatureData): void {
  if (into.complete) return;
  if (other.complete) {
    Object.assign(into, other);
    return;
  }
  if (into.redeemScript.length === 0) into.redeemScript = other.redeemScript;
  if (into.witnessScript.length === 0) into.witnessScript = other.witnessScript;
  insertAll(into.signatures, other.signatures);
}
