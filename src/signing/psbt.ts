/**
 * Partially signed transactions as data: what the parts know of one transaction that is being signed (BIP174).
 * Bytes are `psbtCodec.ts`, what can be done with one is `psbtRoles.ts`. Source: Core 0.17 script/sign.h
 * `PartiallySignedTransaction`, `PSBTInput`, `PSBTOutput`.
 */
import type { Transaction, TxOutput } from '../primitives/transaction.js';
import { EMPTY_BYTES, type Bytes } from '../util/bytes.js';
import type { KeySignature } from './signatureData.js';

/** Fingerprint of the master key (as a little-endian number of its four bytes), then the child numbers. */
export type KeyPath = readonly number[];

/** Keys and values that this version does not know, by key, a byte a character. They are passed on. */
export type UnknownFields = ReadonlyMap<string, Bytes>;

/** Scripts are empty if there is none. Maps are changed by way of `ownMap`. */
export interface PsbtInput {
  /** The whole transaction that is spent. */
  nonWitnessUtxo: Transaction | null;
  /** The spent output alone, where the signature covers its amount. */
  witnessUtxo: TxOutput | null;
  /** Signatures by key id (`keyIdOf`). */
  partialSignatures: ReadonlyMap<string, KeySignature>;
  /** Signed 32-bit; 0 and below: none given. */
  sighashType: number;
  redeemScript: Bytes;
  witnessScript: Bytes;
  /** Key paths by public key (latin1). */
  keyPaths: ReadonlyMap<string, KeyPath>;
  finalScriptSig: Bytes;
  finalScriptWitness: readonly Bytes[];
  unknown: UnknownFields;
}

export interface PsbtOutput {
  redeemScript: Bytes;
  witnessScript: Bytes;
  keyPaths: ReadonlyMap<string, KeyPath>;
  unknown: UnknownFields;
}

export interface Psbt {
  /** Transaction without scriptSigs and witnesses. */
  tx: Transaction;
  unknown: UnknownFields;
  /** One entry for each input; likewise the outputs. */
  inputs: PsbtInput[];
  outputs: PsbtOutput[];
}

/**
 * Most fields of one map. The reference knows no bound; here a map is rebuilt as a whole when it grows, and no PSBT that
 * means anything comes near.
 */
export const MAX_MAP_FIELDS = 500_000;

/** What all have that have nothing: most of them, and there may be a million inputs or outputs. */
export const NO_ENTRIES: ReadonlyMap<string, never> = new Map<string, never>();
const NO_ITEMS: readonly Bytes[] = [];

/** A map of a part, or of the whole, to be changed: from here on its own. */
export function ownMap<K extends string, P extends Record<K, ReadonlyMap<string, unknown>>>(
  part: P,
  name: K,
): Map<string, EntryOf<P[K]>> {
  if ((part[name] as unknown) === NO_ENTRIES)
    (part as Record<K, ReadonlyMap<string, unknown>>)[name] = new Map();
  return part[name] as unknown as Map<string, EntryOf<P[K]>>;
}

/** What is in a map. */
export type EntryOf<M> = M extends ReadonlyMap<string, infer V> ? V : never;

export function emptyPsbtInput(): PsbtInput {
  return {
    nonWitnessUtxo: null,
    witnessUtxo: null,
    partialSignatures: NO_ENTRIES,
    sighashType: 0,
    redeemScript: EMPTY_BYTES,
    witnessScript: EMPTY_BYTES,
    keyPaths: NO_ENTRIES,
    finalScriptSig: EMPTY_BYTES,
    finalScriptWitness: NO_ITEMS,
    unknown: NO_ENTRIES,
  };
}

export function emptyPsbtOutput(): PsbtOutput {
  return { redeemScript: EMPTY_BYTES, witnessScript: EMPTY_BYTES, keyPaths: NO_ENTRIES, unknown: NO_ENTRIES };
}

/** Whether the input needs nothing more. Source: `PSBTInputSigned`. */
export function isInputFinal(input: PsbtInput): boolean {
  return input.finalScriptSig.length > 0 || input.finalScriptWitness.length > 0;
}

/** At most one form of the spent output, and that with the amount for whatever is of a witness. Source: `IsSane`. */
export function isInputSane(input: PsbtInput): boolean {
  if (input.witnessUtxo !== null) return input.nonWitnessUtxo === null;
  return input.witnessScript.length === 0 && input.finalScriptWitness.length === 0;
}

export function isPsbtSane(psbt: Psbt): boolean {
  return psbt.inputs.every(isInputSane);
}
